"""The files around a module: what they use, and how much they are like the module's own.

Nothing here reads the whole graph: a file's edges are asked for, and only of files that some step leads to.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import takewhile

from controller.graph.language import family_of
from controller.graph.model import Graph
from packets.graph import Edge, EdgeKind

_NEIGHBOURS = 48
_SIBLINGS = 60
_USERS = 200
_READ = 120
"""Files that are read to know how much they are like the module's own."""

_ASKED = 60
"""A symbol with more users than this says nothing about who is alike."""


class Near:
    """The neighbourhood of a module whose files are `ours`; `born` are all its paths, those to come among them."""

    def __init__(self, graph: Graph, ours: Iterable[str], folders: Iterable[str], extra: Iterable[str] = ()) -> None:
        self.graph = graph
        self.ours = frozenset(ours)
        self.folders = frozenset(folders)
        self.extra = tuple(extra)
        self._uses: dict[str, Counter[str]] = {}

    def edges(self, path: str) -> Iterable[Edge]:
        """Yield the resolved dependencies of a file."""
        for edge in self.graph.edges_of(path):
            if edge.resolved and edge.kind is not EdgeKind.DEFINES:
                yield edge

    def uses(self, path: str) -> Counter[str]:
        """Return the symbols and files outside of a file that it uses, and how often."""
        if path not in self._uses:
            counted: Counter[str] = Counter()
            for edge in self.edges(path):
                if not edge.target.startswith("ext:") and not self._inside(edge.target, path):
                    counted[edge.target] += 1
            self._uses[path] = counted
        return self._uses[path]

    @staticmethod
    def _inside(target: str, path: str) -> bool:
        return target == path or target.startswith(f"{path}::")

    @cached_property
    def used(self) -> Counter[str]:
        """What the module's files use of others."""
        total: Counter[str] = Counter()
        for path in sorted(self.ours):
            total.update({t: n for t, n in self.uses(path).items() if self.graph.path_of(t) not in self.ours})
        return total

    @cached_property
    def used_files(self) -> Counter[str]:
        """The files that the module uses, by the symbols of each that it uses."""
        return Counter(self.graph.path_of(target) for target in self.used)

    @cached_property
    def users(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges that lead from other files into the module's, by file; of a hub's thousands the nearest ones."""
        nodes = [node.id for path in sorted(self.ours) for node in self.graph.by_path.get(path, ())]
        homes = {home for node in nodes for home in self.graph.users_of(node)} - self.ours
        nearest = sorted(homes, key=lambda path: (-self._shared_folders(path), path))[:_USERS]
        found = {}
        for home in nearest:
            edges = tuple(edge for edge in self.edges(home) if self.graph.path_of(edge.target) in self.ours)
            if edges:
                found[home] = edges
        return found

    def _shared_folders(self, path: str) -> int:
        """Return how many folders a path has in common with one of the module's, at best."""
        return max((_common(path, folder) for folder in self.folders), default=0)

    @cached_property
    def siblings(self) -> tuple[str, ...]:
        """Files of the same folders that some language reads."""
        found = [p for p in self.graph.by_path if p.rpartition("/")[0] in self.folders and p not in self.ours]
        return tuple([p for p in found if family_of(p)][:_SIBLINGS])

    @cached_property
    def alike(self) -> dict[str, float]:
        """Other files with how much they are like the module's own, the most alike first: 0 to about 2."""
        score: dict[str, float] = {}
        rare = 0.0
        for target in sorted(self.used):
            homes = self.graph.users_of(target)
            weight = 1 / math.log2(2 + len(homes))
            rare += weight
            if len(homes) <= _ASKED:
                for home in self._others(homes):
                    score[home] = score.get(home, 0.0) + weight
        most = sorted(score, key=lambda path: (-score[path], path))[:_READ]
        score = {path: score[path] / math.sqrt(rare * (4 + len(self.uses(path)))) for path in most}
        for group, bonus in ((self.siblings, 0.15), (self.users, 0.2), (self.used_files, 0.2), (self.extra, 0.3)):
            for path in group:
                score[path] = score.get(path, 0.0) + bonus
        best = sorted(score, key=lambda path: (-score[path], path))
        return {path: score[path] for path in best[:_NEIGHBOURS]}

    def _others(self, paths: Iterable[str]) -> Iterable[str]:
        return (path for path in paths if path not in self.ours)

    @cached_property
    def shared(self) -> dict[str, float]:
        """What the files around use, weighed by how much each of them is like the module's own."""
        found: dict[str, float] = {}
        for path, weight in self.alike.items():
            for target in self.uses(path):
                if self.graph.path_of(target) not in self.ours:
                    found[target] = found.get(target, 0.0) + weight
        return found


def _common(path: str, folder: str) -> int:
    """Return how many folders two paths begin with alike."""
    pairs = zip(path.split("/")[:-1], folder.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
