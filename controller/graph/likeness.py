"""How alike two texts are: runs of three tokens that both have, against all that they have."""

import re
from collections import Counter

from controller.graph.model import Graph
from packets.graph import Node

_TOKEN = re.compile(r"\w+|[^\w\s]")
_RUN = 3
_LINES = 400
_DECORATES = ("@", "#", "//", "/*", "*", '"""')
"""How a line begins that belongs to what follows it."""


class Passages:
    """The texts of the definitions of one tree; `texts` by path. A name's own spelling plays no part in its text."""

    def __init__(self, graph: Graph, texts: dict[str, str]) -> None:
        self.graph = graph
        self.texts = texts
        self._lines: dict[str, list[str]] = {}
        self._runs: dict[str, Counter[tuple[str, ...]]] = {}

    def runs(self, node: Node) -> Counter[tuple[str, ...]]:
        """Return what a node's text is compared by; nothing where the text is not at hand."""
        if node.id not in self._runs:
            own = node.name.rpartition(".")[2]
            tokens = ["" if token == own else token for token in _TOKEN.findall(self._text(node))]
            self._runs[node.id] = runs_of(tokens)
        return self._runs[node.id]

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file."""
        if path not in self._lines:
            self._lines[path] = self.texts.get(path, "").split("\n")
        return self._lines[path]

    def _text(self, node: Node) -> str:
        lines = self.lines(node.path)
        start, end = node.line - 1, min(len(lines), node.line - 1 + _LINES)
        for other in self.graph.by_path.get(node.path, ()):
            if node.line < other.line <= end and not other.name.startswith(f"{node.name}."):
                end = other.line - 1
                break
        while end > start + 1 and (not (line := lines[end - 1].strip()) or line.startswith(_DECORATES)):
            end -= 1
        return "\n".join(lines[start:end])


def runs_of(tokens: list[str]) -> Counter[tuple[str, ...]]:
    """Return the runs of tokens; of a short text also its tokens alone."""
    return Counter(tuple(tokens[i : i + _RUN]) for i in range(max(1, len(tokens) - _RUN + 1)) if tokens)


def alike(a: Counter[tuple[str, ...]], b: Counter[tuple[str, ...]]) -> float:
    """Return 0 to 1: twice what both have, against what they have together."""
    together = a.total() + b.total()
    return 2 * (a & b).total() / together if together else 0.0
