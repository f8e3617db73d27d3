"""One module between two trees: what was expected, what is claimed, what is so, and what came undeclared.

Looks at what differs and its neighbourhood: the module's own files, and who used what is gone.
"""

from collections.abc import Iterator

from controller.graph.crossings import new_guesses, new_undeclared
from controller.graph.expectations import Trees
from controller.graph.facing import facts
from controller.graph.levels import Uses, file_level, module_level
from controller.graph.link import Linker
from controller.graph.model import Graph, delta
from controller.graph.names import Names
from controller.graph.news import News
from controller.graph.packages import new_packages
from controller.graph.reach import within
from controller.graph.renames import renames
from controller.graph.surface import signature_changes, surface_in_use
from controller.graph.territory import Territory
from controller.graph.texts import Texts
from packets.deltas import GraphDelta, parse_graph
from packets.graph import Expectation, GraphReport, PackageUse
from packets.packet import ExecutionPacket
from packets.scope import Scope

_CLAIMS = 500
_NOTES = 20
Tree = tuple[Linker, Graph]


def compare(
    territory: Territory, packet: ExecutionPacket, *, base: Tree, head: Tree, claimed: GraphDelta, texts: Texts
) -> GraphReport:
    """Return the whole comparison for the module of the packet."""
    scope, module_id = Scope.parse(packet.write_scope), packet.module_id
    trees = Trees(Names(base[1], base[0], territory), Names(head[1], head[0], territory), scope)
    actual = delta(base[1], head[1])
    uses = Uses(base[1], territory), Uses(head[1], territory)
    files = file_level(actual, *uses)
    renamed = renames(actual, base[1], head[1], texts)
    expected = tuple(_expected(trees, line) for line in packet.expected_deltas.graph)
    claims = tuple(_claims(trees, actual, claimed))
    news = News(base, head, actual=actual, files=files, found=renamed)
    table, left = facts(trees, actual, news, expected, claims)
    return GraphReport(
        actual=actual,
        expected=expected,
        claimed=claims,
        undeclared=tuple(new_undeclared(territory, module_id, scope, base[1], head[1], linkers=(base[0], head[0]))),
        surface_in_use=tuple(surface_in_use(scope, base, head, (actual, renamed), texts.changes)),
        notes=tuple(_notes(territory, module_id, scope, base, head)),
        files=files,
        modules=module_level(files, *uses),
        renames=tuple(renamed.found),
        signatures=tuple(signature_changes(scope, base[1], head[1], texts)),
        packages=tuple(_unplanned(trees, expected, new_packages(scope, base, head, texts))),
        facts=table,
        facts_left=left,
    )


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


def _unplanned(trees: Trees, expected: tuple[Expectation, ...], found: Iterator[PackageUse]) -> Iterator[PackageUse]:
    """Leave out the packages that the plan expects the module to use."""
    wanted = [parse_graph(each.text) for each in expected if each.met]
    planned = {node for each in wanted for node in trees.ids(each, each.target) if node.startswith("ext:")}
    for each in found:
        ours = (f"ext:{each.package}", tuple(f"ext:{each.package}{mark}" for mark in "./:"))
        if not any(node == ours[0] or node.startswith(ours[1]) for node in planned):
            yield each


def _notes(territory: Territory, module_id: str, scope: Scope, base: Tree, head: Tree) -> Iterator[str]:
    for path in within(scope, head[0].facts):
        if line := head[0].facts[path].error_line:
            yield f"{path}:{line}: syntax error; the graph holds what can be read of this file"
    guesses = list(new_guesses(territory, module_id, scope, base[1], head[1]))
    for path, edge, owner in guesses[:_NOTES]:
        yield f"{path}:{edge.line}: a call that may be {edge.target} of {owner} (matched by name alone)"
