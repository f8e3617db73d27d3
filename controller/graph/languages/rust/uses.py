"""The trees of `use` statements, flattened."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from controller.graph.languages.rust.types import path, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 2_000


class Used(NamedTuple):
    """One name: its whole path, what it is called here, `*` for everything beneath; at which line."""

    names: tuple[str, ...]
    bound: str
    line: int


def flattened(node: "Node | None") -> list[Used]:
    """Return the names of one tree, in order."""
    todo: list[tuple[Node, tuple[str, ...]]] = [(node, ())] if node else []
    found: list[Used] = []
    while todo and len(found) < _MOST:
        at, before = todo.pop()
        if at.type in ("scoped_use_list", "use_list"):
            inner = at.child_by_field_name("list") if at.type == "scoped_use_list" else at
            above = at.child_by_field_name("path") if at.type == "scoped_use_list" else None
            names = (*before, *(path(above) if above else ()))
            todo += [(each, names) for each in reversed(inner.named_children if inner else [])]
        else:
            found += _leaf(at, before)
    return found


def _leaf(node: "Node", before: tuple[str, ...]) -> Iterator[Used]:
    line = node.start_point.row + 1
    if node.type == "use_wildcard":
        inner = node.named_children[0] if node.named_children else None
        yield Used((*before, *(path(inner) if inner else ())), "*", line)
        return
    alias = ""
    at: Node | None = node
    if node.type == "use_as_clause":
        at, alias = node.child_by_field_name("path"), text(node.child_by_field_name("alias"))
    names = (*before, *(path(at) if at else ()))
    if names[-1:] == ("self",) and len(names) > 1:
        names = names[:-1]
    if names:
        yield Used(names, alias or names[-1], line)
