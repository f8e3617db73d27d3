"""What one worker should know of the code around its module: what it stands on, and who stands on it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from controller.graph.model import Graph
from controller.graph.territory import Territory
from packets.graph import EdgeKind, Node, NodeKind
from packets.packet import Dependent, GraphExcerpt, Surface
from packets.plan import Module

BUDGET = 24_000
"""Characters, about 6,000 tokens, of surface and dependents together."""

_FOR_DEPENDENTS = BUDGET // 4
_NAMES = 60
_FRAME = 40
"""Characters that YAML puts around one entry."""

_Entry = TypeVar("_Entry", Surface, Dependent)


def excerpt(graph: Graph, territory: Territory, module: Module) -> GraphExcerpt:
    """Return the neighbourhood of a module, nearest first, within the budget."""
    ours = frozenset(territory.files(module.id, graph.by_path))
    used = _used(graph, ours)
    names = tuple(dict.fromkeys([*module.depends_on, *(node.name.partition(".")[0] for node in used)]))
    dependents = tuple(_bounded(_dependents(graph, ours), _FOR_DEPENDENTS))
    left = BUDGET - sum(_size(each) for each in dependents)
    near = dict.fromkeys([*used, *_declared(graph, territory, module, ours)])
    return GraphExcerpt(
        depends_on=names[: max(_NAMES, len(module.depends_on))],
        surface=tuple(_bounded((_surface(node) for node in near), left)),
        dependents=dependents,
    )


def _used(graph: Graph, ours: frozenset[str]) -> list[Node]:
    """Return the symbols outside the scope that the module's files use now, the most used first."""
    counts: Counter[str] = Counter()
    for path in ours:
        for node in graph.by_path[path]:
            for edge in graph.outgoing.get(node.id, ()):
                if edge.resolved and edge.kind is not EdgeKind.DEFINES:
                    counts[edge.target] += 1
    outside = [graph.nodes[target] for target in counts if "::" in target and graph.path_of(target) not in ours]
    return sorted(outside, key=lambda node: (-counts[node.id], node.path, node.line, node.id))


def _declared(graph: Graph, territory: Territory, module: Module, ours: frozenset[str]) -> Iterator[Node]:
    """Yield the public surface of the modules that this one may depend on."""
    for name in module.depends_on:
        if name not in territory.scopes:
            continue
        for path in territory.files(name, sorted(graph.by_path)):
            if path not in ours and not is_test(path):
                yield from (node for node in graph.by_path[path] if _is_public(node))


def _dependents(graph: Graph, ours: frozenset[str]) -> Iterator[Dependent]:
    """Yield who uses the module, each once: symbols first, then files that only import it."""
    lines: dict[str, int] = {}
    for path in ours:
        for node in graph.by_path[path]:
            for edge in graph.incoming.get(node.id, ()):
                if edge.resolved and graph.path_of(edge.source) not in ours:
                    lines[edge.source] = min(edge.line, lines.get(edge.source, edge.line))
    named = {graph.path_of(source) for source in lines if "::" in source}
    for source in sorted(lines, key=lambda each: ("::" not in each, graph.path_of(each), lines[each], each)):
        if "::" in source or source not in named:
            yield Dependent(symbol=graph.nodes[source].name, at=f"{graph.path_of(source)}:{lines[source]}")


def _surface(node: Node) -> Surface:
    return Surface(symbol=node.name, at=f"{node.path}:{node.line}", signature=node.signature)


def _is_public(node: Node) -> bool:
    parts = node.name.split(".")
    return node.kind is not NodeKind.FILE and not any(part.startswith("_") and part != "__init__" for part in parts)


def is_test(path: str) -> bool:
    """Tell test files from sources by their name and folder."""
    name = path.rpartition("/")[2]
    return name.startswith("test_") or "/tests/" in f"/{path}" or name in ("conftest.py", "tests.py")


def _size(each: Surface | Dependent) -> int:
    signature = each.signature if isinstance(each, Surface) else ""
    return len(each.symbol) + len(each.at) + len(signature) + _FRAME


def _bounded(entries: Iterable[_Entry], budget: int) -> Iterator[_Entry]:
    for each in entries:
        budget -= _size(each)
        if budget < 0:
            return
        yield each
