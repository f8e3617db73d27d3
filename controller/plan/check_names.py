"""Ids, dependencies and agents: that each name is there once, and that what depends can be ordered."""

from collections.abc import Collection, Iterator
from itertools import islice

from controller.plan.keys import did_you_mean
from controller.plan.places import MAX_PROBLEMS, Loc, Places
from packets.ids import slug
from packets.plan import Module, Plan
from packets.problem import Problem

_SHOWN = 20
"""Modules of a cycle that are named."""


def modules_at(plan: Plan) -> Iterator[tuple[Loc, Module]]:
    """Give each module with its way from the root, in plan order."""
    for i, phase in enumerate(plan.phases):
        for j, module in enumerate(phase.modules):
            yield ("phases", i, "modules", j), module


def name_problems(
    plan: Plan, places: Places, *, known_ids: Collection[str] = (), known_agents: Collection[str] = ()
) -> list[Problem]:
    """Return the problems of names; `known_…` are names that were left out of the plan because of other faults."""
    each = (
        _ids(plan, places),
        _phases(plan, places),
        _dependencies(plan, places, known_ids),
        _cycles(plan, places),
        _agents(plan, places, known_agents),
    )
    return [problem for found in each for problem in islice(found, MAX_PROBLEMS + 1)]


def _ids(plan: Plan, places: Places) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for loc, module in modules_at(plan):
        key = slug(module.id).lower()
        if (first := seen.get(key)) is not None:
            same = first == module.id
            message = f"the id {module.id} is taken" + ("" if same else f": it would share a name on disk with {first}")
            yield places.problem((*loc, "id"), "plan.duplicate_id", message, "give one of them another id")
        elif module.id in plan.modules_map:
            message = f"{module.id} is a module of this plan and stands in modules_map too"
            yield places.problem((*loc, "id"), "plan.duplicate_id", message, "take it out of modules_map")
        seen.setdefault(key, module.id)
    ids = {module.id for module in plan.modules()}
    for loc, module in modules_at(plan):
        parts = module.id.split("/")
        for length in range(1, len(parts)):
            if (folder := "/".join(parts[:length])) in ids:
                message = f"{folder} is the folder of {module.id}: git cannot hold a branch for both"
                yield places.problem(
                    (*loc, "id"), "plan.id_is_folder", message, f"rename {folder}, as in {folder}/Core"
                )


def _phases(plan: Plan, places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, phase in enumerate(plan.phases):
        if phase.id in seen:
            yield places.problem(("phases", i, "id"), "plan.duplicate_id", f"the phase id {phase.id} is taken")
        seen.add(phase.id)


def _dependencies(plan: Plan, places: Places, known: Collection[str]) -> Iterator[Problem]:
    phase_of = {module.id: i for i, phase in enumerate(plan.phases) for module in phase.modules}
    for loc, module in modules_at(plan):
        for index, wanted in enumerate(module.depends_on):
            place = (*loc, "depends_on", index)
            if wanted == module.id:
                yield places.problem(place, "plan.cycle", f"{module.id} depends on itself", "take it out")
            elif wanted in phase_of and phase_of[wanted] > phase_of[module.id]:
                message = f"{wanted} comes in the later phase {plan.phases[phase_of[wanted]].id}"
                yield places.problem(place, "plan.depends_on_later", message, "move one of them")
            elif wanted not in phase_of and wanted not in plan.modules_map and wanted not in known:
                hint = did_you_mean(wanted, [*phase_of, *plan.modules_map])
                hint = hint or "depend on a module of this plan, or name the existing one in modules_map"
                yield places.problem(place, "plan.unknown_dependency", f"there is no module {wanted}", hint)


def _cycles(plan: Plan, places: Places) -> Iterator[Problem]:
    import networkx as nx

    order = {name: number for number, name in enumerate(dict.fromkeys(module.id for module in plan.modules()))}
    edges: dict[tuple[str, str], Loc] = {}
    for loc, module in modules_at(plan):
        for index, wanted in enumerate(module.depends_on):
            edges.setdefault((module.id, wanted), (*loc, "depends_on", index))
    for phase in plan.phases:
        ids = {module.id for module in phase.modules}
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from(edge for edge in edges if ids.issuperset(edge) and edge[0] != edge[1])
        knots = (knot for knot in nx.strongly_connected_components(graph) if len(knot) > 1)
        for start in sorted((min(knot, key=order.__getitem__) for knot in knots), key=order.__getitem__):
            # Through the knot's first module, the shortest way: the same cycle is named each time.
            ways = [
                nx.shortest_path(graph, wanted, start) for wanted in graph[start] if nx.has_path(graph, wanted, start)
            ]
            cycle = [start, *min(ways, key=len)]
            short = cycle if len(cycle) <= _SHOWN else [*cycle[: _SHOWN // 2], "…", *cycle[-_SHOWN // 2 :]]
            message = f"these depend on each other: {' -> '.join(short)}"
            yield places.problem(edges[start, cycle[1]], "plan.cycle", message, "take one of these out")


def _agents(plan: Plan, places: Places, known: Collection[str]) -> Iterator[Problem]:
    named: list[tuple[Loc, str | None]] = [(("defaults", "agent"), plan.defaults.agent)]
    named += [((*loc, "agent"), module.agent) for loc, module in modules_at(plan)]
    for loc, name in named:
        if name is not None and name not in plan.agents and name not in known:
            hint = did_you_mean(name, plan.agents) or "describe it under `agents`"
            yield places.problem(loc, "plan.unknown_agent", f"there is no agent {name}", hint)
    for loc, module in modules_at(plan):
        if plan.agent_name(module) is None and not known:
            some = f"name one of: {', '.join(plan.agents)}" if plan.agents else "describe one under `agents`"
            yield places.problem((*loc, "id"), "plan.no_agent", f"nobody is named to work on {module.id}", some)
    for name, agent in plan.agents.items():
        for key in getattr(agent, "env", {}):
            if not key.replace("_", "a").isalnum() or not key.isascii() or key[0].isdigit() or key.startswith("GRACE_"):
                message = f"the environment variable {key!r} cannot be set"
                hint = "use letters, digits and `_`; GRACE_ is kept for grace"
                yield places.problem(("agents", name, "env", key), "plan.agent_env", message, hint, on_key=True)
