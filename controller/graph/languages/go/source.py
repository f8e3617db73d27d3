"""One Go file on its way from captures to facts."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.graph.facts import FileFacts
from controller.graph.languages.blocks import Scope, Sweep
from controller.graph.languages.chains import References, Use
from controller.graph.languages.go.items import Items
from controller.graph.languages.go.locals import Locals
from controller.graph.languages.go.names import PREDECLARED, mended
from controller.graph.languages.go.text import Reader
from controller.graph.languages.go.types import text, type_told

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = 99
_KEYED = ("map_type", "array_type", "slice_type", "implicit_length_array_type")


class Source:
    """Sweeps the captures once, then says where the names lead."""

    def __init__(self, source: bytes, captures: "dict[str, list[Node]]") -> None:
        self.source = source
        self.captures = captures
        self.sweep = Sweep(len(source))
        self.reader = Reader(source)
        self.references = References(source, PREDECLARED, unbound=True)
        self.names = {node.start_byte for kind in ("package", "key") for node in captures.get(kind, ())}
        """Where names stand that are no uses: those of declarations, and of fields in literals."""
        self.names -= self._map_keys()
        self.locals = Locals(self.reader, self.names)
        self.items = Items(source, self.sweep, self.locals, self.names)

    def facts(self) -> FileFacts:
        """Return everything."""
        self._inside_names()
        items = self.items
        for scope, start, end, bare in self._statements():
            if start not in self.names:
                self._use(scope, start, end, bare=bare)
        rows = [self.references.alias(*each) for each in items.told]
        references = self.references.collect()
        imports = [*items.imports, *mended(items.guessed, references, items.definitions)]
        imports += dict.fromkeys(row for row in rows if row)
        definitions = sorted(items.definitions.values(), key=lambda each: (each.line, each.qual))
        packages = [("package", text(node)) for node in self.captures.get("package", ())[:1]]
        return FileFacts(tuple(definitions), tuple(imports), references, settings=tuple(packages))

    def _inside_names(self) -> None:
        """Tell the reader of chains what may stand between two dots."""
        reader = self.reader
        reader.calls = {node.start_byte: node.end_byte for node in self.captures.get("arguments", ())}
        reader.jumps = {node.start_byte: node.end_byte for node in self.captures.get("jump", ())}
        for kind, ends in (("index", reader.elements), ("slice", reader.jumps)):
            for node in self.captures.get(kind, ()):
                if operand := node.child_by_field_name("operand"):
                    ends[operand.end_byte] = node.end_byte

    def _handlers(self) -> "dict[str, Callable[[Node, Scope], None]]":
        """Return who reads what the query captures, in the order of what begins at the same byte."""
        items, local = self.items, self.locals
        return {
            "function": items.function, "class": items.class_, "block": self._block, "import": items.import_,
            "value": items.value, "short": local.short, "range": local.range_, "parameter": local.parameter,
            "opaque": local.opaque, "field": items.field, "method": items.method, "element": items.element,
        }  # fmt: skip

    def _statements(self) -> list[tuple[Scope, int, int, bool]]:
        """Place every scope, binding and name; return the names that may be in use."""
        handlers = self._handlers()
        events: list[tuple[int, int, int, str, Node | None]] = []
        for order, kind in enumerate(handlers):
            events += [(node.start_byte, -node.end_byte, order, kind, node) for node in self.captures.get(kind, ())]
        for kind in ("name", "type", "attribute"):
            events += [(node.start_byte, -node.end_byte, _NAME, kind, None) for node in self.captures.get(kind, ())]
        uses = []
        for start, end, _, kind, node in sorted(events, key=lambda event: event[:3]):
            if node is not None:
                handlers[kind](node, self.sweep.at(start))
            elif start not in self.names:
                uses.append((self.sweep.at(start), start, -end, kind == "type"))
        return uses

    def _map_keys(self) -> set[int]:
        """Return where the keys of literals stand that are no struct's: they are names in use."""
        found = set()
        for node in self.captures.get("key", ()):
            literal = node.parent and node.parent.parent and node.parent.parent.parent
            whole = literal.parent if literal and literal.type == "literal_value" else None
            written = whole.child_by_field_name("type") if whole and whole.type == "composite_literal" else None
            if written and written.type in _KEYED:
                found.add(node.start_byte)
        return found

    def _block(self, node: "Node", scope: Scope) -> None:
        """Open a block; in a case of a type switch, its variable has the type of the case."""
        del scope
        entered = self.sweep.enter(Scope("block", node.start_byte, node.end_byte))
        if node.type not in ("type_case", "default_case"):
            return
        alias = node.parent.child_by_field_name("alias") if node.parent else None
        types = node.children_by_field_name("type")
        for name in alias.named_children if alias else ():
            self.names.add(name.start_byte)
            entered.bind(text(name), node.start_byte, type_told(types[0]) if len(types) == 1 else None)

    def _use(self, scope: Scope, start: int, end: int, *, bare: bool) -> None:
        if start in self.reader.consumed:
            return
        if self.source[start - 1 : start] == b".":
            if end in self.reader.calls:
                name = self.source[start:end].decode("utf-8", "replace")
                self.references.add(Use(scope, "calls", ("(", name), start))
            return
        chain, _ = self.reader.chain(start, end)
        for at, part in enumerate(chain):
            if part == "()" and at:
                self.references.add(Use(scope, "calls", chain[:at], start, bare))
        if chain[-1] != "()":
            kind = "inherits" if start in self.items.bases else "uses"
            self.references.add(Use(scope, kind, chain, start, bare))
