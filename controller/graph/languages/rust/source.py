"""One Rust file on its way from captures to facts."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.graph.facts import FileFacts
from controller.graph.languages.blocks import Scope, Sweep
from controller.graph.languages.chains import Use
from controller.graph.languages.rust.imports import Imports
from controller.graph.languages.rust.items import Items
from controller.graph.languages.rust.locals import Locals
from controller.graph.languages.rust.lookup import References
from controller.graph.languages.rust.names import SILENT
from controller.graph.languages.rust.text import Reader

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = 99
_LEADING = frozenset((b"(", b":", b".", b"!", b"[", b"?"))


class Source:
    """Sweeps the captures once, then says where the names lead."""

    def __init__(self, source: bytes, captures: "dict[str, list[Node]]") -> None:
        self.source = source
        self.captures = captures
        self.sweep = Sweep(len(source))
        self.reader = Reader(source)
        self.references = References(source)
        self.imports = Imports()
        self.names: set[int] = set()
        """Where names stand that are no uses: those of items and locals."""
        self.items = Items(source, self.sweep, self.imports, self.names)
        self.locals = Locals(self.reader, self.names)
        self.past = self.tree = -1
        """Where what is skipped ends, and the arguments of a macro."""

    def facts(self) -> FileFacts:
        """Return everything."""
        self._inside_names()
        uses = [use for use in self._statements() if use[1] not in self.names]
        items = self.items
        imports = self.imports.rows(items.definitions) + items.owners(self.references)
        for scope, start, end in uses:
            self._extern(scope, start, end)
        for scope, start, end in uses:
            self._use(scope, start, end)
        rows = [self.references.alias(*each) for each in items.told]
        imports += self.references.rows()
        imports += dict.fromkeys(row for row in rows if row)
        definitions = sorted(items.definitions.values(), key=lambda each: (each.line, each.qual))
        mods = "\n".join(dict.fromkeys(self.imports.mods))
        settings = (("mods", mods),) if mods else ()
        return FileFacts(tuple(definitions), tuple(imports), self.references.collect(), settings=settings)

    def _inside_names(self) -> None:
        """Tell the reader of chains what may stand between the parts of one."""
        reader = self.reader
        reader.calls = {node.start_byte: node.end_byte for node in self.captures.get("arguments", ())}
        reader.jumps = {node.start_byte: node.end_byte for node in self.captures.get("jump", ())}
        for node in self.captures.get("index", ()):
            if children := node.children:
                reader.elements[children[0].end_byte] = node.end_byte

    def _handlers(self) -> "dict[str, Callable[[Node, Scope], None]]":
        """Return who reads what the query captures, in the order of what begins at the same byte."""
        items, local = self.items, self.locals
        return {
            "skip": self._skip, "module": items.module, "class": items.class_, "impl": items.impl,
            "function": items.function, "block": self._block, "use": self._use_tree, "extern": self._crate,
            "value": items.value, "field": items.field, "tuple": items.tuple_fields, "variant": items.variant,
            "opaque": local.opaque, "where": local.where, "let": local.let, "condition": local.condition,
            "parameter": local.parameter, "self": local.self_parameter, "closure": local.closure,
            "match": local.match, "for": local.loop, "tree": self._tree,
        }  # fmt: skip

    def _statements(self) -> list[tuple[Scope, int, int]]:
        """Place every scope, binding and name; return the names that may be in use.

        What a macro is given need not be Rust, and what it binds is not known: there a plain name in small letters is
        no use.
        """
        handlers = self._handlers()
        events: list[tuple[int, int, int, str, Node | None]] = []
        for order, kind in enumerate(handlers):
            events += [(node.start_byte, -node.end_byte, order, kind, node) for node in self.captures.get(kind, ())]
        for kind in ("name", "attribute"):
            events += [(node.start_byte, -node.end_byte, _NAME, kind, None) for node in self.captures.get(kind, ())]
        uses = []
        for start, end, _, kind, node in sorted(events, key=lambda event: event[:3]):
            if start < self.past:
                continue
            if node is not None:
                handlers[kind](node, self.sweep.at(start))
            elif start >= self.tree or self._goes_on(start) or self._leads(start, -end):
                uses.append((self.sweep.at(start), start, -end))
        return uses

    def _skip(self, node: "Node", scope: Scope) -> None:
        self.past = max(self.past, node.end_byte)
        if node.type == "macro_definition":
            self.items.macro(node, scope)

    def _tree(self, node: "Node", scope: Scope) -> None:
        del scope
        self.tree = max(self.tree, node.end_byte)

    def _block(self, node: "Node", scope: Scope) -> None:
        del scope
        self.sweep.enter(Scope("block", node.start_byte, node.end_byte))

    def _crate(self, node: "Node", scope: Scope) -> None:
        self.imports.crate(node, next(each for each in scope.outward() if each.kind in ("file", "module")))
        self.past = max(self.past, node.end_byte)

    def _use_tree(self, node: "Node", scope: Scope) -> None:
        self.imports.use(node, next(each for each in scope.outward() if each.node or each.kind in ("file", "module")))
        self.past = max(self.past, node.end_byte)

    def _extern(self, scope: Scope, start: int, end: int) -> None:
        """Note a crate that is named without a `use`."""
        if start in self.reader.consumed or self._goes_on(start):
            return
        read = self.reader.chain(start, end)
        root = self.source[start:end].decode("utf-8", "replace").removeprefix("r#")
        if read.path and root[:1].islower() and root not in SILENT:
            self.references.extern(scope, root, start)

    def _use(self, scope: Scope, start: int, end: int) -> None:
        if start in self.reader.consumed or self._names_field(end):
            return
        if self._goes_on(start):
            if end in self.reader.calls and self.source[end : end + 1] == b"(":
                name = self.source[start:end].decode("utf-8", "replace")
                self.references.add(Use(scope, "calls", ("(", name), start))
            return
        read = self.reader.chain(start, end)
        bare = read.path or self.source[start : start + 1].isupper()
        for chain in read.calls:
            self.references.add(Use(scope, "calls", chain, start, bare))
        if read.chain and read.chain[-1] != "()":
            base = self.items.bases.get(start)
            self.references.add(Use(base or scope, "inherits" if base else "uses", read.chain, start, bare))

    def _goes_on(self, start: int) -> bool:
        """Tell whether a name belongs to what stands before it."""
        before = self.source[start - 2 : start]
        return before == b"::" or (before[-1:] == b"." and before != b"..")

    def _leads(self, start: int, end: int) -> bool:
        """Tell whether a name is called, begins a path or chain, or has a capital."""
        return self.source[start : start + 1].isupper() or self.source[end : end + 1] in _LEADING

    def _names_field(self, end: int) -> bool:
        """Tell whether a name in a macro is the field of a literal."""
        return self.source[end : end + 1] == b":" and self.source[end : end + 2] != b"::"
