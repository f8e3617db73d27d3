"""The knowledge graph as a plain value, and the difference of two."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from packets.nodes import Edge, EdgeKind, Node, NodeKind

if TYPE_CHECKING:
    from packets.deltas import GraphDelta


class Graph:
    """Nodes by id, in order of id; edges sorted. Equal trees give equal graphs."""

    def __init__(self, nodes: Mapping[str, Node], edges: tuple[Edge, ...]) -> None:
        self._nodes, self._edges = nodes, edges

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Nodes by id, in order of id."""
        return self._nodes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, sorted."""
        return self._edges

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return dict(self.nodes) == dict(other.nodes) and self.edges == other.edges

    def __hash__(self) -> int:
        return id(self)  # graphs are compared; nobody looks up one graph by another that is equal

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their source."""
        return grouped((edge.source, edge) for edge in self.edges)

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their target."""
        return grouped((edge.target, edge) for edge in self.edges)

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Node, ...]]:
        """Nodes by the file they stand in, the file itself first. Externals stand nowhere."""
        grouped: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind is not NodeKind.EXTERNAL:
                grouped.setdefault(node.path, []).append(node)
        return {path: tuple(sorted(nodes, key=lambda n: (n.line, n.id))) for path, nodes in grouped.items()}

    @cached_property
    def by_leaf(self) -> Mapping[str, tuple[Node, ...]]:
        """Symbols by the last part of their name."""
        grouped: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            if node.kind not in (NodeKind.FILE, NodeKind.EXTERNAL):
                grouped.setdefault(node.name.rpartition(".")[2], []).append(node)
        return {leaf: tuple(nodes) for leaf, nodes in grouped.items()}

    def edges_of(self, path: str) -> Iterable[Edge]:
        """Return the edges that start in a file."""
        return (edge for node in self.by_path.get(path, ()) for edge in self.outgoing.get(node.id, ()))

    def externals(self) -> tuple[str, ...]:
        """Return the ids of what is imported from outside, sorted."""
        return tuple(node for node in self.nodes if node.startswith("ext:"))

    def users_of(self, node_id: str) -> tuple[str, ...]:
        """Return the other files with a resolved edge to a node, sorted. Cheap also where there are thousands."""
        home = self.path_of(node_id)
        return tuple(sorted({self.path_of(e.source) for e in self.incoming.get(node_id, ()) if e.resolved} - {home}))

    def differing(self, other: "Graph") -> set[str] | None:
        """Return the files and the externals in which two graphs differ; None where nobody knows but by looking."""
        del other
        return None

    def path_of(self, node_id: str) -> str:
        """Return the file a node stands in; empty for externals."""
        node = self.nodes.get(node_id)
        return node.path if node else "" if node_id.startswith("ext:") else node_id.partition("::")[0]

    def inside(self, node_id: str) -> tuple[str, ...]:
        """Return the node and everything it defines, at any depth."""
        node = self.nodes.get(node_id)
        if node is None:
            return ()
        if node.kind is NodeKind.FILE:
            return tuple(n.id for n in self.by_path.get(node.path, ()))
        prefix = f"{node_id}."
        return (node_id, *(n.id for n in self.by_path.get(node.path, ()) if n.id.startswith(prefix)))


def grouped(pairs: Iterable[tuple[str, Edge]]) -> dict[str, tuple[Edge, ...]]:
    """Return edges by what they come with, in their order."""
    grouped: dict[str, list[Edge]] = {}
    for key, edge in pairs:
        grouped.setdefault(key, []).append(edge)
    return {key: tuple(edges) for key, edges in grouped.items()}


def arrow(edge: Edge) -> str:
    """Write an edge as deltas write it."""
    return f"{edge.source} -> {edge.target}"


def delta(before: Graph, after: Graph) -> "GraphDelta":
    """Say which nodes and which dependencies came and went. Lines move freely; notes by name alone do not count."""
    from packets.deltas import GraphDelta

    places = before.differing(after)
    old, new = _nodes(before, places), _nodes(after, places)
    used, uses = _dependencies(before, places), _dependencies(after, places)
    return GraphDelta(
        nodes_added=tuple(sorted(new - old)),
        nodes_removed=tuple(sorted(old - new)),
        edges_added=tuple(sorted(uses - used)),
        edges_removed=tuple(sorted(used - uses)),
    )


def _nodes(graph: Graph, places: Iterable[str] | None) -> set[str]:
    if places is None:
        return set(graph.nodes)
    inside = {node.id for place in places for node in graph.by_path.get(place, ())}
    return inside.union(place for place in places if place in graph.nodes)


def _dependencies(graph: Graph, places: Iterable[str] | None) -> set[str]:
    edges: Iterable[Edge] = (
        graph.edges if places is None else (edge for place in places for edge in graph.edges_of(place))
    )
    return {arrow(edge) for edge in edges if edge.resolved and edge.kind is not EdgeKind.DEFINES}
