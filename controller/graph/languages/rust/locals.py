"""Locals of Rust functions, with what their types or values tell of them."""

from typing import TYPE_CHECKING

from controller.graph.languages.blocks import Chain, Scope, Told
from controller.graph.languages.rust.patterns import bound
from controller.graph.languages.rust.text import Reader
from controller.graph.languages.rust.types import leftmost, text, type_told

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 20
_CHAINED = frozenset({
    "identifier", "self", "scoped_identifier", "call_expression", "field_expression", "try_expression",
    "await_expression", "index_expression", "generic_function",
})  # fmt: skip


class Locals:
    """Binds what patterns and parameters bind; the names themselves are noted in `names`, as no uses."""

    def __init__(self, reader: Reader, names: set[int]) -> None:
        self.reader = reader
        self.names = names

    def opaque(self, node: "Node", scope: Scope) -> None:
        """Note a type parameter with its first bound."""
        name = node.child_by_field_name("name")
        if name:
            self.names.add(name.start_byte)
            scope.opaque[text(name)] = self._bound(node)

    def where(self, node: "Node", scope: Scope) -> None:
        """Note the bound of a type parameter that stands behind `where`."""
        left = text(node.child_by_field_name("left"))
        if left in scope.opaque and scope.opaque[left] is None:
            scope.opaque[left] = self._bound(node)

    def _bound(self, node: "Node") -> Chain | None:
        """Return the first bound of a type parameter."""
        bounds = node.child_by_field_name("bounds")
        found = (type_told(each) for each in (bounds.named_children if bounds else ()))
        return next((each.chain for each in found if each and not each.mark), None)

    def _bind(self, scope: Scope, pattern: "Node | None", told: Told | None, since: int, at: int) -> None:
        for name, each in bound(pattern, told):
            self.names.add(name.start_byte)
            scope.bind(text(name), since, each, at)

    def let(self, node: "Node", scope: Scope) -> None:
        """Bind from the end of a `let` on."""
        written = node.child_by_field_name("type")
        told = type_told(written) if written else self.value(node.child_by_field_name("value"))
        self._bind(scope, node.child_by_field_name("pattern"), told, node.end_byte, node.start_byte)

    def condition(self, node: "Node", scope: Scope) -> None:
        """Bind in `if let` and `while let`."""
        told = self.value(node.child_by_field_name("value"))
        self._bind(scope, node.child_by_field_name("pattern"), told, node.end_byte, node.start_byte)

    def parameter(self, node: "Node", scope: Scope) -> None:
        """Bind the parameters of a function or a closure, for all of it."""
        if scope.kind == "function" or (
            scope.kind == "block" and node.parent and node.parent.type == "closure_parameters"
        ):
            told = type_told(node.child_by_field_name("type"))
            self._bind(scope, node.child_by_field_name("pattern"), told, scope.start, scope.start)

    def self_parameter(self, node: "Node", scope: Scope) -> None:
        """Bind `self`."""
        self.names |= {each.start_byte for each in node.children if each.type == "self"}
        if scope.kind == "function":
            scope.bind("self", scope.start, Told(("Self",)))

    def closure(self, node: "Node", scope: Scope) -> None:
        """Bind the parameters of a closure that have no type."""
        for each in node.named_children:
            if each.type != "parameter":
                self._bind(scope, each, None, scope.start, scope.start)

    def match(self, node: "Node", scope: Scope) -> None:
        """Bind in one arm of a `match`."""
        match = node.parent.parent.parent if node.parent and node.parent.parent else None
        told = self.value(match.child_by_field_name("value")) if match else None
        self._bind(scope, node, told, scope.start, match.start_byte if match else scope.start)

    def loop(self, node: "Node", scope: Scope) -> None:
        """Bind what a `for` goes through."""
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        told = self.value(value)
        chain = told.of("[]") if told else None
        inner = Told(chain, "", told.bare) if told and chain else None
        since = body.start_byte if body else node.end_byte
        self._bind(scope, node.child_by_field_name("pattern"), inner, since, node.start_byte)

    def value(self, node: "Node | None", depth: int = 0) -> Told | None:
        """Return what an expression tells of its type."""
        if node is None or depth > _DEEPEST:
            return None
        if node.type in ("reference_expression", "unary_expression", "parenthesized_expression"):
            children = node.named_children
            return self.value(children[-1] if children else None, depth + 1)
        if node.type == "struct_expression":
            return type_told(node.child_by_field_name("name"))
        if node.type == "type_cast_expression":
            return type_told(node.child_by_field_name("type"))
        first = leftmost(node) if node.type in _CHAINED else None
        if first is None or first.type not in ("identifier", "type_identifier", "self", "super", "crate"):
            return None
        read = self.reader.chain(first.start_byte, first.end_byte)
        bare = read.path or (read.chain != () and read.chain[0][:1].isupper())
        return Told(read.chain, "", bare) if read.chain and read.end == node.end_byte else None
