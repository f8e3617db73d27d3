"""Where plan and tree drifted apart. Says it, and repairs nothing."""

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet

from controller.graph.compare import dependencies, new_undeclared
from controller.graph.knowledge import readable
from controller.graph.language import kind_of
from controller.graph.model import Graph
from controller.graph.territory import Territory
from packets.deltas import VerificationExpectation, parse_verification
from packets.plan import Module, Plan
from packets.refresh import Drift, DriftKind


def drift(
    plan: Plan,
    graph: Graph,
    entries: Collection[str],
    scenarios: AbstractSet[str],
    markers: AbstractSet[str],
    *,
    merged: AbstractSet[str],
    changed: Sequence[str] = (),
    before: Graph | None = None,
) -> tuple[Drift, ...]:
    """Return every drift, in plan order.

    `entries` are the paths of the tree, `scenarios` the ids that its tests have (`path::name`), `markers` those that
    its sources emit. Only modules in `merged` are held against it. `changed` are paths that differ from where the run
    began, `before` is the graph of that tree; without it no edge is new.
    """
    entries, changed = list(map(readable, entries)), list(map(readable, changed))
    territory = Territory(plan)
    modules = [module for module in plan.modules() if module.id in merged]
    found = [*_orphans(territory, modules, entries)]
    for module in modules:
        found += _stale(territory, module, graph)
        found += _scenarios(territory, module, modules, scenarios, entries)
        found += _markers(territory, module, modules, markers, entries)
    found += [
        Drift(kind=DriftKind.UNPLANNED_FILE, message="changed, but in no module's write scope", path=path)
        for path in sorted(changed)
        if not any(scope.matches(path) for scope in territory.planned.values())
    ]
    return (*found, *(_edges(territory, before, graph) if before else ()))


def markers_of(module: Module) -> tuple[str, ...]:
    """Return the markers that a module promises."""
    added = [wanted.name for wanted in _wanted(module, "marker") if wanted.verb == "add"]
    return tuple(dict.fromkeys([*module.verification.required_markers, *added]))


def _orphans(territory: Territory, modules: Sequence[Module], entries: Collection[str]) -> Iterator[Drift]:
    names = [*territory.mapped, *(module.id for module in modules if module.id not in territory.mapped)]
    for name in names:
        if not territory.files(name, entries):
            where = territory.scopes[name].entries[0]
            yield Drift(
                kind=DriftKind.ORPHAN_MODULE, message=f"{name} has no file: its scope matches nothing", path=where
            )


def _stale(territory: Territory, module: Module, graph: Graph) -> Iterator[Drift]:
    scope = territory.planned[module.id]
    used = {
        owner
        for _, path, target in dependencies(graph)
        if scope.matches(path) and not scope.matches(target)
        for owner in territory.owners(target)
    }
    if not any(kind_of(path) != "file" and scope.matches(path) for path in graph.by_path):
        return  # no source here that the graph can read
    for name in module.depends_on:
        if name not in used:
            yield Drift(
                kind=DriftKind.STALE_EDGE,
                message=f"{module.id} depends on {name} in the plan, but no code of it does",
                path=_first(territory, module, graph.by_path),
            )


def _scenarios(
    territory: Territory, module: Module, merged: Sequence[Module], known: AbstractSet[str], entries: Collection[str]
) -> Iterator[Drift]:
    from reviewer.names import meant_id

    for wanted in _wanted(module, "scenario"):
        if wanted.verb == "remove" or _taken_back(module, merged, wanted):
            continue
        if not any(meant_id(wanted.name, each) for each in known):
            path = _first(territory, module, entries, tests=True)
            message = f"{module.id}: no test is the scenario {wanted.name}"
            yield Drift(kind=DriftKind.MISSING_SCENARIO, message=message, path=path)


def _markers(
    territory: Territory, module: Module, merged: Sequence[Module], known: AbstractSet[str], entries: Collection[str]
) -> Iterator[Drift]:
    taken = {w.name for later in _after(module, merged) for w in _wanted(later, "marker") if w.verb == "remove"}
    for marker in markers_of(module):
        if marker not in known and marker not in taken:
            path = _first(territory, module, entries)
            message = f"{module.id}: no source emits the marker {marker}"
            yield Drift(kind=DriftKind.MISSING_MARKER, message=message, path=path)


def _edges(territory: Territory, before: Graph, after: Graph) -> Iterator[Drift]:
    for name, scope in territory.planned.items():
        for use in new_undeclared(territory, name, scope, before, after):
            message = f"{name} came to depend on {use.target_module} ({use.source} -> {use.target}), undeclared"
            yield Drift(kind=DriftKind.UNPLANNED_EDGE, message=message, path=use.path, line=use.line)


def _wanted(module: Module, kind: str) -> Iterator[VerificationExpectation]:
    for line in module.expected_deltas.verification:
        try:
            wanted = parse_verification(line)
        except ValueError:
            continue  # the plan's own check has named it
        if wanted.kind == kind:
            yield wanted


def _after(module: Module, merged: Sequence[Module]) -> Sequence[Module]:
    return merged[list(merged).index(module) + 1 :]


def _taken_back(module: Module, merged: Sequence[Module], wanted: VerificationExpectation) -> bool:
    """Tell whether a later module of the plan removes what this one added."""
    later = (each for after in _after(module, merged) for each in _wanted(after, wanted.kind))
    return any(each.verb == "remove" and each.name == wanted.name for each in later)


def _first(territory: Territory, module: Module, paths: Collection[str], *, tests: bool = False) -> str:
    from controller.graph.excerpt import is_test

    files = sorted(territory.files(module.id, paths))
    return next((path for path in files if is_test(path) == tests), files[0] if files else "")
