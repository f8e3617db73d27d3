"""A delta of symbols lifted to files and to the plan's modules: what holds a node depends on what its nodes do.

A dependency is new at a level when nothing in the one depended on anything in the other before. Looks only at files
that the delta touches, and for modules at the files of those that it touches.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from controller.graph.model import Graph
from controller.graph.reach import within
from controller.graph.territory import Territory
from packets.deltas import GraphDelta
from packets.graph import Edge, EdgeKind


class Ends(NamedTuple):
    """The two ends of an edge, as the delta writes them."""

    source: str
    target: str

    def arrow(self) -> str:
        """Write it as deltas do."""
        return f"{self.source} -> {self.target}"


def ends(arrow: str, graph: Graph) -> Ends:
    """Read an edge of a delta; a path may hold an arrow itself, so the source must be one of the graph's nodes."""
    parts = arrow.split(" -> ")
    for length in range(1, len(parts)):
        source = " -> ".join(parts[:length])
        if source in graph.nodes:
            return Ends(source, " -> ".join(parts[length:]))
    return Ends(*arrow.split(" -> ", 1)) if len(parts) > 1 else Ends(arrow, "")


def depends(edge: Edge) -> bool:
    """Tell a dependency from containment and from what is matched by name alone."""
    return edge.resolved and edge.kind is not EdgeKind.DEFINES


class Uses:
    """Which files and modules those of one tree depend on, asked file by file."""

    def __init__(self, graph: Graph, territory: Territory) -> None:
        self.graph = graph
        self.territory = territory
        self._files: dict[str, frozenset[str]] = {}
        self._modules: dict[str, frozenset[str]] = {}

    def of_file(self, path: str) -> frozenset[str]:
        """Return the files, and externals by their id, that a file depends on."""
        if path not in self._files:
            edges = (e for node in self.graph.by_path.get(path, ()) for e in self.graph.outgoing.get(node.id, ()))
            self._files[path] = frozenset(place_of(self.graph, edge.target) for edge in edges if depends(edge))
        return self._files[path]

    def of_module(self, module: str) -> frozenset[str]:
        """Return the modules that a module depends on."""
        if module not in self._modules:
            used = {target for path in self._held(module) for target in self.of_file(path)}
            owners = {owner for target in used for owner in self.territory.owners(target)}
            self._modules[module] = frozenset(owners - {module})
        return self._modules[module]

    def _held(self, module: str) -> list[str]:
        return within(self.territory.scopes[module], self.graph.by_path)

    def has(self, module: str) -> bool:
        """Tell whether a module has a file."""
        return bool(self._held(module))


def place_of(graph: Graph, node_id: str) -> str:
    """Return the file of a node, or the external itself."""
    return graph.path_of(node_id) or node_id


def file_level(delta: GraphDelta, base: Uses, head: Uses) -> GraphDelta:
    """Lift a delta to files. Externals stay what they are."""
    added, removed = _lifted(delta.edges_added, head, base), _lifted(delta.edges_removed, base, head)
    return GraphDelta(
        nodes_added=tuple(each for each in delta.nodes_added if "::" not in each or each.startswith("ext:")),
        nodes_removed=tuple(each for each in delta.nodes_removed if "::" not in each or each.startswith("ext:")),
        edges_added=tuple(sorted(each.arrow() for each in added)),
        edges_removed=tuple(sorted(each.arrow() for each in removed)),
    )


def _lifted(arrows: Iterable[str], here: Uses, there: Uses) -> set[Ends]:
    """Return the pairs of files that depend on each other here, by one of the edges, and do not there."""
    pairs = {Ends(*(place_of(here.graph, end) for end in ends(arrow, here.graph))) for arrow in arrows}
    return {each for each in pairs if each.source != each.target and each.target not in there.of_file(each.source)}


def module_level(files: GraphDelta, base: Uses, head: Uses) -> GraphDelta:
    """Lift a delta of files to the plan's modules and those of its map."""
    return GraphDelta(
        nodes_added=tuple(sorted(_came(files.nodes_added, base, head))),
        nodes_removed=tuple(sorted(_came(files.nodes_removed, head, base))),
        edges_added=tuple(sorted(each.arrow() for each in _crossing(files.edges_added, head, base))),
        edges_removed=tuple(sorted(each.arrow() for each in _crossing(files.edges_removed, base, head))),
    )


def _came(paths: Iterable[str], before: Uses, after: Uses) -> set[str]:
    owners = {owner for path in paths for owner in after.territory.owners(path)}
    return {owner for owner in owners if after.has(owner) and not before.has(owner)}


def _crossing(arrows: Iterable[str], here: Uses, there: Uses) -> Iterator[Ends]:
    pairs = set()
    for arrow in arrows:
        source, target = ends(arrow, here.graph)
        if not target.startswith("ext:"):
            owners = here.territory.owners
            pairs |= {Ends(a, b) for a in owners(source) for b in owners(target) if a != b}
    yield from (each for each in pairs if each.target not in there.of_module(each.source))
