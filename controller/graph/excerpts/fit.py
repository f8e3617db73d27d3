"""Fills a budget of tokens with symbols: entries of their own first, then rows in outlines of their files."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cache

from controller.graph.excerpts.shown import Shown
from controller.graph.excerpts.tokens import tokens
from controller.graph.model import Graph
from packets.graph import Node, NodeKind
from packets.packet import Surface

_FRAME = 16
"""Tokens of the keys around an entry."""

_BREAK = 2
"""Tokens of a line's end and the next one's indentation."""


class Fit:
    """What fits, in the order in which it was offered; a symbol is shown once."""

    def __init__(self, graph: Graph, shown: Shown, budget: int) -> None:
        self.graph = graph
        self.shown = shown
        self.left = float(budget)
        self._seen: set[str] = set()
        self._entries: list[Surface] = []
        self._rows: dict[str, list[Node]] = {}
        self._also: dict[str, list[Node]] = {}
        self._cost = cache(lambda node: _BREAK + tokens(shown.row(node)))

    def entries(self, nodes: Iterable[Node], reserve: float) -> None:
        """Show symbols in entries of their own, large ones in brief, while more than `reserve` tokens would be left."""
        for node in nodes:
            if node.id in self._seen:
                continue
            whole = self.shown.entry(node)
            for entry in (whole, whole.model_copy(update={"lines": ""})):
                cost = _cost(entry)
                if self.left - cost >= reserve:
                    self.left -= cost
                    self._entries.append(entry)
                    self._seen.add(node.id)
                    self._seen.update(each.id for each in self.shown.public(node) if entry.lines)
                    break

    def rows(self, nodes: Iterable[Node], reserve: float = 0.0) -> None:
        """Show symbols as rows of their files, while more than `reserve` tokens would be left."""
        for node in nodes:
            wanted = [each for each in (*self._around(node), node) if each.id not in self._seen]
            if not wanted or wanted[-1] is not node:
                continue
            cost = sum(map(self._cost, wanted))
            cost += 0 if node.path in self._rows else _FRAME + 2 * tokens(node.path)
            if self.left - cost < reserve:
                if self.left - reserve < _FRAME:
                    return
                continue
            self.left -= cost
            self._seen.update(each.id for each in wanted)
            self._rows.setdefault(node.path, []).extend(wanted)

    def names(self, nodes: Iterable[Node]) -> None:
        """Name symbols, and no more, until the budget is spent; only in files that are shown with a row."""
        for node in nodes:
            if node.id in self._seen or node.path not in self._rows:
                continue
            cost = 1 + tokens(node.name) + (0 if node.path in self._also else _BREAK + 2)
            if self.left < cost:
                return
            self.left -= cost
            self._seen.add(node.id)
            self._also.setdefault(node.path, []).append(node)

    def _around(self, node: Node) -> list[Node]:
        """Return the classes that a member is in, the outermost first."""
        names = node.name.split(".")[:-1]
        ids = (f"{node.path}::{'.'.join(names[:end])}" for end in range(1, len(names) + 1))
        nodes = self.graph.nodes
        return [nodes[each] for each in ids if each in nodes and nodes[each].kind is NodeKind.CLASS]

    def surface(self) -> tuple[Surface, ...]:
        """Return all that fitted: entries in their order, then the files, those of the first rows first."""
        return (*self._entries, *(self._outline(path, rows) for path, rows in self._rows.items()))

    def _outline(self, path: str, rows: list[Node]) -> Surface:
        held = {node.name for node in rows}
        lines = [self._line(node, held) for node in sorted(rows, key=_place)]
        if also := self._also.get(path):
            lines.append(f"also {', '.join(dict.fromkeys(node.name for node in sorted(also, key=_place)))}")
        return Surface(symbol=path, at=f"{path}:1", lines="\n".join(lines))

    def _line(self, node: Node, held: AbstractSet[str]) -> str:
        """Write a row: a member indented below its class, or after its name where that is not in the outline."""
        row, owner = self.shown.row(node), node.name.rpartition(".")[0]
        if owner in held:
            return " " * (2 * node.name.count(".")) + row
        return f"{owner}: {row}" if owner and owner.rpartition(".")[2] not in row else row


def _cost(entry: Surface) -> int:
    rows = entry.lines.split("\n") if entry.lines else []
    return _FRAME + sum(map(tokens, (entry.symbol, entry.at, entry.signature))) + sum(_BREAK + tokens(r) for r in rows)


def _place(node: Node) -> tuple[int, str]:
    return node.line, node.id
