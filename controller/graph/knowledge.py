"""The controller's knowledge of a repository: graphs of trees, kept by tree, made from facts kept by blob."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from controller.graph.cache import Cache
from controller.graph.link import Linker
from controller.graph.model import Graph, delta
from controller.graph.store.graph import StoredGraph
from controller.graph.store.stored import StoredLinker, StoredWorld
from controller.graph.store.trees import Effort, Trees, readable

if TYPE_CHECKING:
    from packets.deltas import GraphDelta
    from packets.graph import GraphReport
    from packets.packet import ExecutionPacket, GraphExcerpt
    from packets.plan import Module, Plan
    from packets.problem import NameProblem
    from packets.refresh import Looked
    from sandbox.git import Git

__all__ = ["Knowledge", "readable"]

_TREES = 6
_MODES = ("100644", "100755")


class Knowledge:
    """Graphs of one repository. `cache` is a file that may vanish or break at any time. Safe for threads."""

    def __init__(self, git: "Git", cache: Path) -> None:
        self.git = git
        self._lock = threading.RLock()
        self._trees = Trees(git, Cache(cache))
        self._views: OrderedDict[str, tuple[StoredWorld, Linker, Graph]] = OrderedDict()

    def graph(self, tree: str) -> Graph:
        """Return the graph of a tree."""
        return self._both(tree)[1]

    def linker(self, tree: str) -> Linker:
        """Return what resolves names in a tree. Not for several threads at once."""
        return self._both(tree)[0]

    def compare(
        self, plan: "Plan", packet: "ExecutionPacket", base_tree: str, head_tree: str, claimed: "GraphDelta"
    ) -> "GraphReport":
        """Set expected and claimed deltas of one module beside what the two trees show."""
        from controller.graph.compare import compare
        from controller.graph.territory import Territory
        from controller.graph.texts import Texts

        texts = Texts(self.git, base_tree, head_tree)
        with self._lock:  # resolving a name notes what it found on the way
            base, head = self._both(base_tree), self._both(head_tree)
            return compare(Territory(plan), packet, base=base, head=head, claimed=claimed, texts=texts)

    def excerpt(self, tree: str, plan: "Plan", module: "Module") -> "GraphExcerpt":
        """Return what a worker on this module should know of the code around it, within the plan's `packet_tokens`."""
        from controller.graph.excerpt import excerpt
        from controller.graph.excerpts.sources import Sources
        from controller.graph.names import Names
        from controller.graph.territory import Territory

        with self._lock:
            linker, graph = self._both(tree)
            names = Names(graph, linker, Territory(plan))
            return excerpt(names, Sources(self.git, tree), module, plan.packet_tokens)

    def name_problems(self, tree: str, plan: "Plan") -> "Sequence[NameProblem]":
        """Return what is wrong with the names in the plan's graph expectations, in plan order."""
        from controller.graph.expectations import name_problems
        from controller.graph.territory import Territory

        with self._lock:
            linker, graph = self._both(tree)
            return name_problems(graph, linker, Territory(plan))

    def refresh(self, tree_before: str, tree_after: str, no_cache: bool = False) -> "tuple[int, int, GraphDelta]":  # noqa: FBT001, FBT002
        """Return files of the tree, files parsed anew for it, and what changed in the graph since `tree_before`."""
        with self._lock:
            before = self.graph(tree_before)
            effort = self._brought(tree_after, no_cache=no_cache, anew=no_cache)
            after = self.graph(tree_after)
            return len(after.by_path), effort.parsed, delta(before, after)

    def delta(self, tree_before: str, tree_after: str) -> "GraphDelta":
        """Return what changed in the graph from one tree to another; only where they differ is anything read."""
        with self._lock:
            return delta(self.graph(tree_before), self.graph(tree_after))

    def bring(self, tree_before: str, tree_after: str, *, no_cache: bool, anew: bool) -> "tuple[Looked, GraphDelta]":
        """Bring the graph to a tree, from the ground up where `anew`, and say how much work that was."""
        from packets.refresh import Looked

        with self._lock:
            before = self.graph(tree_before)
            effort = self._brought(tree_after, no_cache=no_cache, anew=no_cache or anew)
            after = self.graph(tree_after)
            total = len(after.by_path)
            read = sum(
                self._views[tree_after][0].state.families[each].count for each in self.linker(tree_after).families
            )
            looked = Looked(
                files=total, parsed=effort.parsed, known=read - effort.parsed, opaque=total - read,
                relinked=effort.linked,
            )  # fmt: skip
            return looked, delta(before, after)

    def broken(
        self, tree_before: str, tree_after: str, paths: Iterable[str]
    ) -> dict[str, tuple[tuple[int, str, str], ...]]:
        """Return by file where a name leads nowhere any more, the name as written, and what it led to.

        For files whose content is the same in both trees: their lines are.
        """
        from controller.graph.drift import broken

        with self._lock:
            before, after = self._both(tree_before), self._both(tree_after)
            found = {path: broken(before[0], after[0], path) for path in paths if path in after[0].facts}
        return {path: places for path, places in found.items() if places}

    def markers(self, tree: str, plan: "Plan", module_ids: Iterable[str]) -> frozenset[str]:
        """Return which markers of these modules stand as written in the sources of their scopes; tests do not count."""
        from controller.graph.drift import markers_of
        from controller.graph.excerpt import is_test
        from controller.graph.territory import Territory

        territory, found = Territory(plan), set()
        entries = {readable(path): entry for path, entry in self.git.entries(tree).items()}
        for name in module_ids:
            wanted = set(markers_of(plan.module(name)))
            paths = [path for path in territory.files(name, entries) if not is_test(path)] if wanted else []
            blobs = sorted({entries[path].blob for path in paths if entries[path].mode in _MODES})
            for _, data in self.git.blobs(blobs):
                found |= {marker for marker in wanted if marker.encode() in data}
        return frozenset(found)

    def _both(self, tree: str) -> tuple[Linker, Graph]:
        with self._lock:
            if tree not in self._views:
                self._remember(tree, self._trees.world(tree)[0])
            self._views.move_to_end(tree)
            return self._views[tree][1:]

    def _brought(self, tree: str, *, no_cache: bool, anew: bool) -> Effort:
        """Know a tree, from the ground up where `anew`, and return what that took."""
        if anew:
            world, effort = self._trees.anew(tree, no_cache=no_cache)
        elif tree in self._views:
            return Effort(0, 0)
        else:
            world, effort = self._trees.world(tree)
        self._remember(tree, world)
        return effort

    def _remember(self, tree: str, world: StoredWorld) -> None:
        self._views[tree] = (world, StoredLinker(world), StoredGraph(world))
        self._views.move_to_end(tree)
        while len(self._views) > _TREES:
            self._views.popitem(last=False)
