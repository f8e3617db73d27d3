"""Walks along dependencies: everything that is reached in so many steps, and the shortest way between two things.

A step is a resolved edge other than `defines`. What a class needs, its methods need; who uses a method's class may come
to the method: containment costs no step.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from controller.graph.model import Graph
from packets.graph import Edge, EdgeKind, NodeKind


class Reached(NamedTuple):
    """A node, how many steps away, and the edge of the last step (its line stands in the file of its source)."""

    id: str
    distance: int
    edge: Edge


def dependents(graph: Graph, start: Iterable[str], within: int | None = 1) -> Iterator[Reached]:
    """Yield what depends on the start, nearest first; `within` None goes to the end."""
    yield from _walk(graph, frozenset(start), within, forward=False)


def dependencies(graph: Graph, start: Iterable[str], within: int | None = 1) -> Iterator[Reached]:
    """Yield what the start depends on, nearest first, third-party packages too."""
    yield from _walk(graph, frozenset(start), within, forward=True)


def steps(graph: Graph, node: str, *, forward: bool) -> Iterator[tuple[str, Edge]]:
    """Yield the next nodes from one, with the edges that lead there, in a stable order."""
    for edge in sorted((graph.outgoing if forward else graph.incoming).get(node, ())):
        if edge.resolved and edge.kind is not EdgeKind.DEFINES:
            yield (edge.target if forward else edge.source), edge


def _walk(graph: Graph, start: frozenset[str], within: int | None, *, forward: bool) -> Iterator[Reached]:
    seen, frontier, distance = set(start), sorted(start), 0
    while frontier and (within is None or distance < within):
        distance += 1
        found: dict[str, Edge] = {}
        for node in frontier:
            for other, edge in steps(graph, node, forward=forward):
                if other not in seen:
                    found.setdefault(other, edge)
        frontier = []
        for other in sorted(found, key=lambda each: (graph.path_of(each), found[each].line, each)):
            yield Reached(other, distance, found[other])
            for each in (*_inside(graph, other), *(() if forward else _outside(graph, other))):
                if each not in seen:
                    seen.add(each)
                    frontier.append(each)


def _inside(graph: Graph, node: str) -> tuple[str, ...]:
    """Return a symbol with all that it defines; a file is only itself: an import needs not all of it."""
    known = graph.nodes.get(node)
    return (node,) if known is None or known.kind in (NodeKind.FILE, NodeKind.EXTERNAL) else graph.inside(node)


def _outside(graph: Graph, node: str) -> tuple[str, ...]:
    """Return the classes around a symbol: who uses them may come to it."""
    path, _, qual = node.partition("::")
    found = []
    while qual := qual.rpartition(".")[0]:
        around = graph.nodes.get(f"{path}::{qual}")
        if around is not None and around.kind is NodeKind.CLASS:
            found.append(around.id)
    return tuple(found)


def shortest(graph: Graph, start: Iterable[str], end: Iterable[str]) -> tuple[Edge, ...] | None:
    """Return the edges of a shortest way from one to the other, None where there is none; empty where they meet."""
    first, goal = frozenset(start), frozenset(end)
    if first & goal:
        return ()
    came: dict[str, tuple[str, Edge]] = {}
    seen, frontier = set(first), sorted(first)
    while frontier:
        following = []
        for node in frontier:
            for other, edge in steps(graph, node, forward=True):
                if other in seen:
                    continue
                for each in _inside(graph, other):
                    if each not in seen:
                        seen.add(each)
                        came[each] = (node, edge)
                        following.append(each)
                if other in goal:
                    return _way(came, other)
        frontier = following
    return None


def _way(came: dict[str, tuple[str, Edge]], node: str) -> tuple[Edge, ...]:
    found = []
    while node in came:
        node, edge = came[node]
        found.append(edge)
    return tuple(reversed(found))
