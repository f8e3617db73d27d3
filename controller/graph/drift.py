"""Where plan and tree drifted apart. Says it and what to do about it, and repairs nothing."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from controller.graph.language import kind_of
from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.territory import Territory
from packets.deltas import VerificationExpectation, parse_verification
from packets.graph import Edge, EdgeKind
from packets.plan import Module, Plan
from packets.refresh import Drift, DriftKind


@dataclass(frozen=True)
class Sight:
    """A tree beside its plan, and how much of it is looked at. Paths are readable text.

    `entries` are the paths of the tree, `scenarios` the ids that its tests have (`path::name`), `markers` those that
    its sources emit, `merged` the modules whose work is on it. Held against it are those in `held` (None: all that are
    merged, and the plan's map). `changed` are paths that differ from where the run began. `before` is the graph of an
    earlier tree, without it no edge is new; `gained` are the files that may have new edges since (None: any). `broken`
    says by file where a name leads nowhere any more: the line, the name, and what it led to.
    """

    plan: Plan
    graph: Graph
    entries: Collection[str]
    merged: AbstractSet[str]
    scenarios: AbstractSet[str] = frozenset()
    markers: AbstractSet[str] = frozenset()
    held: AbstractSet[str] | None = None
    changed: Sequence[str] = ()
    before: Graph | None = None
    gained: AbstractSet[str] | None = None
    broken: Mapping[str, Sequence[tuple[int, str, str]]] = field(default_factory=dict)


def drift(sight: Sight) -> tuple[Drift, ...]:
    """Return every drift, in plan order."""
    territory = Territory(sight.plan)
    merged = [module for module in sight.plan.modules() if module.id in sight.merged]
    held = [module for module in merged if sight.held is None or module.id in sight.held]
    found = [*_orphans(territory, held, sight)]
    for module in held:
        found += _stale(territory, module, sight.graph)
        found += _scenarios(territory, module, merged, sight)
        found += _markers(territory, module, merged, sight)
    return (*found, *_unplanned(territory, sight), *_edges(territory, held, sight), *_broken(territory, sight))


def markers_of(module: Module) -> tuple[str, ...]:
    """Return the markers that a module promises."""
    added = [wanted.name for wanted in _wanted(module, "marker") if wanted.verb == "add"]
    return tuple(dict.fromkeys([*module.verification.required_markers, *added]))


def scenarios_of(module: Module) -> tuple[str, ...]:
    """Return the scenarios that a module promises to be there."""
    return tuple(wanted.name for wanted in _wanted(module, "scenario") if wanted.verb != "remove")


def named(graph: Graph, path: str) -> Iterator[tuple[Edge, str]]:
    """Yield every dependency that starts in a file, with the file that the code names as its end."""
    for node in graph.by_path.get(path, ()):
        for edge in graph.outgoing.get(node.id, ()):
            if edge.kind is not EdgeKind.DEFINES and not edge.target.startswith("ext:"):
                yield edge, edge.via or graph.path_of(edge.target)


def broken(before: Linker, after: Linker, path: str) -> tuple[tuple[int, str, str], ...]:
    """Return (line, name as written, what it led to) of each name of an unchanged file that leads nowhere any more."""
    was, now = before.file_edges(path), after.file_edges(path)
    holes = sorted(now.holes - was.holes)
    ends = {edge.line: edge.target for edge in reversed(was.edges) if edge not in now.edges}
    return tuple((line, name.rpartition(":")[2] or name, ends[line]) for line, name in holes if line in ends)


def _orphans(territory: Territory, held: Sequence[Module], sight: Sight) -> Iterator[Drift]:
    near = {name for module in held for name in module.depends_on}
    mapped = [name for name in territory.mapped if sight.held is None or name in near]
    for name in [*mapped, *(module.id for module in held if module.id not in territory.mapped)]:
        if not territory.files(name, sight.entries):
            yield Drift(
                kind=DriftKind.ORPHAN_MODULE,
                message=f"{name} has no file: its scope matches nothing",
                path=territory.scopes[name].entries[0],
                module=name,
                todo=f"bring its files back; or, if they are meant to be gone, take {name} out of the plan",
            )


def _stale(territory: Territory, module: Module, graph: Graph) -> Iterator[Drift]:
    scope = territory.planned[module.id]
    paths = territory.files(module.id, graph.by_path)
    if not any(kind_of(path) != "file" for path in paths):
        return  # no source here that the graph can read
    ends = {target for path in paths for _, target in named(graph, path) if not scope.matches(target)}
    used = {owner for target in ends for owner in territory.owners(target)}
    for name in module.depends_on:
        if name not in used:
            yield Drift(
                kind=DriftKind.STALE_EDGE,
                message=f"{module.id} depends on {name} in the plan, but no code of it does",
                path=_first(territory, module, graph.by_path),
                module=module.id,
                subject=name,
                todo=f"take {name} out of its depends_on, unless it is there for the order",
                note=True,
            )


def _scenarios(territory: Territory, module: Module, merged: Sequence[Module], sight: Sight) -> Iterator[Drift]:
    from reviewer.names import meant_id

    for wanted in _wanted(module, "scenario"):
        if wanted.verb == "remove" or _taken_back(module, merged, wanted):
            continue
        if not any(meant_id(wanted.name, each) for each in sight.scenarios):
            yield Drift(
                kind=DriftKind.MISSING_SCENARIO,
                message=f"{module.id}: no test is the scenario {wanted.name}",
                path=_first(territory, module, sight.entries, tests=True),
                module=module.id,
                subject=wanted.name,
                todo=f"write the test {wanted.name}, or bring it back",
            )


def _markers(territory: Territory, module: Module, merged: Sequence[Module], sight: Sight) -> Iterator[Drift]:
    later = [w.name for each in _after(module, merged) for w in _wanted(each, "marker") if w.verb == "remove"]
    for marker in markers_of(module):
        if marker not in sight.markers and marker not in later:
            yield Drift(
                kind=DriftKind.MISSING_MARKER,
                message=f"{module.id}: no source emits the marker {marker}",
                path=_first(territory, module, sight.entries),
                module=module.id,
                subject=marker,
                todo=f"log {marker} in the code of {module.id}: no change of the plan makes up for it",
            )


def _unplanned(territory: Territory, sight: Sight) -> Iterator[Drift]:
    for path in sorted(sight.changed):
        if not any(scope.matches(path) for scope in territory.planned.values()):
            yield Drift(
                kind=DriftKind.UNPLANNED_FILE,
                message="changed, but in no module's write scope",
                path=path,
                subject=path,
                todo="take the change back, or add the file to the write_scope of the module that it belongs to",
            )


def _edges(territory: Territory, held: Sequence[Module], sight: Sight) -> Iterator[Drift]:
    """Yield the first place of each new dependency of a file on a module that the plan does not name there."""
    if sight.before is None:
        return
    for module in held:
        paths = territory.files(module.id, sight.graph.by_path)
        for path in (path for path in paths if sight.gained is None or path in sight.gained):
            old = {owner for _, owner in _crossings(territory, module, sight.before, path)}
            new: dict[str, Edge] = {}
            for edge, owner in sorted(
                _crossings(territory, module, sight.graph, path), key=lambda c: (c[0].line, c[0])
            ):
                if owner not in old:
                    new.setdefault(owner, edge)
            for owner, edge in sorted(new.items()):
                message = f"{module.id} came to depend on {owner} ({edge.source} -> {edge.target}), undeclared"
                yield Drift(
                    kind=DriftKind.UNPLANNED_EDGE,
                    message=message,
                    path=path,
                    line=edge.line,
                    module=module.id,
                    subject=owner,
                    todo=f"add {owner} to the depends_on of {module.id}, or have the code do without it",
                )


def _crossings(territory: Territory, module: Module, graph: Graph, path: str) -> Iterator[tuple[Edge, str]]:
    """Yield the edges of a file into a module that the plan does not name; those matched by name alone do not count."""
    allowed, scope = {module.id, *module.depends_on}, territory.planned[module.id]
    for edge, target in named(graph, path):
        if edge.resolved and not scope.matches(target):
            owners = territory.owners(target) or territory.owners(graph.path_of(edge.target))
            if owners and not allowed.intersection(owners):
                yield edge, owners[-1]


def _broken(territory: Territory, sight: Sight) -> Iterator[Drift]:
    for path, places in sorted(sight.broken.items()):
        for line, name, target in places:
            owner = next(iter(territory.owners(target.partition("::")[0])), "")
            yield Drift(
                kind=DriftKind.STALE_EDGE,
                message=f"names {name}, which leads nowhere any more: it was {target}",
                path=path,
                line=line,
                module=owner,
                subject=target,
                todo=f"bring {target} back, or change this line: no change of the plan makes up for it",
            )


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
