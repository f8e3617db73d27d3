"""Items of a Rust file: what has a node, what its class is, and what fields and results tell of their types."""

import re
from typing import TYPE_CHECKING

from controller.graph.facts import Definition, Import
from controller.graph.languages.blocks import Chain, Scope, Sweep, Told, joined
from controller.graph.languages.rust.imports import Imports
from controller.graph.languages.rust.lookup import References
from controller.graph.languages.rust.types import text, type_told

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_MAX = 300
_VARIABLE_MAX = 120
_WORDS = 6


class Items:
    """Opens the scopes of items. `bases` are names, by their first byte, from which the class of a scope inherits."""

    def __init__(self, source: bytes, sweep: Sweep, imports: Imports, names: set[int]) -> None:
        self.source = source
        self.sweep = sweep
        self.imports = imports
        self.names = names
        self.definitions: dict[str, Definition] = {}
        self.told: list[tuple[Scope, str, str, Told | None, int]] = []
        self.bases: dict[int, Scope] = {}
        self._impls: list[tuple[Scope, Chain]] = []

    def owners(self, references: References) -> list[Import]:
        """Say which `impl` stands beside its class, and give a class with another name here this one too."""
        return [row for scope, chain in self._impls for row in self._owner(scope, chain, references)]

    def _signature(self, node: "Node", end: int, limit: int = _SIGNATURE_MAX) -> str:
        written = self.source[node.start_byte : min(end, node.start_byte + 4 * limit)]
        return " ".join(written.decode("utf-8", "replace").split())[:limit]

    def _define(self, qual: str, kind: str, node: "Node", end: int) -> None:
        if qual and qual not in self.definitions:
            self.definitions[qual] = Definition(qual, kind, node.start_point.row + 1, self._signature(node, end))

    def _body(self, node: "Node") -> int:
        body = node.child_by_field_name("body")
        return body.start_byte if body and body.type != "ordered_field_declaration_list" else node.end_byte

    def _around(self, scope: Scope) -> Scope:
        """Return the scope whose name goes before that of an item."""
        return next(each for each in scope.outward() if each.kind != "block")

    def _named(self, node: "Node") -> str:
        name = node.child_by_field_name("name")
        if name:
            self.names.add(name.start_byte)
        return text(name)

    def macro(self, node: "Node", scope: Scope) -> None:
        """Define a macro; it is called like a function."""
        name = self._named(node)
        around = self._around(scope)
        around.members.add(name)
        self._define(joined(around.qual, name), "function", node, node.start_byte + len("macro_rules! ") + len(name))

    def module(self, node: "Node", scope: Scope) -> None:
        """Open a module that stands in this file, or note one that is another file."""
        name, body = self._named(node), node.child_by_field_name("body")
        around = self._around(scope)
        if body is None:
            self.imports.module(node, around, name)
            return
        around.members.add(name)
        entered = self.sweep.enter(Scope("module", node.start_byte, node.end_byte, name, node=True, apart=True))
        self._define(entered.qual, "class", node, body.start_byte)

    def class_(self, node: "Node", scope: Scope) -> None:
        """Open a struct, enum, union, trait or type alias."""
        name, around = self._named(node), self._around(scope)
        if node.type == "type_item" and around.kind == "class":
            return
        around.members.add(name)
        entered = self.sweep.enter(Scope("class", node.start_byte, node.end_byte, name, node=True))
        entered.qual = joined(around.qual, name)
        entered.own = (name,)
        self._define(entered.qual, "class", node, self._body(node))
        written = node.child_by_field_name("type")
        if written and (told := type_told(written)) and not told.mark:
            self.bases[written.start_byte] = entered
        if bounds := node.child_by_field_name("bounds"):
            for each in bounds.named_children:
                if type_told(each):
                    self.bases[each.start_byte] = entered

    def impl(self, node: "Node", scope: Scope) -> None:
        """Open what gives a class methods, or a trait."""
        del scope
        written, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        told = type_told(written)
        chain = told.chain if told and not told.mark else ()
        entered = self.sweep.enter(
            Scope("class", node.start_byte, node.end_byte, chain[-1] if chain else _nameless(written))
        )
        entered.own = chain
        if chain:
            self._impls.append((entered, chain))
        if trait and chain:
            self.bases[trait.start_byte] = entered

    def _owner(self, scope: Scope, chain: Chain, references: References) -> list[Import]:
        """Say whether the class of an `impl` stands in this file; what has another name here gets this one too."""
        around = scope.parent or scope
        scope.node = scope.qual in self.definitions
        if scope.node or len(chain) == 1 or scope.name in around.members or scope.name in around.imported:
            return []
        row = references.alias(around, around.qual, scope.name, Told(chain), scope.start)
        return [row] if row else []

    def function(self, node: "Node", scope: Scope) -> None:
        """Open a function or a method."""
        name, around = self._named(node), self._around(scope)
        member = around.kind == "class"
        if not member:
            around.members.add(name)
        entered = self.sweep.enter(Scope("function", node.start_byte, node.end_byte, name, node=bool(name)))
        entered.qual = joined(around.qual, name)
        self._define(entered.qual, "method" if member else "function", node, self._body(node))
        self.told.append(
            (entered, entered.qual, "()", type_told(node.child_by_field_name("return_type")), node.start_byte)
        )

    def value(self, node: "Node", scope: Scope) -> None:
        """Define a constant or a static."""
        name, around = self._named(node), self._around(scope)
        if around.kind == "function":
            around.opaque[name] = None
            return
        if around.kind != "class":
            around.members.add(name)
        qual = joined(around.qual, name)
        if name == "_" or not name:
            return
        end = self.source.find(b"\n", node.start_byte)
        self._define(qual, "variable", node, min(end if end > 0 else node.end_byte, node.start_byte + _VARIABLE_MAX))
        self.told.append((scope, qual, "=", type_told(node.child_by_field_name("type")), node.start_byte))

    def field(self, node: "Node", scope: Scope) -> None:
        """Note the type of a field."""
        name = text(node.child_by_field_name("name"))
        if scope.kind == "class" and node.parent and node.parent.parent and node.parent.parent.type != "enum_variant":
            told = type_told(node.child_by_field_name("type"))
            self.told.append((scope, scope.qual, name, told, node.start_byte))

    def tuple_fields(self, node: "Node", scope: Scope) -> None:
        """Note the types of the fields `.0`, `.1`, and that the class is called to make one."""
        if scope.kind != "class" or node.parent is None or node.parent.type != "struct_item":
            return
        self.told.append((scope, scope.qual, "()", Told(scope.own), node.start_byte))
        for at, each in enumerate(node.children_by_field_name("type")):
            self.told.append((scope, scope.qual, str(at), type_told(each), each.start_byte))

    def variant(self, node: "Node", scope: Scope) -> None:
        """Define a variant of an enum, which has its type."""
        name = self._named(node)
        if scope.kind == "class" and name:
            qual = joined(scope.qual, name)
            self._define(qual, "variable", node, node.end_byte)
            made = "()" if node.child_by_field_name("body") else "="
            self.told.append((scope, qual, made, Told(scope.own), node.start_byte))


def _nameless(node: "Node | None") -> str:
    """Return a name for a type that is no named one, such as `(A, B)`: `A_B`."""
    return "_".join(re.findall(r"\w+", text(node))[:_WORDS]) or "impl"
