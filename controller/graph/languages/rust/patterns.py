"""What the patterns of Rust bind, and what they tell of its type."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from controller.graph.languages.blocks import Told
from controller.graph.languages.rust.names import HOLDING
from controller.graph.languages.rust.types import text

if TYPE_CHECKING:
    from tree_sitter import Node

_NOT_INSIDE = frozenset(
    {"scoped_identifier", "scoped_type_identifier", "generic_type", "macro_invocation", "type_identifier"}
)
_DEEPEST = 50


def bound(pattern: "Node | None", told: Told | None, depth: int = 0) -> "Iterator[tuple[Node, Told | None]]":
    """Yield each name that a pattern binds, with what is known of it where the whole is known."""
    if pattern is None or depth > _DEEPEST or pattern.type in _NOT_INSIDE:
        return
    if pattern.type in ("identifier", "shorthand_field_identifier"):
        if not text(pattern)[:1].isupper():
            yield pattern, told
        return
    skipped = {pattern.child_by_field_name(field) for field in ("type", "condition")}
    if pattern.type == "field_pattern" and pattern.child_by_field_name("pattern"):
        skipped.add(pattern.child_by_field_name("name"))
    inside = [each for each in pattern.named_children if each not in skipped]
    known = _inner(pattern, told) if len(inside) == 1 or pattern.type in _WRAPPERS else None
    for each in inside:
        yield from bound(each, known, depth + 1)


_WRAPPERS = frozenset({"match_pattern", "mut_pattern", "ref_pattern", "reference_pattern", "captured_pattern"})


def _inner(pattern: "Node", told: Told | None) -> Told | None:
    if pattern.type in _WRAPPERS:
        return told
    if pattern.type == "tuple_struct_pattern" and text(pattern.child_by_field_name("type")) in HOLDING:
        chain = told.of("?") if told else None
        return Told(chain, "", told.bare) if told and chain else None
    return None
