"""Code of one module that came to use another one which its plan entry does not name."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.reach import within
from controller.graph.territory import Territory
from packets.graph import Edge, EdgeKind, UndeclaredUse
from packets.scope import Scope

Crossing = tuple[Edge, str, str]
"""An edge, the file that it starts in, and the module that it leads to."""


def named_at(graph: Graph, edge: Edge) -> str:
    """Return the file that the code names: the one that re-exports what another defines."""
    return edge.via or graph.path_of(edge.target)


def new_undeclared(
    territory: Territory,
    module_id: str,
    scope: Scope,
    base: Graph,
    head: Graph,
    *,
    linkers: tuple[Linker, Linker] | None = None,
) -> Iterator[UndeclaredUse]:
    """Yield the first place of each new dependency of a file on a module that the plan entry does not name.

    With `linkers`, of base and head, also imports of whole packages of which no name is used.
    """
    sides, places = linkers or (None, None), base.differing(head)
    before = _Crossings(territory, module_id, scope, base, sides[0]).found(places)
    old = {(path, owner) for _, path, owner in before}
    seen: set[tuple[str, str]] = set()
    crossings = _Crossings(territory, module_id, scope, head, sides[1]).found(places)
    for edge, path, owner in sorted(crossings, key=lambda c: (c[1], c[2], c[0].line, c[0])):
        if (path, owner) in old or (path, owner) in seen:
            continue
        seen.add((path, owner))
        yield UndeclaredUse(
            source=edge.source,
            target=edge.target,
            target_module=owner,
            path=path,
            line=edge.line,
            depends_on=_entry(territory, module_id, owner),
        )


def new_guesses(
    territory: Territory, module_id: str, scope: Scope, base: Graph, head: Graph
) -> Iterator[tuple[str, Edge, str]]:
    """Yield (path, edge, module) for new calls that lead to such a module by their name alone."""
    places = base.differing(head)
    before = _Crossings(territory, module_id, scope, base, None).found(places, resolved=False)
    old = {(edge.source, edge.target) for edge, _, _ in before}
    for edge, path, owner in _Crossings(territory, module_id, scope, head, None).found(places, resolved=False):
        if (edge.source, edge.target) not in old:
            yield path, edge, owner


def _entry(territory: Territory, module_id: str, owner: str) -> tuple[str, ...]:
    """Return what the plan's entry would have to say; nothing where the other module waits for this one."""
    if owner in territory.planned and module_id in territory.before(owner):
        return ()
    return (*territory.declared(module_id), owner)


class _Crossings:
    """Looks at the edges that start in the module's files, and at nothing else."""

    def __init__(self, territory: Territory, module_id: str, scope: Scope, graph: Graph, linker: Linker | None) -> None:
        self.territory = territory
        self.allowed = {module_id, *territory.declared(module_id)}
        self.graph = graph
        self.linker = linker
        self.ours = frozenset(within(scope, graph.by_path))

    def found(self, places: AbstractSet[str] | None, *, resolved: bool = True) -> Iterator[Crossing]:
        """Yield the uses of modules that are not declared, in these files of ours; None: in all of them."""
        for path in sorted(self.ours if places is None else self.ours & places):
            edges = [e for node in self.graph.by_path[path] for e in self.graph.outgoing.get(node.id, ())]
            leaving = [edge for edge in edges if edge.resolved is resolved and self._leaves(edge)]
            crossing = [(edge, owner) for edge in leaving if (owner := self._owner(edge))]
            named = {owner for edge, owner in crossing if not resolved or self._named(path, edge)}
            yield from ((edge, path, owner) for edge, owner in crossing if owner in named)
            if resolved and self.linker:
                yield from self._packages(path, {named_at(self.graph, edge) for edge in leaving})

    def _named(self, path: str, edge: Edge) -> bool:
        """Tell whether the code names what it uses; what it is handed, or inherits, is up to who it has it from.

        A member is named where its class is: `Tax.rate()`, but not `self.rate()` nor `order.tax().rate()`.
        """
        node = self.graph.nodes.get(edge.target)
        if edge.kind is EdgeKind.IMPORTS or node is None or "." not in node.name:
            return True
        if self.linker is None:
            return False
        holder = node.name.split(".")[-2]
        chains = ((each.root, *each.attrs) for each in self.linker.facts[path].references if each.line == edge.line)
        return any(holder in chain[:-1] for chain in chains)

    def _leaves(self, edge: Edge) -> bool:
        if edge.kind is EdgeKind.DEFINES or edge.target.startswith("ext:"):
            return False
        return named_at(self.graph, edge) not in self.ours

    def _owner(self, edge: Edge) -> str:
        """Return the module that an edge leads to, if it is none that may be used."""
        owners = self.territory.owners
        found = owners(named_at(self.graph, edge)) or owners(self.graph.path_of(edge.target))
        return found[-1] if found and not self.allowed.intersection(found) else ""

    def _packages(self, path: str, used: set[str]) -> Iterator[Crossing]:
        """Yield imports of a whole package, of which nothing else shows: the package is what is used."""
        linker = self.linker
        if linker is None or path not in linker.facts:
            return
        for each in linker.facts[path].imports:
            place = linker.place(path, each.module)
            if place is None or not place.endswith("/"):
                continue
            family, _, folder = place.partition(":")
            members = linker.ecosystem(family).members(folder)
            if not members or used.intersection(members) or self.ours.intersection(members):
                continue
            owners = [owner for member in members for owner in self.territory.owners(member)]
            if owners and not self.allowed.intersection(owners) and len({*owners}) == 1:
                source = f"{path}::{each.scope}" if each.scope else path
                yield Edge(source, members[0], EdgeKind.IMPORTS, each.line), path, owners[-1]
