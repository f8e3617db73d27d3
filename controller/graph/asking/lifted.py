"""The graph seen from farther away: symbols, files, or modules (the plan's, or else the repository's folders)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from heapq import heapify, heappop, heappush

from controller.graph.language import kind_of
from controller.graph.model import Graph
from controller.graph.territory import Territory
from packets.graph import EdgeKind, NodeKind


class Level(StrEnum):
    """How near one looks."""

    MODULE = "module"
    FILE = "file"
    SYMBOL = "symbol"


@dataclass(frozen=True)
class Unit:
    """A node of a picture. `holds` counts the files (module) or symbols (file) in it; `line` is 0 but for symbols."""

    id: str
    kind: str
    label: str
    path: str = ""
    line: int = 0
    holds: int = 0


@dataclass(frozen=True)
class Arrow:
    """`count` edges lead from one unit to another; `kinds` says of which kinds, sorted."""

    source: str
    target: str
    count: int
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """Units by id and the arrows between them, both in a stable order."""

    level: Level
    units: Mapping[str, Unit]
    arrows: tuple[Arrow, ...]

    def drawn(self) -> "Picture":
        """Return it without files that nobody reads and nothing leads to: they say nothing in a drawing."""
        joined = {end for arrow in self.arrows for end in (arrow.source, arrow.target)}
        units = {
            key: unit
            for key, unit in self.units.items()
            if unit.kind != "file" or key in joined or kind_of(unit.path) != "file"
        }
        return Picture(self.level, units, self.arrows)

    def around(self, focus: Iterable[str], within: int) -> "Picture":
        """Return only what is at most so many arrows away from the focus, either way."""
        near: dict[str, set[str]] = defaultdict(set)
        for arrow in self.arrows:
            near[arrow.source].add(arrow.target)
            near[arrow.target].add(arrow.source)
        kept = frontier = set(focus) & self.units.keys()
        for _ in range(within):
            frontier = {each for node in frontier for each in near[node]} - kept
            kept = kept | frontier
        arrows = tuple(arrow for arrow in self.arrows if arrow.source in kept and arrow.target in kept)
        return Picture(self.level, {key: unit for key, unit in self.units.items() if key in kept}, arrows)


def picture(graph: Graph, level: Level, territory: Territory, *, third_party: bool = False, most: int = 40) -> Picture:
    """Lift the whole graph. `most` bounds the folders that stand for modules where the plan names none."""
    if level is Level.SYMBOL:
        unit_of: Callable[[str], str] = _itself
        units = {node.id: Unit(node.id, node.kind.value, node.name, node.path, node.line) for node in
                 graph.nodes.values() if node.kind is not NodeKind.EXTERNAL}  # fmt: skip
    elif level is Level.FILE:
        unit_of = graph.path_of
        units = {path: Unit(path, "file", path, path, holds=len(nodes) - 1) for path, nodes in graph.by_path.items()}
    else:
        homes = modules(graph, territory, most)
        unit_of = lambda node: homes.get(graph.path_of(node), "")  # noqa: E731 - one of three ways to say it
        counts = Counter(homes.values())
        units = {home: Unit(home, "module", home, holds=counts[home]) for home in counts}
    return _lift(graph, level, units, unit_of, third_party=third_party)


def _itself(node: str) -> str:
    return "" if node.startswith("ext:") else node


def _lift(
    graph: Graph, level: Level, units: dict[str, Unit], unit_of: Callable[[str], str], *, third_party: bool
) -> Picture:
    counts: Counter[tuple[str, str]] = Counter()
    kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for edge in graph.edges:
        if not edge.resolved or (edge.kind is EdgeKind.DEFINES and level is not Level.SYMBOL):
            continue
        source, target = unit_of(edge.source), unit_of(edge.target)
        if not target and third_party and edge.target.startswith("ext:"):
            target = edge.target
            units.setdefault(target, Unit(target, "external", target[4:]))
        if source and target and source != target:
            counts[source, target] += 1
            kinds[source, target].add(edge.kind.value)
    arrows = tuple(Arrow(*pair, counts[pair], tuple(sorted(kinds[pair]))) for pair in sorted(counts))
    return Picture(level, {key: units[key] for key in sorted(units)}, arrows)


def modules(graph: Graph, territory: Territory, most: int) -> dict[str, str]:
    """Return the module of each file: the plan's where one holds it, else a folder."""
    owned = {path: owners[-1] for path in graph.by_path if (owners := territory.owners(path))}
    return {**folders([path for path in graph.by_path if path not in owned], most), **owned}


def folders(paths: Iterable[str], most: int) -> dict[str, str]:
    """Give each path one of at most so many folders: the fullest is opened first, as long as its parts still fit."""
    inside: dict[str, list[str]] = {"": list(paths)}
    heap = [(-len(inside[""]), "")]
    heapify(heap)
    while heap:
        _, folder = heappop(heap)
        parts = _parts(folder, inside[folder])
        if len(inside) + len(parts) - 1 > most:
            continue
        del inside[folder]
        for part, held in parts.items():
            inside[part] = held
            if part != folder and part.endswith("/"):
                heappush(heap, (-len(held), part))
    return {path: folder or "./" for folder, held in inside.items() for path in held}


def _parts(folder: str, paths: list[str]) -> dict[str, list[str]]:
    """Split a folder into its own folders; files that lie in it directly stay with it."""
    parts: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        head, slash, _ = path[len(folder) :].partition("/")
        parts[f"{folder}{head}/" if slash else folder].append(path)
    return parts
