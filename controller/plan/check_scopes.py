"""Write scopes against each other: what two modules may write that could run at once."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from typing import NamedTuple

from controller.plan.check_names import modules_at
from controller.plan.places import MAX_PROBLEMS, Loc, Places
from packets.pattern import Pattern, may_meet
from packets.plan import Module, Phase, Plan
from packets.problem import Problem
from packets.scope import clash, parse_entry

MAX_WORK = 1_500_000
"""Steps that comparing the scopes of one phase may take: a few seconds at the very worst."""
_FOUND = 10


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
        work += _cost(a.pattern, b.pattern)
        if work > MAX_WORK:
            raise OverflowError
        if (path := clash(a.pattern, b.pattern)) is not None:
            first, second = sorted((a, b), key=lambda entry: order[id(entry)])
            found.append(Overlap(first, second, path))
    return sorted(found, key=lambda overlap: (order[id(overlap.second)], order[id(overlap.first)]))


def _cost(a: Pattern, b: Pattern) -> int:
    if not may_meet(a, b):
        return 1
    return _FOUND if (a.literal and b.literal) or a.whole or b.whole else a.size * b.size


def scope_problems(plan: Plan, places: Places) -> list[Problem]:
    """Return each pair of modules that may write the same path with no dependency to order them."""
    problems: list[Problem] = []
    where = {module.id: loc for loc, module in modules_at(plan)}
    for i, phase in enumerate(plan.phases):
        try:
            found = overlaps(phase)
        except OverflowError:
            message, hint = "the write scopes of this phase have too much in common to compare", "use fewer globs"
            problems.append(places.problem(("phases", i, "modules"), "plan.scope_too_complex", message, hint))
            continue
        problems += islice(_unordered(phase, found, where, places), MAX_PROBLEMS + 1)
    return problems


def _unordered(phase: Phase, found: list[Overlap], where: dict[str, Loc], places: Places) -> Iterator[Problem]:
    if not found:
        return
    order, waits = _order(phase)
    modules = {module.id: module for module in phase.modules}
    said: set[frozenset[str]] = set()
    for overlap in found:
        pair = frozenset((overlap.first.module, overlap.second.module))
        earlier, later = sorted(pair, key=lambda name: order[name])
        if pair in said or waits(later, earlier) or waits(earlier, later):
            continue
        said.add(pair)
        entry = overlap.first if overlap.first.module == later else overlap.second
        message = f"`{overlap.path}` may be written by {earlier} and by {later}, and neither waits for the other"
        hint = f"add to {later}: `depends_on: [{', '.join(_with(modules[later], earlier))}]`, or narrow a scope"
        yield places.problem((*where[later], "write_scope", entry.number), "plan.scope_overlap", message, hint)


def _with(module: Module, wanted: str) -> tuple[str, ...]:
    return (*module.depends_on, wanted)


def _order(phase: Phase) -> tuple[dict[str, int], Callable[[str, str], bool]]:
    """Return an order in which all hints can be followed at once, and whether one module waits for another."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(module.id for module in phase.modules)
    for module in phase.modules:
        graph.add_edges_from((wanted, module.id) for wanted in module.depends_on if wanted in graph)
    plan_order = {name: number for number, name in enumerate(graph)}
    try:
        ordered = list(nx.lexicographical_topological_sort(graph, key=plan_order.__getitem__))
    except nx.NetworkXUnfeasible:
        ordered = list(graph)  # a cycle is said elsewhere
    order = {name: number for number, name in enumerate(ordered)}
    # Whom each one waits for, as bits; a second round changes something only where there is a cycle.
    before, changed = dict.fromkeys(ordered, 0), True
    while changed:
        changed = False
        for name in ordered:
            bits = before[name]
            for wanted in graph.predecessors(name):
                bits |= before[wanted] | 1 << order[wanted]
            changed, before[name] = changed or bits != before[name], bits
    return order, lambda later, earlier: bool(before[later] >> order[earlier] & 1)
