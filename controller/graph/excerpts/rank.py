"""Which symbols around a module it will most likely need: a score from what is near it and what its plan entry says."""

import math
from collections.abc import Iterable, Iterator
from functools import cached_property

from controller.graph.excerpts.named import Named, parts
from controller.graph.excerpts.near import Near
from controller.graph.model import Graph
from packets.graph import Node, NodeKind

_HIDDEN = ("private ", "#", "static private ")
_USERS = 40
_SHARED = 500
_BY_STEM = 40
"""At most so many users, symbols that files around use, and files with a word of the plan entry in their name."""


def is_test(path: str) -> bool:
    """Tell test files from sources by their name and folder."""
    name = path.rpartition("/")[2]
    return name.startswith("test_") or "/tests/" in f"/{path}" or name in ("conftest.py", "tests.py")


def leaf_of(node: Node) -> str:
    """Return the last part of a symbol's name."""
    return node.name.rpartition(".")[2]


def is_public(node: Node) -> bool:
    """Tell whether others may use a symbol by what its name and signature look like; a constructor counts."""
    if node.kind is NodeKind.FILE or node.signature.startswith(_HIDDEN):
        return False
    return not any(name.startswith(("_", "#")) and name != "__init__" for name in node.name.split("."))


class Rank:
    """Scores the symbols of the files around; what is not around is not looked at."""

    def __init__(self, graph: Graph, near: Near, named: Named) -> None:
        self.graph = graph
        self.near = near
        self.named = named
        self._files: dict[str, float] = {}
        self._tests = any(is_test(path) for path in near.ours)

    def candidates(self) -> list[Node]:
        """Return every symbol that may be shown, the best first; equals in order of their place."""
        scored = [
            (self.score(node), node)
            for path in self.around
            if path not in self.near.ours
            for node in self.graph.by_path.get(path, ())
            if self._may_be_shown(node)
        ]
        scored.sort(key=lambda each: (-each[0], each[1].path, each[1].line, each[1].id))
        return [node for _, node in scored]

    @cached_property
    def around(self) -> tuple[str, ...]:
        """The files whose symbols are scored, each once."""
        near = self.near
        most = sorted(near.shared, key=lambda target: (-near.shared[target], target))[:_SHARED]
        groups: tuple[Iterable[str], ...] = (
            self.named.paths, near.used_files, list(near.users)[:_USERS], near.siblings, near.alike,
            map(self.graph.path_of, most), self.named.homes, self._by_stem(),
        )  # fmt: skip
        return tuple(dict.fromkeys(path for group in groups for path in group if path))

    def score(self, node: Node) -> float:
        """Return how likely a symbol is needed; only the order of scores means something."""
        near, leaf = self.near, leaf_of(node)
        owner = node.id.rpartition(".")[0] if "." in node.name else ""
        score = self.file(node.path) + self._said(leaf)
        score += 1.5 * math.log1p(4 * near.shared.get(node.id, 0.0))
        score += 0.8 * (node.id in near.used) + 0.6 * (owner in near.used)
        score += 0.3 * math.log1p(4 * near.shared.get(owner, 0.0)) if owner else 0.0
        score -= 1.2 * (leaf.startswith("_")) + 0.3 * (node.kind is NodeKind.VARIABLE)
        return score - 0.2 * (node.kind is NodeKind.METHOD)

    def file(self, path: str) -> float:
        """Return what a file's place adds to each of its symbols."""
        if path not in self._files:
            near = self.near
            score = 0.6 * math.log1p(near.used_files.get(path, 0)) + 1.0 * near.alike.get(path, 0.0)
            score += 0.5 * any(part in self.named.stems for part in _stems(path))
            score -= 1.0 * (is_test(path) and not self._tests)
            self._files[path] = score
        return self._files[path]

    def _said(self, leaf: str) -> float:
        """Return what the words of the plan entry add to a name: the name itself, or the words in it."""
        exact = leaf in self.named.words and len(leaf) > 3  # noqa: PLR2004 - shorter words are any language's
        inside = parts(leaf)
        met = sum(part in self.named.stems for part in inside)
        return 1.5 * exact + 1.2 * (met / len(inside) if inside else 0.0) + 0.6 * (met > 1)

    def _by_stem(self) -> Iterator[str]:
        found = (path for path in self.graph.by_path if any(part in self.named.stems for part in _stems(path)))
        yield from (path for _, path in zip(range(_BY_STEM), found, strict=False))

    @staticmethod
    def _may_be_shown(node: Node) -> bool:
        leaf = leaf_of(node)
        if node.kind is NodeKind.FILE or (leaf.startswith("__") and leaf.endswith("__")):
            return False
        if is_test(node.path) and leaf.lower().startswith("test"):
            return False
        return "." not in node.name or node.kind in (NodeKind.METHOD, NodeKind.CLASS)


def _stems(path: str) -> list[str]:
    return parts(path.rpartition("/")[2].partition(".")[0])
