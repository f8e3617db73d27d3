"""The three-way table: one row a fact, with what the plan expects, what the worker claims, and what is so.

A line of the plan is a row. A claim joins the rows of which it says a part, or else is a row of its own. What changed
and is in none of them is shown as news (`controller.graph.news`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from controller.graph.expectations import Trees
from controller.graph.levels import Ends, ends
from controller.graph.model import Graph
from controller.graph.news import Change, News
from packets.deltas import GraphDelta, GraphExpectation, GraphVerb, parse_graph
from packets.graph import Expectation, Fact, FactState
from reviewer.inert import inert

MOST = 400
"""Rows that are kept."""

_V = GraphVerb


@dataclass
class _Row:
    fact: str
    covers: frozenset[Change] = frozenset()
    expected: bool = False
    claimed: bool = False
    actual: bool = False
    at: str = ""
    note: str = ""
    meaning: tuple[object, ...] = ()
    count: int = 1


def facts(
    trees: Trees, actual: GraphDelta, news: News, expected: Iterable[Expectation], claimed: Iterable[Expectation]
) -> tuple[tuple[Fact, ...], int]:
    """Return the rows, at most MOST of them, and how many more there are."""
    table = _Table(trees, actual)
    planned = [table.line(each, expected=True) for each in expected]
    rows = [*planned, *table.joined(planned, [table.line(each, expected=False) for each in claimed])]
    said = frozenset(change for row in rows for change in row.covers)
    rows += [
        _Row(item.fact, actual=True, at=item.at, note=item.note, count=len(item.changes))
        for item in news.items()
        if not (item.whole <= said if item.whole else item.changes & said)
    ]
    found = [_fact(row) for row in rows]
    return tuple(found[:MOST]), max(0, len(found) - MOST)


def _fact(row: _Row) -> Fact:
    if row.expected:
        state = FactState.AS_EXPECTED if row.actual else FactState.MISSING
    elif row.claimed:
        state = FactState.CLAIMED if row.actual else FactState.UNTRUE
    else:
        state = FactState.UNANNOUNCED
    return Fact(
        fact=inert(row.fact), state=state, expected=row.expected, claimed=row.claimed, actual=row.actual,
        at=inert(row.at), count=row.count, note=inert(row.note),
    )  # fmt: skip


class _Table:
    """Joins lines by what they mean in the two trees."""

    def __init__(self, trees: Trees, actual: GraphDelta) -> None:
        self.trees = trees
        self.nodes = {_V.NODE_ADDED: frozenset(actual.nodes_added), _V.NODE_REMOVED: frozenset(actual.nodes_removed)}
        self.edges = {
            _V.EDGE_ADDED: _by_source(actual.edges_added, trees.head.graph),
            _V.EDGE_REMOVED: _by_source(actual.edges_removed, trees.base.graph),
        }

    def line(self, judged: Expectation, *, expected: bool) -> _Row:
        """Return the row of one line of the plan or the report."""
        row = _Row(judged.text, expected=expected, claimed=not expected, actual=judged.met)
        row.at, row.note = _place(judged.evidence), "" if judged.met else judged.reason
        try:
            wanted = parse_graph(judged.text)
        except ValueError:
            return row
        source, target = (self.trees.ids(wanted, each) for each in (wanted.source, wanted.target))
        row.meaning = (wanted.verb, source or wanted.source, target or wanted.target)
        row.covers = frozenset(self._covered(wanted, source, target)) if judged.met else frozenset()
        row.count = max(1, len(row.covers))
        return row

    def _covered(self, wanted: GraphExpectation, source: frozenset[str], target: frozenset[str]) -> Iterator[Change]:
        if wanted.verb in self.nodes:
            yield from ((wanted.verb, each) for each in source & self.nodes[wanted.verb])
        else:
            known = self.edges[wanted.verb]
            near = (end for each in source for end in known.get(each, ()))
            yield from ((wanted.verb, end.arrow()) for end in near if end.target in target)

    @staticmethod
    def joined(expected: list[_Row], claimed: list[_Row]) -> list[_Row]:
        """Note claims in the rows of the plan that say the same, and return those that say something else."""
        known = {row.meaning: row for row in expected if row.meaning}
        others: list[_Row] = []
        for claim in claimed:
            same = [known[claim.meaning]] if claim.meaning in known else []
            wider = [row for row in expected if row.covers and claim.covers and row.covers & claim.covers]
            for row in (*same, *wider):
                row.claimed = True
            rest = claim.covers.difference(*(row.covers for row in wider))
            if not same and (rest or not wider):
                others.append(claim)
        return list({row.meaning or (row.fact,): row for row in others}.values())


def _by_source(arrows: Iterable[str], graph: Graph) -> dict[str, list[Ends]]:
    found: dict[str, list[Ends]] = {}
    for arrow in arrows:
        each = ends(arrow, graph)
        found.setdefault(each.source, []).append(each)
    return found


def _place(evidence: tuple[str, ...]) -> str:
    """Return the `path:line` that the first piece of evidence begins with."""
    match = re.match(r"(.*?:\d+) ", evidence[0]) if evidence else None
    return match[1] if match else ""
