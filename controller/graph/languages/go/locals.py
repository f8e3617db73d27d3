"""Locals of Go functions, with what their types or values tell of them."""

from typing import TYPE_CHECKING

from controller.graph.languages.blocks import Scope, Told
from controller.graph.languages.go.text import Reader
from controller.graph.languages.go.types import element, first_named, leftmost, text, type_told

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 20
_FUNCTIONS = ("function_declaration", "method_declaration", "func_literal")
_CHAINED = ("identifier", "selector_expression", "call_expression", "index_expression", "slice_expression")


class Locals:
    """Binds parameters and variables; the names themselves are noted in `names`, as no uses."""

    def __init__(self, reader: Reader, names: set[int]) -> None:
        self.reader = reader
        self.names = names

    def values(self, names: "list[Node]", node: "Node", right: str = "value") -> list[Told | None]:
        """Return what is known of the names on the left by a type or by the values on the right."""
        if written := node.child_by_field_name("type"):
            return [type_told(written)] * len(names)
        values = node.child_by_field_name(right)
        each = values.named_children if values and values.type == "expression_list" else [values] if values else []
        if len(each) == len(names):
            return [self.value(value) for value in each]
        first = self.value(each[0]) if len(each) == 1 else None
        if first and first.chain[-1] == "()":
            return [first._replace(chain=(*first.chain[:-1], f"(){at or ''}")) for at in range(len(names))]
        return [first, *[None] * len(names)][: len(names)]

    def value(self, node: "Node", depth: int = 0) -> Told | None:
        """Return what an expression tells of its type."""
        kind = node.type
        if depth > _DEEPEST:
            return None
        if kind in ("composite_literal", "type_assertion_expression", "type_conversion_expression"):
            return type_told(node.child_by_field_name("type"))
        if kind in ("unary_expression", "parenthesized_expression"):
            inner = first_named(node)
            told = self.value(inner, depth + 1) if inner else None
            operator = node.children[0].type
            return element(told) if operator == "<-" else told if operator in ("&", "*", "(") else None
        if kind not in _CHAINED:
            return None
        first = leftmost(node)
        if first.type != "identifier" or first.start_byte != node.start_byte:
            return None
        chain, end = self.reader.chain(first.start_byte, first.end_byte)
        if chain[:2] == ("new", "()") and (arguments := node.child_by_field_name("arguments")):
            return type_told(first_named(arguments))
        return Told(chain, bare=False) if end == node.end_byte else None

    def short(self, node: "Node", scope: Scope) -> None:
        """Bind what `:=` declares, from its end on."""
        left = node.child_by_field_name("left")
        names = left.named_children if left else []
        told = self.values(names, node, "right")
        for name, each in zip(names, told, strict=True):
            if name.type == "identifier" and (node.type == "short_var_declaration" or self._declares(node)):
                self.names.add(name.start_byte)
                scope.bind(text(name), node.end_byte, each, node.start_byte)

    def _declares(self, node: "Node") -> bool:
        return any(child.type == ":=" for child in node.children)

    def range_(self, node: "Node", scope: Scope) -> None:
        """Bind what a `for` goes through."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or not self._declares(node):
            return
        for at, name in enumerate(left.named_children):
            if name.type == "identifier":
                self.names.add(name.start_byte)
                told = element(self.value(right)) if at else None
                scope.bind(text(name), node.end_byte, told, node.start_byte)

    def parameter(self, node: "Node", scope: Scope) -> None:
        """Bind the parameters of a function, for all of it."""
        names = node.children_by_field_name("name")
        self.names |= {name.start_byte for name in names}
        around = node.parent.parent if node.parent else None
        if around is None or around.type not in _FUNCTIONS:
            return
        told = type_told(node.child_by_field_name("type"))
        if told and node.type == "variadic_parameter_declaration":
            told = told._replace(mark="[]" + told.mark)
        for name in names:
            scope.bind(text(name), around.start_byte, told)

    def opaque(self, node: "Node", scope: Scope) -> None:
        """Note a type parameter with its constraint."""
        bound = type_told(first_named(node.child_by_field_name("type")))
        for name in node.children_by_field_name("name"):
            self.names.add(name.start_byte)
            scope.opaque[text(name)] = bound.chain if bound and not bound.mark else None
