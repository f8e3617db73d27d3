"""What others rely on: public names of a module that are gone while they are in use, and functions called otherwise."""

import re
from collections.abc import Iterable, Iterator

from controller.graph.levels import depends
from controller.graph.link import FileEdges, Linker
from controller.graph.model import Graph
from controller.graph.parameters import broken, parameters
from controller.graph.renames import Renames
from controller.graph.texts import Texts
from controller.graph.visibility import visible
from packets.deltas import GraphDelta
from packets.graph import EdgeKind, Node, NodeKind, SignatureChange, SurfaceUse
from packets.scope import Scope

Tree = tuple[Linker, Graph]
_CALLABLE = (NodeKind.FUNCTION, NodeKind.METHOD)
_MAKERS = ("__init__", "__new__", "constructor")
_USERS = 50
"""Places that are named of one symbol."""


def surface_in_use(
    scope: Scope, base: Tree, head: Tree, difference: tuple[GraphDelta, Renames], changed: Iterable[str]
) -> Iterator[SurfaceUse]:
    """Yield public names that went from the module's files while code outside still leads to them.

    `changed` are the files that differ between the trees: those outside the module are read anew, since they may have
    come to use what goes at the same time.
    """
    actual, renames = difference
    nodes = (base[1].nodes[each] for each in actual.nodes_removed if not each.startswith("ext:"))
    gone = {node.id: node for node in nodes if scope.matches(node.path)}
    if not gone:
        return
    others = [path for path in changed if not scope.matches(path)]
    users = {base[1].path_of(edge.source) for each in gone for edge in base[1].incoming.get(each, ())}
    candidates = sorted(path for path in {*users, *others} if path in head[0].facts and not scope.matches(path))
    before = _before(scope, base, head) if others else base[0]
    found: dict[str, set[tuple[str, int]]] = {}
    for path in candidates:
        used = before.file_edges(path)
        if any(edge.target in gone for edge in used.edges):
            lost = _lost(used, head[0].file_edges(path))
            for edge in used.edges:
                if edge.target in gone and edge.resolved and edge.line in lost and visible(gone[edge.target], path):
                    found.setdefault(edge.target, set()).add((path, edge.line))
    for symbol in sorted(found):
        places = tuple(f"{path}:{line}" for path, line in sorted(found[symbol])[:_USERS])
        yield SurfaceUse(symbol=symbol, users=places, now=renames.new_of.get(symbol, ""))


def _before(scope: Scope, base: Tree, head: Tree) -> Linker:
    """Link the head's other files against the module's files as they were: new users of an old name show, too."""
    outside = {path: facts for path, facts in head[0].facts.items() if not scope.matches(path)}
    inside = {path: facts for path, facts in base[0].facts.items() if scope.matches(path)}
    return Linker(dict(sorted({**outside, **inside}.items())))


def _lost(before: FileEdges, after: FileEdges) -> frozenset[int]:
    """Return the lines on which a name no longer leads where it led."""
    return frozenset(line for line, _ in after.holes - before.holes)


def signature_changes(scope: Scope, base: Graph, head: Graph, texts: Texts) -> Iterator[SignatureChange]:
    """Yield functions of the module that must be called otherwise than before, with the calls from outside."""
    for path in sorted(texts.changes):
        if path not in base.by_path or path not in head.by_path or not scope.matches(path):
            continue
        known = {node.id: node for node in base.by_path[path]}
        for node in head.by_path[path]:
            before = known.get(node.id)
            if before is not None and node.kind in _CALLABLE and before.signature != node.signature:
                for change in _changed(scope, head, before, node):
                    if not any(_overloaded(node, text[path]) for text in _both(path, texts) if path in text):
                        yield change


def _both(path: str, texts: Texts) -> tuple[dict[str, str], dict[str, str]]:
    return texts.before([path]), texts.after([path])


def _overloaded(node: Node, text: str) -> bool:
    """Tell whether a file defines a name more than once in one place: the graph keeps the first of them."""
    leaf = re.escape(node.name.rpartition(".")[2])
    headed = re.findall(rf"^([ \t]*)(?:[\w<>\[\]:*&,. \t]*[ \t*&])?{leaf}[ \t]*(?:<[^>\n]*>)?\(.*$", text, re.MULTILINE)
    own = text.split("\n")[node.line - 1 : node.line]
    indent = own[0][: len(own[0]) - len(own[0].lstrip())] if own else ""
    return headed.count(indent) > 1


def _changed(scope: Scope, head: Graph, before: Node, after: Node) -> Iterator[SignatureChange]:
    method = after.kind is NodeKind.METHOD
    old, new = (parameters(each.signature, after.path, method=method) for each in (before, after))
    why = broken(old, new) if old and new else ""
    users = list(_callers(scope, head, after)) if why else []
    if users:
        yield SignatureChange(
            symbol=after.id,
            before=before.signature,
            after=after.signature,
            why=why,
            path=after.path,
            line=after.line,
            users=tuple(f"{path}:{line}" for path, line in users[:_USERS]),
        )


def _callers(scope: Scope, head: Graph, node: Node) -> Iterator[tuple[str, int]]:
    """Return the calls from outside; whoever makes an object calls its constructor."""
    holder, _, leaf = node.id.rpartition(".")
    called = [node.id, holder] if leaf in _MAKERS else [node.id]
    edges = (edge for each in called for edge in head.incoming.get(each, ()))
    calls = ((head.path_of(e.source), e.line) for e in edges if depends(e) and e.kind is EdgeKind.CALLS)
    yield from sorted({call for call in calls if not scope.matches(call[0]) and visible(_seen(head, node), call[0])})


def _seen(head: Graph, node: Node) -> Node:
    """Return whose visibility counts: a constructor is seen where its class is."""
    holder, _, leaf = node.id.rpartition(".")
    return head.nodes.get(holder, node) if leaf in _MAKERS else node
