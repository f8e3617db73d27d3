"""From the captures of one C or C++ file, in the order of its bytes, to definitions, includes and uses."""

import re
from typing import TYPE_CHECKING

from controller.graph.facts import Import
from controller.graph.languages.c.directives import Directives
from controller.graph.languages.c.names import Declared
from controller.graph.languages.parsed import in_order
from controller.graph.languages.typed import Chain, Scope, Told

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_MAX = 300
_NAMES_MAX = 200
"""Names that one declaration declares. More of them nobody wrote by hand."""
_FIRST = ("include", "namespace", "typedef", "class", "function", "declaration", "field", "block", "base", "made")
"""What is handled first of captures of the same bytes."""

_BODY = ("struct_specifier", "union_specifier", "class_specifier", "enum_specifier")


class Walk(Directives):
    """Adds definitions and declarations."""

    def __init__(self, source: bytes, *, cpp: bool) -> None:
        super().__init__(source, cpp=cpp)
        self._called: dict[int, str] = {}

    def read(self, captures: "dict[str, list[Node]]") -> None:
        """Handle all captures of the file."""
        for name, node, start, end in in_order(captures, _FIRST):
            getattr(self, f"_on_{name}")(node, start, end)

    def _on_class(self, node: "Node", start: int, end: int) -> None:
        name = node.child_by_field_name("name")
        chain = self.names.dotted(name) if name else None
        text = ".".join(chain) if chain else self._called.get(start, "")
        outer = self.sweep.at(start).around
        inner = self.sweep.enter(Scope("class" if text else "block", start, end, text))
        if text and inner.name == text:
            outer.members.add(text)
            self._define(inner.qual, "class", node, name or node)

    def _on_forward(self, node: "Node", start: int, end: int) -> None:
        """Bind a class that is only named here to whatever defines it: `struct order;`."""
        name = node.child_by_field_name("name")
        if node.child_by_field_name("body") or name is None or not self._ends_statement(end):
            return
        scope = self.sweep.at(start)
        before = self.source[max(0, start - 12) : start].rstrip()
        if before[-1:] not in (b"", b";", b"}", b"{", b"/", b">") and not before.endswith((b"endif", b"else", b'"')):
            return
        self._read.add(name.start_byte)
        text = self.names.text(name)
        if scope.owner.kind in ("file", "class"):
            self._forward(scope.around, text, node)

    def _ends_statement(self, end: int) -> bool:
        return self.source[end : end + 20].lstrip()[:1] == b";"

    def _on_enumerator(self, node: "Node", start: int, end: int) -> None:
        del end
        name = node.child_by_field_name("name")
        scope = self.sweep.at(start)
        if name is None:
            return
        self._read.add(name.start_byte)
        scoped = scope.name and re.match(rb"enum\s+(class|struct)\b", self.source[scope.start : scope.start + 40])
        home = scope.around if scoped or scope.parent is None else scope.parent.around
        if home.kind == "function":
            return
        text = self.names.text(name)
        home.members.add(text)
        self._note(_inside(home, text), "variable", name, self._line(node))

    def _on_typedef(self, node: "Node", start: int, end: int) -> None:
        """Define another name for a type; where it is the only name of a struct, it is the struct's."""
        scope, kind = self.sweep.at(start), node.child_by_field_name("type")
        alias = node.child_by_field_name("name")
        declarators = [alias] if alias else node.children_by_field_name("declarator")[:_NAMES_MAX]
        found = [each for each in map(self.names.declared, declarators) if each]
        for each in found:
            self._read.add(each.node.start_byte)
        if not found or scope.owner.kind == "function":
            return
        bodied = kind is not None and kind.type in _BODY and kind.child_by_field_name("body")
        if kind is not None and bodied and kind.child_by_field_name("name") is None:
            self._called[kind.start_byte] = found[0].chain[-1]
            found = found[1:]
        for each in found:
            self._alias(scope.around, each, kind, node)
        if found and not bodied:
            self.sweep.enter(Scope("value", start, end, found[0].chain[-1]))

    def _alias(self, scope: Scope, found: Declared, kind: "Node | None", node: "Node") -> None:
        text, told = found.chain[-1], self.names.type(kind)
        if told == (text,):  # `typedef struct node node;` says no more than `struct node;`
            self._forward(scope, text, node)
            return
        scope.members.add(text)
        self._define(_inside(scope, text), "class", node, found.node)
        self._tell(scope, _inside(scope, text), "=", node)

    def _forward(self, scope: Scope, text: str, node: "Node") -> None:
        if text not in scope.members | scope.imported:
            scope.imported.add(text)
            self.imports.append(Import(scope.qual, text, "", text, "", node.start_point.row + 1))

    def _on_function(self, node: "Node", start: int, end: int) -> None:
        found = self.names.declared(node.child_by_field_name("declarator"))
        scope = self.sweep.at(start)
        if found is None or scope.owner.kind == "function" or not found.function:
            self.sweep.enter(Scope("block", start, end))
            return
        chain = found.chain
        if "TEST" in chain[-1] and scope.kind != "class" and node.child_by_field_name("type") is None:
            found = found._replace(chain=self._test(node) or chain)
        self._function(scope, found, node, (start, end))

    def _test(self, node: "Node") -> Chain | None:
        """Return the name of `TEST_F(Suite, Name)`, which sees the members of its suite."""
        declarator = node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator else None
        words = [self.names.text(each) for each in parameters.named_children] if parameters else []
        return tuple(words) if len(words) == 2 and all(map(str.isidentifier, words)) else None  # noqa: PLR2004

    def _function(self, scope: Scope, found: Declared, node: "Node", span: tuple[int, int], mark: str = "") -> None:
        """Define or declare a function, and open its scope: the parameters are its own."""
        self._take(found.node)
        chain = _within(scope.around.qual, found.chain)
        around = chain[-2] if len(chain) > 1 else scope.around.name.rpartition(".")[2]
        method = len(chain) > 1 or scope.around.kind == "class"
        if method and chain[-1] == around:
            chain = (*chain[:-1], "new")
        outer = scope.around
        inner = self.sweep.enter(Scope("function", *span, ".".join(chain)))
        if inner.name:
            outer.members.add(chain[0]) if len(chain) == 1 else None
            self._define(inner.qual, "method" if method else "function", node, found.node, mark)
            self._tell(outer, inner.qual, "()", node)

    def _on_declaration(self, node: "Node", start: int, end: int) -> None:
        scope = self.sweep.at(start)
        declarators = node.children_by_field_name("declarator")[:_NAMES_MAX]
        if scope.owner.kind == "function":
            self._locals(scope, node, declarators)
            return
        extern = "extern" in self._storage(node)
        for each in declarators:
            found = self.names.declared(each)
            if found and found.function:
                self._function(scope, found, node, (start, end), ";")
            elif found:
                self._variable(scope, found, node, ";" if extern and each.type != "init_declarator" else "")
        bodied = (kind := node.child_by_field_name("type")) is not None and kind.child_by_field_name("body")
        if declarators and not bodied and (found := self.names.declared(declarators[0])) and not found.function:
            name = ".".join(_within(scope.around.qual, found.chain))
            self.sweep.enter(Scope("value", start, end, name))

    def _storage(self, node: "Node") -> set[str]:
        """Return `static`, `extern` and such."""
        return {self.names.text(each) for each in node.named_children if each.type == "storage_class_specifier"}

    def _variable(self, scope: Scope, found: Declared, node: "Node", mark: str = "") -> None:
        self._read.add(found.node.start_byte)
        text = found.chain[-1]
        scope.around.members.add(text)
        qual = _inside(scope.around, ".".join(_within(scope.around.qual, found.chain)))
        self._define(qual, "variable", node, found.node, mark)
        self._tell(scope, qual, "=", node)

    def _tell(self, scope: Scope, qual: str, bound: str, node: "Node") -> Chain | None:
        """Say what a field is, what a function returns (`()`), what a variable holds (`=`), where C++ code may ask."""
        told = self.names.type(node.child_by_field_name("type")) if self.cpp else None
        if not told or told[0] == "std" or any(told[0] in each.opaque for each in scope.outward()):
            return None
        self.imports.append(Import(qual, bound, "", ".".join(told), "", node.start_point.row + 1))
        return told

    def _locals(self, scope: Scope, node: "Node", declarators: "list[Node]") -> None:
        kind = node.child_by_field_name("type")
        told = self.names.type(kind) if self.cpp else None
        for each in declarators:
            if found := self.names.declared(each):
                self._read.add(found.node.start_byte)
                value = each.child_by_field_name("value")
                made = Told(told) if told else self._made(kind, value)
                scope.values[found.chain[-1]] = made

    def _made(self, kind: "Node | None", value: "Node | None") -> Told | None:
        """Return the type of an `auto` variable by its first value."""
        if kind is None or value is None or kind.type != "placeholder_type_specifier":
            return None
        found = self.names.expression(value)
        return Told(found[0], bare=found[1]) if found else None

    def _on_field(self, node: "Node", start: int, end: int) -> None:
        scope = self.sweep.at(start)
        static = "static" in self._storage(node)
        for each in node.children_by_field_name("declarator")[:_NAMES_MAX]:
            found = self.names.declared(each)
            if found is None:
                continue
            if found.function and scope.kind == "class":
                self._function(scope, found, node, (start, end), ";")
            elif static and scope.kind == "class":
                self._variable(scope, found, node)
            elif self.cpp and scope.kind == "class":
                self._read.add(found.node.start_byte)
                told = self._tell(scope, scope.qual, found.chain[-1], node)
                scope.fields[found.chain[-1]] = Told(told) if told else None

    def _on_parameter(self, node: "Node", start: int, end: int) -> None:
        del end
        found = self.names.declared(node.child_by_field_name("declarator"))
        if found is not None:
            self._read.add(found.node.start_byte)
            told = self.names.type(node.child_by_field_name("type")) if self.cpp else None
            self.sweep.at(start).values[found.chain[-1]] = Told(told) if told else None

    def _on_loop(self, node: "Node", start: int, end: int) -> None:
        del end
        self._locals(self.sweep.at(start), node, node.children_by_field_name("declarator"))

    def _define(self, qual: str, kind: str, node: "Node", name: "Node", mark: str = "") -> None:
        self._read.add(name.start_byte)
        self._note(qual, kind, name, self._signature(node) + mark)

    def _signature(self, node: "Node") -> str:
        body = node.child_by_field_name("body")
        if node.type in ("type_definition", "declaration") and (kind := node.child_by_field_name("type")):
            body = kind.child_by_field_name("body") or body
        text = self.source[node.start_byte : body.start_byte if body else node.end_byte]
        return " ".join(text[: 4 * _SIGNATURE_MAX].decode("utf-8", "replace").split()).rstrip(" ;")[:_SIGNATURE_MAX]

    def _line(self, node: "Node") -> str:
        return " ".join(self.names.text(node).split())[:_SIGNATURE_MAX]


def _within(outer: str, chain: Chain) -> Chain:
    """Return a qualified name without the namespaces around it, where it begins with them all the same."""
    around = tuple(outer.split("."))
    for known in (around, around[-1:]):
        if len(chain) > len(known) and chain[: len(known)] == known:
            return chain[len(known) :]
    return chain


def _inside(scope: Scope, name: str) -> str:
    return f"{scope.qual}.{name}" if scope.qual else name
