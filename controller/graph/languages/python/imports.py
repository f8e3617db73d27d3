"""Import statements of Python, read from their syntax nodes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from controller.graph.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node


def read_import(node: "Node", source: bytes, scope: str) -> Iterator[Import]:
    """Yield every name that one statement binds."""
    line = node.start_point.row + 1
    if node.type == "import_statement":
        for part in node.named_children:
            yield from _plain(part, source, scope, line)
    elif node.type == "import_from_statement":
        origin = node.child_by_field_name("module_name")
        if origin is None:
            return
        module = _dotted(origin, source)
        for part in node.named_children:
            if part.type == "wildcard_import":
                yield Import(scope, "*", module, "*", module, line)
        for part in node.children_by_field_name("name"):
            yield from _from(part, source, scope, module)


def _plain(part: "Node", source: bytes, scope: str, line: int) -> Iterator[Import]:
    if part.type == "dotted_name":
        module = _dotted(part, source)
        top = module.partition(".")[0]
        yield Import(scope, top, module, "", top, line)
    elif part.type == "aliased_import":
        name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
        if name and alias:
            module = _dotted(name, source)
            yield Import(scope, _dotted(alias, source), module, "", module, line)


def _from(part: "Node", source: bytes, scope: str, module: str) -> Iterator[Import]:
    line = part.start_point.row + 1
    if part.type == "dotted_name":
        symbol = _dotted(part, source)
        yield Import(scope, symbol, module, symbol, module, line)
    elif part.type == "aliased_import":
        name, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
        if name and alias:
            yield Import(scope, _dotted(alias, source), module, _dotted(name, source), module, line)


def _dotted(node: "Node", source: bytes) -> str:
    return "".join(source[node.start_byte : node.end_byte].decode("utf-8", "replace").split()).replace("\\", "")
