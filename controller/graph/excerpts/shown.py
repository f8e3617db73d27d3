"""How a symbol looks in a packet: an entry of its own with the lines that matter, or one row among its file's."""

import re
from functools import cache

from controller.graph.excerpts.lines import WIDEST, cut, decorators, documented, fields
from controller.graph.excerpts.rank import is_public, leaf_of
from controller.graph.excerpts.sources import Sources
from controller.graph.language import family_of
from controller.graph.model import Graph
from packets.graph import Node, NodeKind
from packets.packet import Surface

_PLAIN = re.compile(r"@[\w.]+")
_METHODS = 40
_SIGNATURE = 240


class Shown:
    """Shows symbols of one tree."""

    def __init__(self, graph: Graph, sources: Sources) -> None:
        self.graph = graph
        self.sources = sources
        self.row = cache(self._row)

    def entry(self, node: Node) -> Surface:
        """Return a symbol with what decorates and documents it; of a class also its fields and public methods."""
        lines, family = self.sources.lines(node.path), family_of(node.path)
        told = decorators(lines, node.line)
        if (said := documented(lines, node.line, family)) and node.kind is not NodeKind.VARIABLE:
            told.append(f'"""{said}"""' if family == "python" else f"// {said}")
        if node.kind is NodeKind.CLASS:
            told += fields(lines, node.line, family, {each.line for each in self.members(node)})
            told += map(self.row, self.public(node))
        return Surface(
            symbol=node.name,
            at=f"{node.path}:{node.line}",
            signature=cut(node.signature or leaf_of(node), _SIGNATURE),
            lines="\n".join(told),
        )

    def members(self, node: Node) -> list[Node]:
        """Return what stands right inside of a class, in order."""
        prefix = f"{node.id}."
        around = self.graph.by_path.get(node.path, ())
        return [each for each in around if each.id.startswith(prefix) and "." not in each.id[len(prefix) :]]

    def public(self, node: Node) -> list[Node]:
        """Return the members that the entry of a class shows."""
        return [each for each in self.members(node) if is_public(each)][:_METHODS]

    def _row(self, node: Node) -> str:
        """Write a signature in one line; after a decorator without arguments, which says how it is to be used."""
        said = " ".join((node.signature or leaf_of(node)).split())
        if node.kind is NodeKind.METHOD:
            plain = [each for each in decorators(self.sources.lines(node.path), node.line) if _PLAIN.fullmatch(each)]
            said = " ".join((*plain, said))
        return cut(said, WIDEST)
