"""Dotted names of Java expressions and types, read from their syntax nodes."""

import re
from typing import TYPE_CHECKING

from controller.graph.languages.typed import Chain

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 12
"""Parts of a chain. Fluent code goes on for longer, but nobody follows it that far."""

_GENERIC = re.compile(r"<[^<>]*>")
_ANNOTATION = re.compile(r"@[\w.]+(\([^()]*\))?")
_NAME = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")


class Chains:
    """Chains of one file. What was read as a part of a longer chain is no longer `fresh`."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._until = -1
        self._consumed: set[tuple[int, int]] = set()

    def consume(self, node: "Node") -> None:
        """Take a node, and all in it where it is a clause, for read."""
        self._consumed.add((node.start_byte, node.end_byte))
        if node.type in ("import_declaration", "scoped_identifier"):
            self._until = max(self._until, node.end_byte)

    def fresh(self, node: "Node") -> bool:
        """Tell whether a node is in no chain that was read before."""
        return node.start_byte >= self._until and (node.start_byte, node.end_byte) not in self._consumed

    def consume_root(self, node: "Node") -> None:
        """Take the parts of a chain for read; calls in it are chains of their own."""
        at: Node | None = node
        while at is not None:
            if at.type == "field_access":
                self.consume(at)
                if field := at.child_by_field_name("field"):
                    self.consume(field)
            elif at.type == "identifier":
                self.consume(at)
                return
            elif at is not node:
                return
            at = at.child_by_field_name("object")

    def of(self, node: "Node") -> Chain | None:
        """Return the dotted name of an expression: a call adds `()`; None where it has none."""
        parts: list[str] = []
        at = _bare(node)
        while len(parts) <= _LONGEST:
            if at.type in ("identifier", "this", "super"):
                parts.append(self._text(at))
                return tuple(reversed(parts))
            if at.type in {"object_creation_expression", "cast_expression"}:
                made = self.type(at.child_by_field_name("type"))
                return (*made, *reversed(parts)) if made else None
            if at.type == "method_invocation":
                name, inner = at.child_by_field_name("name"), at.child_by_field_name("object")
                if name is None:
                    return None
                parts += ["()", self._text(name)]
                if inner is None:
                    return tuple(reversed(parts))
            elif at.type == "field_access":
                name, inner = at.child_by_field_name("field"), at.child_by_field_name("object")
                if name is None or inner is None:
                    return None
                if name.type != "this":  # `Outer.this` is one of `Outer`
                    parts.append(self._text(name))
            else:
                return None
            at = _bare(inner)
        return None

    def read_type(self, node: "Node") -> Chain | None:
        """Return the dotted name of a type, and take it for read."""
        at: Node | None = _named(node)
        while at is not None:
            self.consume(at)
            for each in at.named_children if at.type.startswith("scoped_") else ():
                self.consume(each)
            at = _named(at.named_children[0]) if at.type.startswith("scoped_") and at.named_children else None
        return self.type(node)

    def type(self, node: "Node | None") -> Chain | None:
        """Return the dotted name of a type; None for arrays and primitive types."""
        node = _named(node) if node else None
        if node is None:
            return None
        text = self._text(node)
        if not text.isidentifier():
            text = "".join(_GENERIC.sub("", _ANNOTATION.sub("", text)).split())
        return tuple(text.split(".")) if text != "var" and _NAME.match(text) else None

    def _text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _named(node: "Node | None") -> "Node | None":
    """Return the name in a type: what has type arguments or annotations around it."""
    while node is not None and node.type in ("generic_type", "annotated_type", "catch_type"):
        node = next((each for each in node.named_children if each.type.endswith(("identifier", "_type"))), None)
    return node if node is not None and node.type.endswith("identifier") else None


def _bare(node: "Node") -> "Node":
    """Return what stands in parentheses."""
    for _ in range(_LONGEST):
        if node.type != "parenthesized_expression" or not node.named_children:
            break
        node = node.named_children[0]
    return node
