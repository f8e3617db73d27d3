"""Names in C and C++ syntax nodes: what a declarator declares, dotted names of types and expressions."""

import re
from typing import TYPE_CHECKING, NamedTuple

from controller.graph.languages.typed import Chain

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 12
"""Wrappings of a declarator, parts of a chain."""

_NAMES = ("identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name",
          "operator_name", "operator_cast", "template_function", "template_method")  # fmt: skip
_GENERIC = re.compile(r"<[^<>]*>")
_PART = re.compile(r"~?[^\W\d]\w*\Z")
_OPERATOR = re.compile(r"\boperator\b")
_SMART = frozenset(("unique_ptr", "shared_ptr", "weak_ptr", "optional", "scoped_refptr", "reference_wrapper"))
"""Templates that stand for what is in them: `p->go()` is a call on it."""

_MAKERS = frozenset(("make_unique", "make_shared", "static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"))


class Declared(NamedTuple):
    """A name as declared. `function` tells it from a variable, be it one that points to a function."""

    chain: Chain
    node: "Node"
    function: bool


class Names:
    """Reads names of one file."""

    def __init__(self, source: bytes) -> None:
        self.source = source

    def text(self, node: "Node") -> str:
        """Return what stands at a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def declared(self, declarator: "Node | None") -> Declared | None:
        """Return what a declarator declares: under pointers, arrays, parentheses, initialisers."""
        function = False
        node = declarator
        for _ in range(_LONGEST):
            if node is None:
                return None
            if node.type in _NAMES:
                chain = self.dotted(node)
                return Declared(chain, node, function or chain[-1].startswith("operator ")) if chain else None
            if node.type != "parenthesized_declarator":
                function = node.type == "function_declarator"
            inner = node.child_by_field_name("declarator")
            node = inner or next((each for each in node.named_children if each.type.endswith(_ENDS)), None)
        return None

    def dotted(self, node: "Node") -> Chain | None:
        """Return a name with what qualifies it, type arguments dropped."""
        text = self.text(node)
        if text.isidentifier():
            return (text,)
        if operator := _OPERATOR.search(text):
            before = _without_generics(text[: operator.start()])
            called = text[operator.start() :]
            called = called.split("(")[0] if called[8:].lstrip()[:1].isalpha() else called
            return (*_parts(before.rstrip(": \n\t")), " ".join(called.split()))
        parts = _parts(_without_generics(text))
        return parts if parts and all(_PART.match(part) for part in parts) else None

    def type(self, node: "Node | None") -> Chain | None:
        """Return the dotted name of a type; what a smart pointer points to, for one."""
        for _ in range(_LONGEST):
            if node is None:
                return None
            if node.type in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
                node = node.child_by_field_name("name")
            elif node.type == "type_descriptor":
                node = node.child_by_field_name("type")
            elif (inner := self._held(node)) is not None:
                node = inner
            else:
                break
        if node is None or node.type not in ("type_identifier", "qualified_identifier", "template_type"):
            return None
        return self.dotted(node)

    def _held(self, node: "Node") -> "Node | None":
        """Return the type in `std::unique_ptr<T>`."""
        while node.type == "qualified_identifier" and (name := node.child_by_field_name("name")):
            node = name
        name = node.child_by_field_name("name") if node.type in ("template_type", "template_function") else None
        if name is None or self.text(name) not in _SMART | _MAKERS:
            return None
        arguments = node.child_by_field_name("arguments")
        return arguments.named_children[0] if arguments and arguments.named_children else None

    def expression(self, node: "Node | None") -> tuple[Chain, bool] | None:
        """Return the dotted name of an expression, and whether its root is no variable; None where it has none."""
        parts: list[str] = []
        while node is not None and len(parts) <= _LONGEST:
            if node.type in ("identifier", "this"):
                return (self.text(node), *reversed(parts)), False
            if node.type in ("qualified_identifier", "template_function"):
                chain = self.dotted(node)
                return ((*chain, *reversed(parts)), True) if chain else None
            if node.type in ("new_expression", "cast_expression", "compound_literal_expression"):
                chain = self.type(node.child_by_field_name("type"))
                return ((*chain, *reversed(parts)), True) if chain else None
            if node.type == "call_expression":
                function = node.child_by_field_name("function")
                made = self.type(self._held(function)) if function else None
                if made:
                    return (*made, *reversed(parts)), True
                parts.append("()")
                node = function
            elif node.type == "field_expression":
                if name := node.child_by_field_name("field"):
                    parts.append(_without_generics(self.text(name)))
                node = node.child_by_field_name("argument")
            elif node.type in ("parenthesized_expression", "pointer_expression"):
                node = node.named_children[-1] if node.named_children else None
            else:
                return None
        return None


_ENDS = ("identifier", "declarator", "_name", "operator_cast")


def _without_generics(text: str) -> str:
    for _ in range(_LONGEST):
        shorter = _GENERIC.sub("", text)
        if shorter == text:
            break
        text = shorter
    return text


def _parts(text: str) -> Chain:
    return tuple(part for part in ("".join(each.split()) for each in text.split("::")) if part and part != "template")
