"""What Go writes as a type or as a value, read as the dotted name that says what members it has."""

from typing import TYPE_CHECKING

from controller.graph.languages.blocks import Told

if TYPE_CHECKING:
    from tree_sitter import Node

_ELEMENTS = {"slice_type": "element", "array_type": "element", "map_type": "value", "channel_type": "value"}
_DEEPEST = 20


def type_told(node: "Node | None", depth: int = 0) -> Told | None:
    """Return the named type that a type is, points to, or has elements of; None for the rest."""
    if node is None or depth > _DEEPEST:
        return None
    kind = node.type
    if kind == "type_identifier":
        return Told((text(node),))
    if kind == "qualified_type":
        package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
        return Told((text(package), text(name))) if package and name else None
    if kind == "generic_type":
        return type_told(node.child_by_field_name("type"), depth + 1)
    if kind in ("pointer_type", "parenthesized_type", "type_elem"):
        return type_told(first_named(node), depth + 1) if node.named_child_count == 1 else None
    if kind in ("implicit_length_array_type", *_ELEMENTS):
        inner = type_told(node.child_by_field_name(_ELEMENTS.get(kind, "element")), depth + 1)
        return inner._replace(mark="[]" + inner.mark) if inner else None
    return None


def element(told: Told | None) -> Told | None:
    """Return what is known of an element."""
    chain = told.of("[]") if told else None
    return Told(chain, "", told.bare) if told and chain else None


def results(node: "Node | None") -> list[Told | None]:
    """Return the types of a function's results."""
    if node is None:
        return []
    if node.type != "parameter_list":
        return [type_told(node)]
    found: list[Told | None] = []
    for each in node.named_children:
        if each.type == "parameter_declaration":
            names = each.children_by_field_name("name")
            found += [type_told(each.child_by_field_name("type"))] * max(1, len(names))
    return found


def base_name(node: "Node | None") -> str:
    """Return the name of a receiver's type."""
    told = type_told(node)
    return told.chain[-1] if told and not told.mark and len(told.chain) == 1 else ""


def leftmost(node: "Node") -> "Node":
    """Return the name with which an expression begins, or what else stands there."""
    while node.type not in ("identifier", "composite_literal", "func_literal") and (children := node.children):
        node = children[0]
    return node


def leftmost_name(node: "Node") -> "Node":
    """Return the first name of a type."""
    while children := node.named_children:
        node = children[0]
    return node


def first_named(node: "Node | None") -> "Node | None":
    """Return the first child that is no mere token."""
    children = node.named_children if node else ()
    return children[0] if children else None


def text(node: "Node | None") -> str:
    """Return what stands at a node."""
    return node.text.decode("utf-8", "replace") if node and node.text else ""
