"""From phases to waves: what can run at once, and why each module is where it is."""

from collections.abc import Mapping
from typing import NamedTuple

from controller.plan.check_scopes import overlaps
from packets.plan import Module, Phase, Plan


class Wave(NamedTuple):
    """Modules that run at once, in plan order. `number` counts through the whole run from 1; one reason a module."""

    number: int
    phase: str
    modules: tuple[str, ...]
    reasons: tuple[str, ...]


def waves(plan: Plan) -> tuple[Wave, ...]:
    """Return the waves of a checked plan: each module as early as its dependencies and everybody's scopes allow.

    The same plan always gives the same waves. Raises ValueError for a plan with a cycle: check it first.
    """
    found: list[Wave] = []
    for phase in plan.phases:
        found += _of_phase(plan, phase, first=len(found) + 1)
    return tuple(found)


def _of_phase(plan: Plan, phase: Phase, first: int) -> list[Wave]:
    import networkx as nx

    modules = {module.id: module for module in phase.modules}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(modules)
    graph.add_edges_from((d, m.id) for m in phase.modules for d in m.depends_on if d in modules)
    if not nx.is_directed_acyclic_graph(graph):
        raise ValueError(f"the modules of phase {phase.id} depend on each other in a circle")
    rivals = _rivals(phase)
    placed: dict[str, int] = {}
    found: list[Wave] = []
    while len(placed) < len(modules):
        number = first + len(found)
        ready = [name for name in modules if name not in placed and all(d in placed for d in graph.predecessors(name))]
        taken: dict[str, None] = {}
        for name in ready:
            # A checked plan orders overlapping scopes by dependencies; nothing here relies on it.
            if not any(other in rivals.get(name, {}) for other in taken):
                taken[name] = None
        reasons = tuple(_reason(plan, modules[name], placed, rivals.get(name, {})) for name in taken)
        placed.update(dict.fromkeys(taken, number))
        found.append(Wave(number, phase.id, tuple(taken), reasons))
    return found


def _rivals(phase: Phase) -> dict[str, dict[str, str]]:
    """Return for each module those whose scope meets its own, with a path that both may write."""
    rivals: dict[str, dict[str, str]] = {}
    for first, second, path in overlaps(phase):
        rivals.setdefault(first.module, {}).setdefault(second.module, path)
        rivals.setdefault(second.module, {}).setdefault(first.module, path)
    return rivals


def _reason(plan: Plan, module: Module, placed: Mapping[str, int], rivals: Mapping[str, str]) -> str:
    waits = [name for name in module.depends_on if name in placed]
    if waits:
        said = [f"{name} (wave {placed[name]})" for name in waits]
        latest = max(waits, key=placed.__getitem__)
        shared = f"; both may write {rivals[latest]}" if latest in rivals else ""
        return f"{module.id}: after {', '.join(said)}{shared}"
    for name, path in rivals.items():
        if name in placed:
            return f"{module.id}: after {name} (wave {placed[name]}), because both may write {path}"
    earlier = [name for name in module.depends_on if name not in plan.modules_map]
    if earlier:
        return f"{module.id}: what it depends on landed with an earlier phase: {', '.join(earlier)}"
    there = [name for name in module.depends_on if name in plan.modules_map]
    return f"{module.id}: {'depends on what exists: ' + ', '.join(there) if there else 'depends on nothing'}"
