"""What a Go file declares at its top, and what fields and results tell of their types."""

import re
from typing import TYPE_CHECKING

from controller.graph.facts import Definition, Import
from controller.graph.languages.blocks import Scope, Sweep, Told, joined
from controller.graph.languages.go.locals import Locals
from controller.graph.languages.go.names import package_name
from controller.graph.languages.go.types import base_name, first_named, leftmost_name, results, text, type_told

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_MAX = 300
_VARIABLE_MAX = 120


class Items:
    """Opens the scopes of declarations. `bases` are names, by their first byte, that are embedded."""

    def __init__(self, source: bytes, sweep: Sweep, local: Locals, names: set[int]) -> None:
        self.source = source
        self.sweep = sweep
        self.file = sweep.file
        self.names = names
        self.definitions: dict[str, Definition] = {}
        self.imports: list[Import] = []
        self.guessed: list[Import] = []
        """Imports without a name of their own: that of the package is a guess."""
        self.told: list[tuple[Scope, str, str, Told | None, int]] = []
        self.bases: set[int] = set()
        self._locals = local

    def _define(self, qual: str, kind: str, node: "Node", end: int, limit: int = _SIGNATURE_MAX) -> None:
        signature = " ".join(
            self.source[node.start_byte : min(end, node.start_byte + 4 * limit)].decode("utf-8", "replace").split()
        )[:limit]
        if qual not in self.definitions and qual.rpartition(".")[2] != "_":
            self.definitions[qual] = Definition(qual, kind, node.start_point.row + 1, signature)

    def function(self, node: "Node", scope: Scope) -> None:
        """Open a function or a method; its receiver gives it its name."""
        del scope
        name, receiver, body = (node.child_by_field_name(each) for each in ("name", "receiver", "body"))
        if name is None:
            return
        self.names.add(name.start_byte)
        owner = ""
        if parameter := first_named(receiver):
            owner = base_name(parameter.child_by_field_name("type"))
        qual = joined(owner, text(name))
        entered = self.sweep.enter(Scope("function", node.start_byte, node.end_byte, qual, node=True))
        if receiver:
            self._receiver_parameters(receiver, entered)
            if not owner:
                entered.node = False
                return
        else:
            self.file.members.add(qual)
        self._define(qual, "method" if receiver else "function", node, body.start_byte if body else node.end_byte)
        self._results(entered, qual, node)

    def _results(self, scope: Scope, qual: str, node: "Node") -> None:
        for at, told in enumerate(results(node.child_by_field_name("result"))):
            self.told.append((scope, qual, f"(){at or ''}", told, node.start_byte))

    def _receiver_parameters(self, receiver: "Node", scope: Scope) -> None:
        """Note the type parameters in `(s *Set[K, V])`."""
        written = text(receiver)
        if "[" in written:
            scope.opaque |= dict.fromkeys(re.findall(r"\w+", written.partition("[")[2]))

    def class_(self, node: "Node", scope: Scope) -> None:
        """Open a type; one inside a function is nobody else's."""
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is None:
            return
        self.names.add(name.start_byte)
        if scope is not self.file:
            scope.opaque[text(name)] = None
            return
        qual = text(name)
        self.file.members.add(qual)
        self.sweep.enter(Scope("class", node.start_byte, node.end_byte, qual, node=True))
        brace = self.source.find(b"{", node.start_byte, node.end_byte)
        self._define(qual, "class", node, brace if brace > 0 else node.end_byte)
        if node.type == "type_alias" and written and (told := type_told(written)) and not told.mark:
            self.bases.add(written.start_byte)

    def import_(self, node: "Node", scope: Scope) -> None:
        """Note an import; a blank one leads to what runs when the package is loaded."""
        del scope
        path, alias = text(node.child_by_field_name("path"))[1:-1], node.child_by_field_name("name")
        line = node.start_point.row + 1
        if alias is None:
            found = Import("", package_name(path), path, "", path, line)
            self.guessed.append(found)
        elif alias.type == "dot":
            found = Import("", "*", path, "*", path, line)
        else:
            self.names.add(alias.start_byte)
            written = text(alias)
            found = Import("", written, path, "init" if written == "_" else "", path, line)
        if path:
            self.imports.append(found)
            self.file.imported.add(found.bound)
            self.file.stars += found.bound == "*"

    def value(self, node: "Node", scope: Scope) -> None:
        """Define or bind constants and variables."""
        names = [name for name in node.children_by_field_name("name") if name.type == "identifier"]
        told = self._locals.values(names, node)
        for name, each in zip(names, told, strict=True):
            self.names.add(name.start_byte)
            written = text(name)
            if scope is not self.file:
                scope.bind(written, node.end_byte, each, node.start_byte)
            elif written != "_":
                end = self.source.find(b"\n", name.start_byte)
                self.file.members.add(written)
                self._define(written, "variable", name, end if end > 0 else node.end_byte, _VARIABLE_MAX)
                self.told.append((scope, written, "=", each, node.start_byte))

    def field(self, node: "Node", scope: Scope) -> None:
        """Note the type of a field; what has no name of its own is embedded."""
        whole = node.parent.parent.parent if node.parent and node.parent.parent else None
        if whole is None or whole.type != "type_spec" or scope.kind != "class":
            return
        written = node.child_by_field_name("type")
        told = type_told(written)
        names = node.children_by_field_name("name")
        if not names and told and written:
            self.bases.add(leftmost_name(written).start_byte)
            self.told.append((scope, scope.qual, told.chain[-1], told, node.start_byte))
        for name in names:
            self.told.append((scope, scope.qual, text(name), told, node.start_byte))

    def method(self, node: "Node", scope: Scope) -> None:
        """Define a method of an interface."""
        name = node.child_by_field_name("name")
        whole = node.parent.parent if node.parent else None
        if name and whole and whole.type == "type_spec" and scope.kind == "class":
            qual = joined(scope.qual, text(name))
            self._define(qual, "method", node, node.end_byte)
            self._results(scope, qual, node)

    def element(self, node: "Node", scope: Scope) -> None:
        """Note what an interface embeds."""
        whole = node.parent.parent if node.parent else None
        if whole and whole.type == "type_spec" and scope.kind == "class" and type_told(node):
            self.bases.add(node.start_byte)


_DEEPEST = 20
