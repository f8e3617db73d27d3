"""Facts of one Java file by tree-sitter: definitions, imports, and names in use with their declared types followed."""

from pathlib import Path
from typing import TYPE_CHECKING

from controller.graph.facts import Definition, FileFacts, Import
from controller.graph.languages.java.chains import Chains
from controller.graph.languages.java.imports import Qualified, read_import
from controller.graph.languages.java.lookup import JavaReferences
from controller.graph.languages.parsed import in_order, read, tools
from controller.graph.languages.typed import Scope, Sweep, Told, Use

if TYPE_CHECKING:
    from tree_sitter import Node

_GRAMMAR = "tree_sitter_java"
_QUERY = str(Path(__file__).with_name("java.scm"))
_SIGNATURE_MAX = 300
_NAMES_MAX = 200
"""Fields that one declaration declares. More of them nobody wrote by hand."""
_FIRST = ("class", "anonymous", "function", "block", "base", "made")
"""What is handled first of captures of the same bytes."""


def grammar(kind: str) -> str:
    """Name the grammar's version: other facts may come of another one."""
    del kind
    language = tools(_GRAMMAR, _QUERY)[0]
    return ".".join(str(part) for part in language.semantic_version or (language.abi_version,))


def extract(kind: str, source: bytes) -> FileFacts:
    """Read one Java source; what a syntax error hides is left out."""
    del kind
    parsed = read(source, _GRAMMAR, _QUERY)
    return _File(source).facts(parsed.captures)._replace(error_line=parsed.error_line)


class _File:
    """One file on its way from captures to facts. Methods `_on_x` handle the captures `@x`."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.sweep = Sweep(len(source))
        self.chains = Chains(source)
        self.package = ""
        self.definitions: dict[str, Definition] = {}
        self.imports: list[Import] = []
        self.told: list[Import] = []
        self.uses: list[Use] = []
        self.skip: set[int] = set()
        self.kinds: dict[tuple[int, int], str] = {}

    def facts(self, captures: "dict[str, list[Node]]") -> FileFacts:
        self.skip = {node.start_byte for node in captures.pop("skip", ())}
        self.skip |= {node.start_byte for node in captures.get("parameter", ())}
        for name, node, start, end in in_order(captures, _FIRST):
            getattr(self, f"_on_{name}")(node, start, end)
        references = JavaReferences(self.sweep, self.source, Qualified(self.package, self.imports), self.imports)
        found = references.collect(self.uses, self.definitions)
        definitions = sorted(self.definitions.values(), key=lambda each: (each.line, each.qual))
        imports = (*self.imports, *references.qualified.found.values(), *self.told)
        return FileFacts(tuple(definitions), imports, found, settings=(("package", self.package),))

    def _on_package(self, node: "Node", start: int, end: int) -> None:
        self.package = "".join(self._text(start, end).split())
        self.chains.consume(node)

    def _on_import(self, node: "Node", start: int, end: int) -> None:
        self.chains.consume(node)
        if found := read_import(self._text(start, end), node.start_point.row + 1):
            self.imports.append(found)
            self.sweep.file.imported.add(found.bound)

    def _on_class(self, node: "Node", start: int, end: int) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        outer = self.sweep.at(start).around
        scope = self.sweep.enter(Scope("class", start, end, self._text(name.start_byte, name.end_byte)))
        outer.members.add(scope.name)
        self._define(scope.qual, "class", node, name)
        if node.type == "record_declaration" and (parameters := node.child_by_field_name("parameters")):
            for each in parameters.named_children:
                self._component(scope, each)

    def _component(self, scope: Scope, node: "Node") -> None:
        """Note a component of a record: a field, and a method that returns it."""
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name and (told := self._told(kind)):
            text, line = self._text(name.start_byte, name.end_byte), node.start_point.row + 1
            scope.fields[text] = told
            self.told.append(Import(scope.qual, text, "", ".".join(told.chain), "", line))

    def _on_anonymous(self, node: "Node", start: int, end: int) -> None:
        del node
        self.sweep.enter(Scope("class", start, end, based=True))

    def _on_function(self, node: "Node", start: int, end: int) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        inside = self.sweep.at(start)
        made = node.type in ("constructor_declaration", "compact_constructor_declaration")
        text = "new" if made else self._text(name.start_byte, name.end_byte)
        self.skip.add(name.start_byte)
        scope = self.sweep.enter(Scope("function", start, end, text if inside.kind != "class" or inside.name else ""))
        if not scope.name:  # a method of a class without a name belongs to what is around it
            return
        inside.around.members.add(text)
        self._define(scope.qual, "method", node, name)
        if not made and (told := self._told(node.child_by_field_name("type"))):
            self.told.append(Import(scope.qual, "()", "", ".".join(told.chain), "", node.start_point.row + 1))

    def _on_block(self, node: "Node", start: int, end: int) -> None:
        del node
        self.sweep.enter(Scope("block", start, end))

    def _on_parameter(self, node: "Node", start: int, end: int) -> None:
        del node
        self.sweep.at(start).opaque.add(self._text(start, end))

    def _on_plain(self, node: "Node", start: int, end: int) -> None:
        del node
        self.skip.add(start)
        self.sweep.at(start).values[self._text(start, end)] = None

    def _on_field(self, node: "Node", start: int, end: int) -> None:
        del end
        scope = self.sweep.at(start)
        kind, constant = node.child_by_field_name("type"), node.type == "constant_declaration"
        constant = constant or b" static " in b" " + self._modifiers(node) + b" "
        for each in node.children_by_field_name("declarator")[:_NAMES_MAX]:
            if name := each.child_by_field_name("name"):
                self.skip.add(name.start_byte)
                told = None if each.child_by_field_name("dimensions") else self._told(kind)
                self._note_field(scope, node, name, told, constant=constant)

    def _note_field(self, scope: Scope, node: "Node", name: "Node", told: Told | None, *, constant: bool) -> None:
        text = self._text(name.start_byte, name.end_byte)
        qual = f"{scope.qual}.{text}"
        holder, bound = (qual, "=") if constant else (scope.qual, text)
        if constant and scope.name:
            scope.members.add(text)
            self._define(qual, "variable", node, name)
        else:
            scope.fields[text] = told
        if told and scope.name:
            self.told.append(Import(holder, bound, "", ".".join(told.chain), "", name.start_point.row + 1))

    def _on_constant(self, node: "Node", start: int, end: int) -> None:
        del end
        name, scope = node.child_by_field_name("name"), self.sweep.at(start).around
        if name and scope.kind == "class":
            self.skip.add(name.start_byte)
            text = self._text(name.start_byte, name.end_byte)
            scope.members.add(text)
            self._define(f"{scope.qual}.{text}", "variable", node, name)
            self.told.append(Import(f"{scope.qual}.{text}", "=", "", scope.name, "", name.start_point.row + 1))

    def _on_variable(self, node: "Node", start: int, end: int) -> None:
        del end
        scope = self.sweep.at(start)
        declared = node.child_by_field_name("right" if node.type == "instanceof_expression" else "type")
        if declared is None and node.type in ("spread_parameter", "catch_formal_parameter", "record_pattern_component"):
            declared = next((each for each in node.named_children if each.type != "modifiers"), None)
        array = node.type == "spread_parameter"
        declarators = node.children_by_field_name("declarator")
        if array:
            declarators = [each for each in node.named_children if each.type == "variable_declarator"]
        for each in declarators or [node]:
            name = each.child_by_field_name("name")
            if name is None and each.type == "record_pattern_component":
                name = each.named_children[-1]
            if name is not None and name.type == "identifier":
                self.skip.add(name.start_byte)
                plain = None if array or each.child_by_field_name("dimensions") else self._told(declared)
                scope.values[self._text(name.start_byte, name.end_byte)] = self._inferred(plain, each)

    def _inferred(self, told: Told | None, node: "Node") -> Told | None:
        """Take the type of the value where the declared one is `var`."""
        declared = node.parent.child_by_field_name("type") if told is None and node.parent else None
        if declared is None or self._text(declared.start_byte, declared.end_byte) != "var":
            return told
        value = node.child_by_field_name("value")
        found = self.chains.of(value) if value else None
        if value is None or found is None:
            return None
        return Told(found, bare=value.type == "object_creation_expression")

    def _on_base(self, node: "Node", start: int, end: int) -> None:
        del end
        scope = self.sweep.at(start)
        if chain := self.chains.read_type(node):
            scope.based = True
            self.uses.append(Use(scope, "inherits", chain, start, bare=True, outside=True))

    def _on_made(self, node: "Node", start: int, end: int) -> None:
        del end
        if chain := self.chains.read_type(node):
            self._use("calls", chain, start, bare=True)

    def _on_type(self, node: "Node", start: int, end: int) -> None:
        del end
        if start not in self.skip and self.chains.fresh(node) and (chain := self.chains.read_type(node)):
            self._use("uses", chain, start, bare=True)

    def _on_call(self, node: "Node", start: int, end: int) -> None:
        del end
        name = node.child_by_field_name("name")
        if name is None:
            return
        self.chains.consume(name)
        chain = self.chains.of(node)
        if chain is None:
            chain = ("?", self._text(name.start_byte, name.end_byte), "()")
        else:
            self.chains.consume_root(node)
        self._use("calls", chain[:-1], start, bare=len(chain) == 2)  # noqa: PLR2004 - a name and its `()`

    def _on_reference(self, node: "Node", start: int, end: int) -> None:
        """Take `Money::of` for a use of the method, `Money::new` for one of the class."""
        del end
        parts = node.named_children
        chain = self.chains.of(parts[0]) or self.chains.type(parts[0]) if parts else None
        if chain and len(parts) > 1 and parts[-1].type == "identifier":
            self.chains.consume(parts[0])
            self.chains.consume(parts[-1])
            self._use("uses", (*chain, self._text(parts[-1].start_byte, parts[-1].end_byte)), start)

    def _on_access(self, node: "Node", start: int, end: int) -> None:
        del end
        if self.chains.fresh(node) and (chain := self.chains.of(node)):
            self.chains.consume_root(node)
            if chain[0] != "this" or len(chain) > 2:  # noqa: PLR2004 - a field of our own is no use of anything
                self._use("uses", chain, start)

    def _on_name(self, node: "Node", start: int, end: int) -> None:
        if start not in self.skip and self.chains.fresh(node):
            self._use("uses", (self._text(start, end),), start)

    def _use(self, kind: str, chain: tuple[str, ...], at: int, *, bare: bool = False) -> None:
        self.uses.append(Use(self.sweep.at(at), kind, chain, at, bare))

    def _told(self, node: "Node | None") -> Told | None:
        chain = self.chains.type(node) if node else None
        return Told(chain) if chain else None

    def _define(self, qual: str, kind: str, node: "Node", name: "Node") -> None:
        self.skip.add(name.start_byte)
        if qual not in self.definitions:
            signature = self._signature(node)
            self.definitions[qual] = Definition(qual, kind, name.start_point.row + 1, signature[:_SIGNATURE_MAX])

    def _signature(self, node: "Node") -> str:
        """Return a definition without its annotations and body."""
        body = node.child_by_field_name("body")
        first = node.named_children[0] if node.named_children else None
        start = first.end_byte if first and first.type == "modifiers" else node.start_byte
        rest = self._text(start, body.start_byte if body else node.end_byte)
        words = f"{self._modifiers(node).decode('utf-8', 'replace')} {rest}".split()
        return " ".join(words).removesuffix(";").rstrip()

    def _modifiers(self, node: "Node") -> bytes:
        """Return `public static final` and such, without annotations."""
        first = node.named_children[0] if node.named_children else None
        if first is None or first.type != "modifiers":
            return b""
        return b" ".join(self.source[each.start_byte : each.end_byte] for each in first.children if not each.is_named)

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")
