"""How far a level looks, and when what changed lies further away than that."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from controller.graph.model import Graph
from controller.graph.territory import Territory
from packets.graph import EdgeKind
from packets.refresh import RefreshLevel

Broken = Mapping[str, Sequence[tuple[int, str, str]]]
"""By file: where a name leads nowhere any more, the name, and what it led to."""


@dataclass(frozen=True)
class Reach:
    """`modules` are what the level is about, `near` those with code that uses theirs; `paths` None: everything."""

    level: RefreshLevel
    modules: tuple[str, ...]
    near: tuple[str, ...] = ()
    paths: frozenset[str] | None = None

    def holds(self, path: str) -> bool:
        """Tell whether the level looks at a file."""
        return self.paths is None or path in self.paths

    @property
    def held(self) -> frozenset[str] | None:
        """Return the modules whose part of the plan is set beside the tree; None: all."""
        return None if self.paths is None else frozenset((*self.modules, *self.near))


def reach_of(
    level: RefreshLevel,
    territory: Territory,
    modules: Iterable[str],
    graphs: Iterable[Graph],
    merged: AbstractSet[str],
) -> Reach:
    """Return the files of these modules and those that use them directly, in any of the graphs.

    A module is near that has such a file, or that says in the plan that it depends on one of these.
    """
    names = tuple(modules)
    if level in {RefreshLevel.PHASE, RefreshLevel.FULL}:
        return Reach(level, names)
    own, users = set[str](), set[str]()
    for graph in graphs:
        here = {path for name in names for path in territory.files(name, graph.by_path)}
        own |= here
        users |= set(_users(graph, here))
    using = {owner for path in users for owner in territory.owners(path)}
    saying = {m.id for m in territory.plan.modules() if not set(names).isdisjoint(m.depends_on)}
    near = tuple(m for m in territory.planned if m in (using | saying) & merged and m not in names)
    return Reach(level, names, near, frozenset(own | users))


def _users(graph: Graph, own: AbstractSet[str]) -> Iterator[str]:
    """Yield the files whose code names one of these; who gets a name of theirs by way of another file does not."""
    for path in own:
        for node in graph.by_path[path]:
            for edge in graph.incoming.get(node.id, ()):
                if edge.kind is not EdgeKind.DEFINES and edge.resolved and (edge.via or path) in own:
                    yield graph.path_of(edge.source)


def further(reach: Reach, strays: Iterable[str], broken: Broken) -> str:
    """Say what lies further away than the level looks; empty when nothing does."""
    if reach.paths is None:
        return ""
    said = [
        f"{path} changed, which is neither of {_who(reach)} nor uses it"
        for path in sorted(strays)
        if not reach.holds(path)
    ]
    said += [
        f"{path}:{line} names {name}, which leads nowhere any more, and is no direct dependent of {_who(reach)}"
        for path, places in sorted(broken.items())
        if not reach.holds(path)
        for line, name, _ in places
    ]
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    return said[0] + more if said else ""


def _who(reach: Reach) -> str:
    return ", ".join(reach.modules) or "any module"
