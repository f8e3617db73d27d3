"""Questions in words: `dependents of X within 2`, `dependencies of X`, `uses of X`, `cycles`, `third-party of X`.

`of X` may be left out for `cycles` and `third-party`; `within all` goes to the end.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from controller.graph.asking.meaning import Asked
from controller.graph.asking.walk import Reached, dependencies, dependents
from packets.errors import UsageError
from packets.graph import Edge, EdgeKind

FORMS = (
    "dependents of NAME [within N|all]",
    "dependencies of NAME [within N|all]",
    "uses of NAME",
    "third-party [of NAME]",
    "cycles [of NAME]",
)
_FORM = re.compile(
    r"(?P<verb>dependents|dependencies|uses|third-party|cycles)(?:\s+of\s+(?P<name>\S+(?:\s+\S+)*?))?"
    r"(?:\s+within\s+(?P<within>\d+|all))?"
)


class Row(NamedTuple):
    """One answer. `at` is path:line; `source kind target` is the edge that shows it; `group` numbers cycles."""

    id: str
    distance: int
    at: str
    source: str
    kind: str
    target: str
    group: int = 0


def answer(asked: Asked, question: str) -> list[Row]:
    """Return the rows of one question, nearest first; raises UsageError that lists the forms."""
    match = _FORM.fullmatch(" ".join(question.split()))
    if match is None:
        raise UsageError(f"cannot read the question {question[:80]!r}", "forms: " + "; ".join(FORMS))
    verb, name, within = match["verb"], match["name"], match["within"]
    if name is None and verb not in ("third-party", "cycles"):
        raise UsageError(f"{verb} of what?", f"write `{verb} of NAME`")
    if within is not None and not verb.startswith("depend"):
        raise UsageError(f"`within` says nothing about {verb}", "forms: " + "; ".join(FORMS))
    ids = asked.meant(name) if name is not None else frozenset(asked.graph.nodes)
    answers: dict[str, Callable[[], Iterator[Row]]] = {
        "dependents": lambda: _reached(asked, dependents(asked.graph, ids, _steps(within))),
        "dependencies": lambda: _reached(asked, dependencies(asked.graph, ids, _steps(within))),
        "uses": lambda: _uses(asked, ids),
        "third-party": lambda: _third_party(asked, ids),
        "cycles": lambda: _cycles(asked, ids),
    }
    return list(answers[verb]())


def _steps(within: str | None) -> int | None:
    return None if within == "all" else int(within or 1)


def _row(asked: Asked, node: str, distance: int, edge: Edge, group: int = 0) -> Row:
    at = f"{asked.graph.path_of(edge.source)}:{edge.line}"
    return Row(node, distance, at, edge.source, edge.kind.value, edge.target, group)


def _reached(asked: Asked, found: Iterator[Reached]) -> Iterator[Row]:
    for each in found:
        yield _row(asked, each.id, each.distance, each.edge)


def _uses(asked: Asked, ids: frozenset[str]) -> Iterator[Row]:
    """Yield every place that uses the thing from outside of it."""
    edges = {edge for node in ids for edge in asked.graph.incoming.get(node, ()) if edge.kind is not EdgeKind.DEFINES}
    outside = [edge for edge in edges if edge.resolved and edge.source not in ids]
    for edge in sorted(outside, key=lambda each: (asked.graph.path_of(each.source), each.line, each)):
        yield _row(asked, edge.source, 1, edge)


def _third_party(asked: Asked, ids: frozenset[str]) -> Iterator[Row]:
    """Yield each import that leads out of the repository, at its first place."""
    first: dict[str, Edge] = {}
    for node in sorted(ids):
        for edge in asked.graph.outgoing.get(node, ()):
            known = first.get(edge.target)
            place = (asked.graph.path_of(edge.source), edge.line)
            if edge.target.startswith("ext:") and (
                known is None or place < (asked.graph.path_of(known.source), known.line)
            ):
                first[edge.target] = edge
    for target in sorted(first):
        yield _row(asked, target, 1, first[target])


def _cycles(asked: Asked, ids: frozenset[str]) -> Iterator[Row]:
    """Yield the files that import each other in circles, the largest circle first, one group a circle."""
    import networkx as nx

    graph = asked.graph
    files: nx.DiGraph[str] = nx.DiGraph()
    lines: dict[tuple[str, str], Edge] = {}
    for edge in graph.edges:
        pair = (graph.path_of(edge.source), graph.path_of(edge.target))
        if edge.resolved and edge.kind is not EdgeKind.DEFINES and all(pair) and pair[0] != pair[1]:
            lines[pair] = min(edge, lines.get(pair, edge), key=lambda each: (each.line, each))
    files.add_edges_from(lines)
    wanted = {graph.path_of(node) for node in ids}
    circles = [sorted(each) for each in nx.strongly_connected_components(files) if len(each) > 1 and each & wanted]
    for group, circle in enumerate(sorted(circles, key=lambda each: (-len(each), each)), start=1):
        for path in circle:
            following = min(other for other in files.successors(path) if other in set(circle))
            yield _row(asked, path, len(circle), lines[path, following], group)
