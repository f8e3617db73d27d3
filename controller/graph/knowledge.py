"""The controller's knowledge of a repository: graphs of trees, kept by tree, made from facts kept by blob."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path

from controller.graph.cache import FactsCache
from controller.graph.facts import NOTHING, VERSION, FileFacts
from controller.graph.language import facts, kind_of, version
from controller.graph.link import Linker
from controller.graph.model import Graph, delta
from controller.graph.territory import Territory
from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import ExecutionPacket, GraphExcerpt
from packets.plan import Module, Plan
from packets.problem import NameProblem
from packets.refresh import Looked
from sandbox.git import Git

_TREES = 6
_BLOBS = 60_000
_MODES = ("100644", "100755")


class Knowledge:
    """Graphs of one repository. `cache` is a file that may vanish or break at any time. Safe for threads."""

    def __init__(self, git: Git, cache: Path) -> None:
        self.git = git
        self._cache = FactsCache(cache)
        self._lock = threading.RLock()
        self._blobs: dict[tuple[str, str], FileFacts] = {}
        self._trees: OrderedDict[str, tuple[Linker, Graph]] = OrderedDict()

    def graph(self, tree: str) -> Graph:
        """Return the graph of a tree."""
        return self._both(tree)[1]

    def linker(self, tree: str) -> Linker:
        """Return what resolves names in a tree. Not for several threads at once."""
        return self._both(tree)[0]

    def compare(
        self, plan: Plan, packet: ExecutionPacket, base_tree: str, head_tree: str, claimed: GraphDelta
    ) -> GraphReport:
        """Set expected and claimed deltas of one module beside what the two trees show."""
        from controller.graph.compare import compare
        from controller.graph.texts import Texts

        texts = Texts(self.git, base_tree, head_tree)
        with self._lock:  # resolving a name notes what it found on the way
            base, head = self._both(base_tree), self._both(head_tree)
            return compare(Territory(plan), packet, base=base, head=head, claimed=claimed, texts=texts)

    def excerpt(self, tree: str, plan: Plan, module: Module) -> GraphExcerpt:
        """Return what a worker on this module should know of the code around it, within the plan's `packet_tokens`."""
        from controller.graph.excerpt import excerpt
        from controller.graph.excerpts.sources import Sources
        from controller.graph.names import Names

        with self._lock:
            linker, graph = self._both(tree)
            names = Names(graph, linker, Territory(plan))
            return excerpt(names, Sources(self.git, tree), module, plan.packet_tokens)

    def name_problems(self, tree: str, plan: Plan) -> Sequence[NameProblem]:
        """Return what is wrong with the names in the plan's graph expectations, in plan order."""
        from controller.graph.expectations import name_problems

        with self._lock:
            linker, graph = self._both(tree)
            return name_problems(graph, linker, Territory(plan))

    def refresh(self, tree_before: str, tree_after: str, no_cache: bool = False) -> tuple[int, int, GraphDelta]:  # noqa: FBT001, FBT002
        """Return files of the tree, files parsed anew for it, and what changed in the graph since `tree_before`."""
        with self._lock:
            before = self.graph(tree_before)
            paths, parsed = self._facts(tree_after, no_cache=no_cache)
            if no_cache or tree_after not in self._trees:
                self._remember(tree_after, Linker(paths))
            return len(paths), parsed, delta(before, self.graph(tree_after))

    def bring(self, tree_before: str, tree_after: str, *, no_cache: bool, anew: bool) -> tuple[Looked, GraphDelta]:
        """Bring the graph to a tree, from the ground up where `anew`, and say how much work that was."""
        with self._lock:
            before, known = self.graph(tree_before), tree_after in self._trees
            paths, parsed = self._facts(tree_after, no_cache=no_cache)
            if no_cache or anew or not known:
                self._remember(tree_after, Linker(paths))
            read = sum(kind_of(path) != "file" for path in paths)
            looked = Looked(
                files=len(paths), parsed=parsed, known=read - parsed, opaque=len(paths) - read,
                relinked=0 if known and not (no_cache or anew) else read,
            )  # fmt: skip
            return looked, delta(before, self.graph(tree_after))

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

    def markers(self, tree: str, plan: Plan, module_ids: Iterable[str]) -> frozenset[str]:
        """Return which markers of these modules stand as written in the sources of their scopes; tests do not count."""
        from controller.graph.drift import markers_of
        from controller.graph.excerpt import is_test

        territory, found = Territory(plan), set()
        entries = {readable(path): entry for path, entry in self.git.entries(tree).items()}
        for name in module_ids:
            wanted = set(markers_of(plan.module(name)))
            paths = [path for path in territory.files(name, entries) if not is_test(path)] if wanted else []
            blobs = sorted({entries[path].blob for path in paths if entries[path].mode in _MODES})
            for _, data in self.git.blobs(blobs):
                found |= {marker for marker in wanted if marker.encode() in data}
        return frozenset(found)

    def touched_dependents(self, plan: Plan, tree: str, module_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the plan's modules, besides these, whose files depend directly on files of these."""
        from controller.graph.compare import dependencies

        territory, touched, found = Territory(plan), frozenset(module_ids), set()
        for edge, source, target in dependencies(self.graph(tree)):
            if source != target and edge.resolved:
                owners = {name for name in territory.owners(source) if name in territory.planned}
                if owners - touched and touched.intersection(territory.owners(target)):
                    found |= owners - touched
        return tuple(name for name in territory.planned if name in found)

    def _both(self, tree: str) -> tuple[Linker, Graph]:
        with self._lock:
            if tree not in self._trees:
                self._remember(tree, Linker(self._facts(tree)[0]))
            self._trees.move_to_end(tree)
            return self._trees[tree]

    def _remember(self, tree: str, linker: Linker) -> None:
        self._trees[tree] = (linker, linker.graph())
        self._trees.move_to_end(tree)
        while len(self._trees) > _TREES:
            self._trees.popitem(last=False)

    def _facts(self, tree: str, *, no_cache: bool = False) -> tuple[dict[str, FileFacts], int]:
        """Return the facts of every path, and how many blobs were parsed now."""
        entries = {readable(path): entry for path, entry in self.git.entries(tree).items()}
        sources = {
            path: (kind_of(path), entry.blob)
            for path, entry in sorted(entries.items())
            if entry.mode in _MODES and kind_of(path) != "file"
        }
        if len(self._blobs) > _BLOBS:
            self._blobs.clear()
        fresh: dict[str, FileFacts] = {}
        for kind in sorted({kind for kind, _ in sources.values()}):
            fresh |= self._of_kind(kind, {blob for each, blob in sources.values() if each == kind}, no_cache=no_cache)
        known = {path: self._blobs[key] for path, key in sources.items() if key in self._blobs}
        return {path: known.get(path, NOTHING) for path in sorted(entries)}, len(fresh)

    def _of_kind(self, kind: str, blobs: set[str], *, no_cache: bool) -> dict[str, FileFacts]:
        """Know the facts of blobs of one kind, and return those that were read now."""
        wanted = {blob for blob in blobs if no_cache or (kind, blob) not in self._blobs}
        name = f"{VERSION}-{version(kind)}"
        if not no_cache:
            self._blobs.update({(kind, blob): each for blob, each in self._cache.get(sorted(wanted), name).items()})
        missing = {blob for blob in wanted if no_cache or (kind, blob) not in self._blobs}
        fresh = {blob: facts(kind, data) for blob, data in self.git.blobs(sorted(missing))}
        self._cache.put(fresh, name)
        self._blobs.update({(kind, blob): each for blob, each in fresh.items()})
        return fresh


def readable(path: str) -> str:
    """Write a path whose bytes are no UTF-8 so that it can stand in text; other paths stay as they are."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
