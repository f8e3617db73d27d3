"""Write scopes against each other: what two modules may write that could run at once."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from controller.plan.check_names import modules_at
from controller.plan.places import Loc, Places
from packets.pattern import Pattern, may_meet
from packets.plan import Module, Phase, Plan
from packets.problem import Problem
from packets.scope import clash, parse_entry

MAX_WORK = 3_000_000
"""Steps that comparing the globs of one phase may take: about three seconds at the very worst."""


class Entry(NamedTuple):
    """One entry of one module's scope."""

    module: str
    number: int
    pattern: Pattern


class Overlap(NamedTuple):
    """Two entries that meet, `first` in plan order, and a path that shows it."""

    first: Entry
    second: Entry
    path: str


def entries_of(phase: Phase) -> list[Entry]:
    """Return the parsed scopes of a phase, in plan order."""
    return [
        Entry(module.id, index, parse_entry(text))
        for module in phase.modules
        for index, text in enumerate(module.write_scope)
    ]


def near_pairs(entries: list[Entry]) -> Iterator[tuple[Entry, Entry]]:
    """Give the pairs of different modules that could meet: the start of one is the beginning of the other's start."""
    starts: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        starts[entry.pattern.start].append(entry)
    for start, here in starts.items():
        yield from (pair for pair in combinations(here, 2) if pair[0].module != pair[1].module)
        for length in range(len(start)):
            for above in starts.get(start[:length], ()):
                yield from ((above, entry) for entry in here if entry.module != above.module)


def overlaps(phase: Phase) -> list[Overlap]:
    """Return every overlap between two modules of the phase; raises OverflowError when the globs are too many."""
    entries = entries_of(phase)
    order = {id(entry): number for number, entry in enumerate(entries)}
    work, found = 0, []
    for a, b in near_pairs(entries):
        work += a.pattern.size * b.pattern.size if may_meet(a.pattern, b.pattern) else 1
        if work > MAX_WORK:
            raise OverflowError
        if (path := clash(a.pattern, b.pattern)) is not None:
            first, second = sorted((a, b), key=lambda entry: order[id(entry)])
            found.append(Overlap(first, second, path))
    return sorted(found, key=lambda overlap: (order[id(overlap.second)], order[id(overlap.first)]))


def scope_problems(plan: Plan, places: Places) -> list[Problem]:
    """Return each pair of modules that may write the same path with no dependency to order them."""
    problems: list[Problem] = []
    where = {module.id: loc for loc, module in modules_at(plan)}
    for i, phase in enumerate(plan.phases):
        try:
            found = overlaps(phase)
        except OverflowError:
            message, hint = "the write scopes of this phase hold too many globs to compare", "name folders instead"
            problems.append(places.problem(("phases", i, "modules"), "plan.scope_too_complex", message, hint))
            continue
        problems += _unordered(phase, found, where, places)
    return problems


def _unordered(phase: Phase, found: list[Overlap], where: dict[str, Loc], places: Places) -> Iterator[Problem]:
    if not found:
        return
    order, closure = _order(phase)
    modules = {module.id: module for module in phase.modules}
    said: set[frozenset[str]] = set()
    for overlap in found:
        pair = frozenset((overlap.first.module, overlap.second.module))
        earlier, later = sorted(pair, key=lambda name: order[name])
        if pair in said or closure.has_edge(later, earlier) or closure.has_edge(earlier, later):
            continue
        said.add(pair)
        entry = overlap.first if overlap.first.module == later else overlap.second
        message = f"`{overlap.path}` may be written by {earlier} and by {later}, and neither waits for the other"
        hint = f"add to {later}: `depends_on: [{', '.join(_with(modules[later], earlier))}]`, or narrow a scope"
        yield places.problem((*where[later], "write_scope", entry.number), "plan.scope_overlap", message, hint)


def _with(module: Module, wanted: str) -> tuple[str, ...]:
    return (*module.depends_on, wanted)


def _order(phase: Phase) -> tuple[dict[str, int], Any]:
    """Return an order in which all hints can be followed at once, and all dependencies, also indirect ones."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(module.id for module in phase.modules)
    for module in phase.modules:
        graph.add_edges_from((module.id, wanted) for wanted in module.depends_on if wanted in graph)
    plan_order = {name: number for number, name in enumerate(graph)}
    try:
        ordered = list(nx.lexicographical_topological_sort(graph.reverse(), key=plan_order.__getitem__))
    except nx.NetworkXUnfeasible:
        ordered = list(graph)  # a cycle is said elsewhere
    return {name: number for number, name in enumerate(ordered)}, nx.transitive_closure(graph)
