"""One module between two trees: what was expected, what is claimed, what is so, and what came undeclared."""

from collections.abc import Iterator

from controller.graph.expectations import Trees
from controller.graph.link import FileEdges, Linker
from controller.graph.model import Graph, delta
from controller.graph.names import Names
from controller.graph.territory import Territory
from packets.deltas import GraphDelta, parse_graph
from packets.graph import Edge, EdgeKind, Expectation, GraphReport, Node, NodeKind, SurfaceUse, UndeclaredUse
from packets.packet import ExecutionPacket
from packets.scope import Scope

_CLAIMS = 500
_NOTES = 20
Tree = tuple[Linker, Graph]


def compare(
    territory: Territory, packet: ExecutionPacket, *, base: Tree, head: Tree, claimed: GraphDelta
) -> GraphReport:
    """Return the whole comparison for the module of the packet."""
    scope = Scope.parse(packet.write_scope)
    trees = Trees(Names(base[1], base[0], territory), Names(head[1], head[0], territory), scope)
    actual = delta(base[1], head[1])
    undeclared = tuple(new_undeclared(territory, packet.module_id, scope, base[1], head[1]))
    return GraphReport(
        actual=actual,
        expected=tuple(_expected(trees, line) for line in packet.expected_deltas.graph),
        claimed=tuple(_claims(trees, actual, claimed)),
        undeclared=undeclared,
        surface_in_use=tuple(_surface(scope, base, head)),
        notes=tuple(_notes(territory, packet, scope, base, head)),
    )


def dependencies(graph: Graph) -> Iterator[tuple[Edge, str, str]]:
    """Yield every dependency inside the repository with the paths of its two ends; the end is what the code names."""
    for edge in graph.edges:
        if edge.kind is not EdgeKind.DEFINES and not edge.target.startswith("ext:"):
            yield edge, graph.path_of(edge.source), edge.via or graph.path_of(edge.target)


def _expected(trees: Trees, line: str) -> Expectation:
    try:
        return trees.judge(parse_graph(line))
    except ValueError as fault:
        return Expectation(text=line, met=False, reason=str(fault))


def _claims(trees: Trees, actual: GraphDelta, claimed: GraphDelta) -> Iterator[Expectation]:
    groups = (
        ("add {}", claimed.nodes_added, actual.nodes_added),
        ("remove {}", claimed.nodes_removed, actual.nodes_removed),
        ("{}", claimed.edges_added, actual.edges_added),
        ("not {}", claimed.edges_removed, actual.edges_removed),
    )
    for form, lines, shown in groups:
        known = frozenset(shown)
        for line in lines[:_CLAIMS]:
            text = form.format(line)
            yield Expectation(text=text, met=True) if line in known else _expected(trees, text)


def new_undeclared(
    territory: Territory, module_id: str, scope: Scope, base: Graph, head: Graph
) -> Iterator[UndeclaredUse]:
    """Yield the first place of each new dependency of a file on a module that the plan entry does not name."""
    old = {(path, owner) for _, path, owner in _crossings(territory, module_id, scope, base, resolved=True)}
    seen: set[tuple[str, str]] = set()
    crossings = _crossings(territory, module_id, scope, head, resolved=True)
    for edge, path, owner in sorted(crossings, key=lambda c: (c[1], c[2], c[0].line, c[0])):
        if (path, owner) in old or (path, owner) in seen:
            continue
        seen.add((path, owner))
        yield UndeclaredUse(source=edge.source, target=edge.target, target_module=owner, path=path, line=edge.line)


def _crossings(
    territory: Territory, module_id: str, scope: Scope, graph: Graph, *, resolved: bool
) -> Iterator[tuple[Edge, str, str]]:
    """Yield (edge, path, module) for code of this module that uses a module which it does not declare."""
    allowed = {module_id, *territory.declared(module_id)}
    ours = {path for path in graph.by_path if scope.matches(path)}
    for edge, path, target in dependencies(graph):
        if path not in ours or target in ours or edge.resolved != resolved:
            continue
        owners = territory.owners(target) or territory.owners(graph.path_of(edge.target))
        if owners and not allowed.intersection(owners):
            yield edge, path, owners[-1]


def _surface(scope: Scope, base: Tree, head: Tree) -> Iterator[SurfaceUse]:
    """Yield public names that went from the module's files while code outside still leads to them."""
    gone = {
        node.id
        for node in base[1].nodes.values()
        if node.id not in head[1].nodes and _public(node) and scope.matches(node.path)
    }
    if not gone:
        return
    users: dict[str, set[tuple[str, int]]] = {}
    before = _before(scope, base, head)
    for path in head[1].by_path:
        if scope.matches(path):
            continue
        used = before.file_edges(path)
        if any(edge.target in gone for edge in used.edges):
            broken = _broken(used, head[0].file_edges(path))
            for edge in used.edges:
                if edge.target in gone and edge.resolved and edge.line in broken:
                    users.setdefault(edge.target, set()).add((path, edge.line))
    for symbol in sorted(users):
        yield SurfaceUse(symbol=symbol, users=tuple(f"{path}:{line}" for path, line in sorted(users[symbol])))


def _before(scope: Scope, base: Tree, head: Tree) -> Linker:
    """Link the head's other files against the module's files as they were: new users of an old name show, too."""
    outside = {path: facts for path, facts in head[0].facts.items() if not scope.matches(path)}
    if all(base[0].facts.get(path) is facts for path, facts in outside.items()) and len(outside) == sum(
        not scope.matches(path) for path in base[0].facts
    ):
        return base[0]
    inside = {path: facts for path, facts in base[0].facts.items() if scope.matches(path)}
    return Linker(dict(sorted({**outside, **inside}.items())))


def _broken(before: FileEdges, after: FileEdges) -> frozenset[int]:
    """Return the lines on which a name no longer leads where it led."""
    return frozenset(line for line, _ in after.holes - before.holes)


def _public(node: Node) -> bool:
    if node.kind in (NodeKind.FILE, NodeKind.EXTERNAL):
        return node.kind is NodeKind.FILE
    return not any(part.startswith("_") for part in node.name.split("."))


def _notes(territory: Territory, packet: ExecutionPacket, scope: Scope, base: Tree, head: Tree) -> Iterator[str]:
    for path, facts in head[0].facts.items():
        if facts.error_line and scope.matches(path):
            yield f"{path}:{facts.error_line}: syntax error; the graph holds what can be read of this file"
    old = {(e.source, e.target) for e, _, _ in _crossings(territory, packet.module_id, scope, base[1], resolved=False)}
    guessed = _crossings(territory, packet.module_id, scope, head[1], resolved=False)
    new = [(path, edge, owner) for edge, path, owner in guessed if (edge.source, edge.target) not in old]
    for path, edge, owner in new[:_NOTES]:
        yield f"{path}:{edge.line}: a call that may be {edge.target} of {owner} (matched by name alone)"
