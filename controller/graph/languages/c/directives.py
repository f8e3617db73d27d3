"""Includes, macros and namespaces of one C or C++ file: what is around its definitions."""

import re
from typing import TYPE_CHECKING

from controller.graph.facts import Definition, Import
from controller.graph.languages.c.uses import Uses
from controller.graph.languages.typed import Chain, Scope, Use

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = re.compile(r"(?<![\w\"'.])([A-Za-z_]\w*)(?=[ \t]*(\()?)")
_WORDS_MAX = 200
"""Names in the text of one macro that are looked at."""


class Directives(Uses):
    """Adds what a preprocessor does, and namespaces, to the uses."""

    def __init__(self, source: bytes, *, cpp: bool) -> None:
        super().__init__(source, cpp=cpp)
        self.definitions: dict[str, Definition] = {}
        self.imports: list[Import] = []
        self.aliases: dict[str, Chain] = {}

    def _on_include(self, node: "Node", start: int, end: int) -> None:
        del start, end
        text = self.names.text(node)
        module = text if node.type == "system_lib_string" else text.strip('"') if node.type == "string_literal" else ""
        if module.strip("<> "):
            self.imports.append(Import("", "*", module, "*", module, node.start_point.row + 1))

    def _on_macro(self, node: "Node", start: int, end: int) -> None:
        """Define a macro; names in its text are used by it. A guard of a header is no definition."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        self._read.add(name.start_byte)
        text = self.names.text(name)
        called = node.type == "preproc_function_def"
        guard = value is None and not called and b"#ifndef " + text.encode() in self.source[max(0, start - 200) : start]
        if guard or text in self.definitions:
            return
        signature = " ".join(self.names.text(node).split("\n")[0].split()).rstrip("\\; ")
        self._note(text, "function" if called else "variable", name, signature)
        self.sweep.file.members.add(text)
        scope = Scope("value", start, end, text)
        scope.place(self.sweep.file)
        parameters = node.child_by_field_name("parameters")
        own = {self.names.text(each) for each in parameters.named_children} if parameters else set()
        if parameters:
            self._read |= {each.start_byte for each in parameters.named_children}
        for found in list(_WORD.finditer(self.names.text(value) if value else ""))[:_WORDS_MAX]:
            if found[1] not in own and found[1] != text:
                self.uses.append(Use(scope, "calls" if found[2] else "uses", (found[1],), start, bare=True))

    def _on_namespace(self, node: "Node", start: int, end: int) -> None:
        name = node.child_by_field_name("name")
        chain = self.names.dotted(name) if name else None
        self.sweep.enter(Scope("namespace" if chain else "block", start, end, ".".join(chain or ())))

    def _on_namespace_alias(self, node: "Node", start: int, end: int) -> None:
        del start
        parts = node.named_children
        if len(parts) > 1 and (chain := self.names.dotted(parts[-1])):
            self.aliases[self.names.text(parts[0])] = chain
        self._until = end

    def _on_using(self, node: "Node", start: int, end: int) -> None:
        scope, self._until = self.sweep.at(start), end
        chain = self.names.dotted(node.named_children[-1]) if node.named_children else None
        if not chain or chain[0] == "std":
            return
        whole = any(each.type == "namespace" for each in node.children)
        bound, where = ("*", "") if whole else (chain[-1], scope.around.qual)
        if not whole:
            scope.around.imported.add(bound)
        self.imports.append(Import(where, bound, "", ".".join(chain), "", node.start_point.row + 1))

    def _note(self, qual: str, kind: str, name: "Node", signature: str) -> None:
        """Keep a definition: the first of its name, but a real one rather than a declaration."""
        known = self.definitions.get(qual)
        if known is None or (known.signature.endswith(";") and not signature.endswith(";")):
            self.definitions[qual] = Definition(qual, kind, name.start_point.row + 1, signature)
