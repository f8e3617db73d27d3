"""The knowledge graph as a plain value, and the difference of two."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from packets.deltas import GraphDelta
from packets.nodes import Edge, EdgeKind, Node, NodeKind


@dataclass(frozen=True)
class Graph:
    """Nodes by id, in order of id; edges sorted. Equal trees give equal graphs."""

    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their source."""
        return _grouped((edge.source, edge) for edge in self.edges)

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their target."""
        return _grouped((edge.target, edge) for edge in self.edges)

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


def _grouped(pairs: Iterable[tuple[str, Edge]]) -> dict[str, tuple[Edge, ...]]:
    grouped: dict[str, list[Edge]] = {}
    for key, edge in pairs:
        grouped.setdefault(key, []).append(edge)
    return {key: tuple(edges) for key, edges in grouped.items()}


def arrow(edge: Edge) -> str:
    """Write an edge as deltas write it."""
    return f"{edge.source} -> {edge.target}"


def delta(before: Graph, after: Graph) -> GraphDelta:
    """Say which nodes and which dependencies came and went. Lines move freely; notes by name alone do not count."""
    old, new = _dependencies(before), _dependencies(after)
    return GraphDelta(
        nodes_added=tuple(sorted(after.nodes.keys() - before.nodes.keys())),
        nodes_removed=tuple(sorted(before.nodes.keys() - after.nodes.keys())),
        edges_added=tuple(sorted(new - old)),
        edges_removed=tuple(sorted(old - new)),
    )


def _dependencies(graph: Graph) -> set[str]:
    return {arrow(edge) for edge in graph.edges if edge.resolved and edge.kind is not EdgeKind.DEFINES}
