"""One Go file on its way from captures to facts."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.graph.facts import Definition, FileFacts, Import
from controller.graph.languages.blocks import Scope, Sweep, Told, joined
from controller.graph.languages.chains import References, Use
from controller.graph.languages.go.names import PREDECLARED, mended, package_name
from controller.graph.languages.go.text import Reader
from controller.graph.languages.go.types import (
    base_name,
    element,
    first_named,
    leftmost,
    leftmost_name,
    results,
    type_told,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_MAX = 300
_VARIABLE_MAX = 120
_STATEMENTS = (
    "function", "class", "block", "import", "value", "short", "range", "parameter", "opaque", "field", "method",
    "element",
)  # fmt: skip
_FUNCTIONS = ("function_declaration", "method_declaration", "func_literal")


class Source:
    """Sweeps the captures once, then says where the names lead."""

    def __init__(self, source: bytes, captures: "dict[str, list[Node]]") -> None:
        self.source = source
        self.captures = captures
        self.sweep = Sweep(len(source))
        self.file = self.sweep.file
        self.reader = Reader(source)
        self.references = References(source, PREDECLARED, unbound=True)
        self.definitions: dict[str, Definition] = {}
        self.imports: list[Import] = []
        self.guessed: list[Import] = []
        self.told: list[tuple[Scope, str, str, Told | None, int]] = []
        self.bases: set[int] = set()
        self.names: set[int] = set()

    def facts(self) -> FileFacts:
        """Return everything."""
        self._inside_names()
        uses = self._statements()
        for scope, start, end, bare in uses:
            self._use(scope, start, end, bare=bare)
        rows = [self.references.alias(*each) for each in self.told]
        references = self.references.collect()
        imports = [*self.imports, *mended(self.guessed, references, self.definitions)]
        imports += dict.fromkeys(row for row in rows if row)
        definitions = sorted(self.definitions.values(), key=lambda each: (each.line, each.qual))
        packages = [("package", self._text(node)) for node in self.captures.get("package", ())[:1]]
        return FileFacts(tuple(definitions), tuple(imports), references, settings=tuple(packages))

    def _text(self, node: "Node | None") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""

    def _inside_names(self) -> None:
        """Tell the reader of chains what may stand between two dots."""
        reader = self.reader
        reader.calls = {node.start_byte: node.end_byte for node in self.captures.get("arguments", ())}
        reader.jumps = {node.start_byte: node.end_byte for node in self.captures.get("jump", ())}
        for kind, ends in (("index", reader.elements), ("slice", reader.jumps)):
            for node in self.captures.get(kind, ()):
                if operand := node.child_by_field_name("operand"):
                    ends[operand.end_byte] = node.end_byte

    def _statements(self) -> list[tuple[Scope, int, int, bool]]:
        """Place every scope, binding and name; return the names that are in use."""
        events: list[tuple[int, int, int, str, Node | None]] = []
        for order, kind in enumerate(_STATEMENTS):
            events += [(node.start_byte, -node.end_byte, order, kind, node) for node in self.captures.get(kind, ())]
        for kind in ("name", "type", "attribute"):
            events += [(node.start_byte, -node.end_byte, 99, kind, None) for node in self.captures.get(kind, ())]
        handlers: dict[str, Callable[[Node, Scope], None]] = {kind: getattr(self, f"_{kind}") for kind in _STATEMENTS}
        self.names = {node.start_byte for kind in ("package", "key") for node in self.captures.get(kind, ())}
        self.names -= self._map_keys()
        uses = []
        for start, end, _, kind, node in sorted(events, key=lambda event: event[:3]):
            if node is not None:
                handlers[kind](node, self.sweep.at(start))
            elif start not in self.names:
                uses.append((self.sweep.at(start), start, -end, kind == "type"))
        return [use for use in uses if use[1] not in self.names]

    def _map_keys(self) -> set[int]:
        """Return where the keys of literals stand that are no struct's: they are names in use."""
        found = set()
        for node in self.captures.get("key", ()):
            literal = node.parent and node.parent.parent and node.parent.parent.parent
            whole = literal.parent if literal and literal.type == "literal_value" else None
            written = whole.child_by_field_name("type") if whole and whole.type == "composite_literal" else None
            if written and written.type in ("map_type", "array_type", "slice_type", "implicit_length_array_type"):
                found.add(node.start_byte)
        return found

    def _use(self, scope: Scope, start: int, end: int, *, bare: bool) -> None:
        if start in self.reader.consumed:
            return
        if self.source[start - 1 : start] == b".":
            if end in self.reader.calls:
                self.references.add(Use(scope, "calls", ("(", self._written(start, end)), start))
            return
        chain, _ = self.reader.chain(start, end)
        kind = "inherits" if start in self.bases else "uses"
        for at, part in enumerate(chain):
            if part == "()" and at:
                self.references.add(Use(scope, "calls", chain[:at], start, bare))
        if chain[-1] != "()":
            self.references.add(Use(scope, kind, chain, start, bare))

    def _written(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")

    def _define(self, qual: str, kind: str, node: "Node", end: int, limit: int = _SIGNATURE_MAX) -> None:
        signature = " ".join(self._written(node.start_byte, min(end, node.start_byte + 4 * limit)).split())[:limit]
        if qual not in self.definitions and qual.rpartition(".")[2] != "_":
            self.definitions[qual] = Definition(qual, kind, node.start_point.row + 1, signature)

    def _function(self, node: "Node", scope: Scope) -> None:
        del scope
        name, receiver, body = (node.child_by_field_name(each) for each in ("name", "receiver", "body"))
        if name is None:
            return
        self.names.add(name.start_byte)
        owner = ""
        if parameter := first_named(receiver):
            owner = base_name(parameter.child_by_field_name("type"))
        qual = joined(owner, self._text(name))
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
        written = self._text(receiver)
        if "[" in written:
            scope.opaque |= dict.fromkeys(re.findall(r"\w+", written.partition("[")[2]))

    def _class(self, node: "Node", scope: Scope) -> None:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is None:
            return
        self.names.add(name.start_byte)
        if scope is not self.file:
            scope.opaque[self._text(name)] = None
            return
        qual = self._text(name)
        self.file.members.add(qual)
        self.sweep.enter(Scope("class", node.start_byte, node.end_byte, qual, node=True))
        brace = self.source.find(b"{", node.start_byte, node.end_byte)
        self._define(qual, "class", node, brace if brace > 0 else node.end_byte)
        if node.type == "type_alias" and written and (told := type_told(written)) and not told.mark:
            self.bases.add(written.start_byte)

    def _block(self, node: "Node", scope: Scope) -> None:
        del scope
        entered = self.sweep.enter(Scope("block", node.start_byte, node.end_byte))
        if node.type in ("type_case", "default_case") and node.parent and node.parent.type == "type_switch_statement":
            alias = node.parent.child_by_field_name("alias")
            types = node.children_by_field_name("type")
            for name in alias.named_children if alias else ():
                self.names.add(name.start_byte)
                told = type_told(types[0]) if len(types) == 1 else None
                entered.bind(self._text(name), node.start_byte, told)

    def _import(self, node: "Node", scope: Scope) -> None:
        del scope
        path, alias = self._text(node.child_by_field_name("path"))[1:-1], node.child_by_field_name("name")
        line = node.start_point.row + 1
        if alias is None:
            found = Import("", package_name(path), path, "", path, line)
            self.guessed.append(found)
        elif alias.type == "dot":
            found = Import("", "*", path, "*", path, line)
        else:
            self.names.add(alias.start_byte)
            written = self._text(alias)
            found = Import("", written, path, "init" if written == "_" else "", path, line)
        if path:
            self.imports.append(found)
            self.file.imported.add(found.bound)
            self.file.stars += found.bound == "*"

    def _value(self, node: "Node", scope: Scope) -> None:
        names = [name for name in node.children_by_field_name("name") if name.type == "identifier"]
        told = self._values(names, node)
        for name, each in zip(names, told, strict=True):
            self.names.add(name.start_byte)
            written = self._text(name)
            if scope is not self.file:
                scope.bind(written, node.end_byte, each, node.start_byte)
            elif written != "_":
                end = self.source.find(b"\n", name.start_byte)
                self.file.members.add(written)
                self._define(written, "variable", name, end if end > 0 else node.end_byte, _VARIABLE_MAX)
                self.told.append((scope, written, "=", each, node.start_byte))

    def _values(self, names: "list[Node]", node: "Node", right: str = "value") -> list[Told | None]:
        """Return what is known of the names on the left by a type or by the values on the right."""
        if written := node.child_by_field_name("type"):
            return [type_told(written)] * len(names)
        values = node.child_by_field_name(right)
        each = values.named_children if values and values.type == "expression_list" else [values] if values else []
        if len(each) == len(names):
            return [self._value_told(value) for value in each]
        first = self._value_told(each[0]) if len(each) == 1 else None
        if first and first.chain[-1] == "()":
            return [first._replace(chain=(*first.chain[:-1], f"(){at or ''}")) for at in range(len(names))]
        return [first, *[None] * len(names)][: len(names)]

    def _value_told(self, node: "Node", depth: int = 0) -> Told | None:
        """Return what an expression tells of its type."""
        kind = node.type
        if depth > _DEEPEST:
            return None
        if kind in ("composite_literal", "type_assertion_expression", "type_conversion_expression"):
            return type_told(node.child_by_field_name("type"))
        if kind in ("unary_expression", "parenthesized_expression"):
            inner = first_named(node)
            told = self._value_told(inner, depth + 1) if inner else None
            return element(told) if self.source[node.start_byte : node.start_byte + 2] == b"<-" else told
        if kind not in ("identifier", "selector_expression", "call_expression", "index_expression", "slice_expression"):
            return None
        first = leftmost(node)
        if first.type != "identifier" or first.start_byte != node.start_byte:
            return None
        chain, end = self.reader.chain(first.start_byte, first.end_byte)
        if chain[:2] == ("new", "()") and (arguments := node.child_by_field_name("arguments")):
            return type_told(first_named(arguments))
        return Told(chain, bare=False) if end == node.end_byte else None

    def _short(self, node: "Node", scope: Scope) -> None:
        left = node.child_by_field_name("left")
        names = left.named_children if left else []
        told = self._values(names, node, "right")
        for name, each in zip(names, told, strict=True):
            if name.type == "identifier" and (node.type == "short_var_declaration" or self._declares(node)):
                self.names.add(name.start_byte)
                scope.bind(self._text(name), node.end_byte, each, node.start_byte)

    def _declares(self, node: "Node") -> bool:
        return any(child.type == ":=" for child in node.children)

    def _range(self, node: "Node", scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or not self._declares(node):
            return
        for at, name in enumerate(left.named_children):
            if name.type == "identifier":
                self.names.add(name.start_byte)
                told = element(self._value_told(right)) if at else None
                scope.bind(self._text(name), node.end_byte, told, node.start_byte)

    def _parameter(self, node: "Node", scope: Scope) -> None:
        names = node.children_by_field_name("name")
        self.names |= {name.start_byte for name in names}
        around = node.parent.parent if node.parent else None
        if around is None or around.type not in _FUNCTIONS:
            return
        told = type_told(node.child_by_field_name("type"))
        if told and node.type == "variadic_parameter_declaration":
            told = told._replace(mark="[]" + told.mark)
        for name in names:
            scope.bind(self._text(name), around.start_byte, told)

    def _opaque(self, node: "Node", scope: Scope) -> None:
        bound = type_told(first_named(node.child_by_field_name("type")))
        for name in node.children_by_field_name("name"):
            self.names.add(name.start_byte)
            scope.opaque[self._text(name)] = bound.chain if bound and not bound.mark else None

    def _field(self, node: "Node", scope: Scope) -> None:
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
            self.told.append((scope, scope.qual, self._text(name), told, node.start_byte))

    def _method(self, node: "Node", scope: Scope) -> None:
        name = node.child_by_field_name("name")
        whole = node.parent.parent if node.parent else None
        if name and whole and whole.type == "type_spec" and scope.kind == "class":
            qual = joined(scope.qual, self._text(name))
            self._define(qual, "method", node, node.end_byte)
            self._results(scope, qual, node)

    def _element(self, node: "Node", scope: Scope) -> None:
        whole = node.parent.parent if node.parent else None
        if whole and whole.type == "type_spec" and scope.kind == "class" and type_told(node):
            self.bases.add(node.start_byte)


_DEEPEST = 20
