"""Names in use in one C or C++ file, on the way through its captures in the order of its bytes."""

from typing import TYPE_CHECKING

from controller.graph.languages.c.names import Names
from controller.graph.languages.typed import Chain, Scope, Sweep, Use

if TYPE_CHECKING:
    from tree_sitter import Node


class Uses:
    """What was found so far. Methods `_on_x` handle the captures `@x`."""

    def __init__(self, source: bytes, *, cpp: bool) -> None:
        self.source = source
        self.cpp = cpp
        self.sweep = Sweep(len(source))
        self.names = Names(source)
        self.uses: list[Use] = []
        self._read: set[int] = set()
        self._until = -1

    def _on_base(self, node: "Node", start: int, end: int) -> None:
        del end
        scope = self.sweep.at(start)
        if chain := self._take(node):
            scope.based = True
            self.uses.append(Use(scope, "inherits", chain, start, bare=True, outside=True))

    def _on_made(self, node: "Node", start: int, end: int) -> None:
        del end
        if chain := self._take(node):
            self._use("calls", chain, start, bare=True)

    def _on_call(self, node: "Node", start: int, end: int) -> None:
        del end
        function = node.child_by_field_name("function")
        if function is None:
            return
        found = self.names.expression(function)
        if found is None:
            name = function.child_by_field_name("field") if function.type == "field_expression" else None
            found = (("?", self.names.text(name)), False) if name and self.cpp else None
        if found is None or (not self.cpp and len(found[0]) > 1):
            return
        chain, bare = found
        if function.type in ("identifier", "qualified_identifier", "template_function"):
            self._take(function)
        elif not bare:
            self._read.add(start)
        self._use("calls", chain, start, bare=bare)

    def _on_qualified(self, node: "Node", start: int, end: int) -> None:
        if start >= self._until and start not in self._read and (chain := self._take(node)):
            self._use("uses", chain, start, bare=True)
        del end

    def _on_type(self, node: "Node", start: int, end: int) -> None:
        if start >= self._until and start not in self._read:
            self._use("uses", (self.source[start:end].decode("utf-8", "replace"),), start, bare=True)
        del node

    def _on_name(self, node: "Node", start: int, end: int) -> None:
        if start >= self._until and start not in self._read:
            self._use("uses", (self.source[start:end].decode("utf-8", "replace"),), start)
        del node

    def _on_opaque(self, node: "Node", start: int, end: int) -> None:
        del end
        self._read.add(start)
        self.sweep.at(start).opaque.add(self.names.text(node))

    def _on_plain(self, node: "Node", start: int, end: int) -> None:
        del end
        self._read.add(start)
        self.sweep.at(start).values[self.names.text(node)] = None

    def _on_block(self, node: "Node", start: int, end: int) -> None:
        del node
        self.sweep.enter(Scope("block", start, end))

    def _take(self, node: "Node") -> Chain | None:
        """Return a dotted name, and take its parts for read; type arguments in it are names of their own."""
        self._read.add(node.start_byte)
        if node.type == "destructor_name":
            self._read |= {each.start_byte for each in node.named_children}
        at: Node | None = node
        while at is not None and at.type in ("qualified_identifier", "template_type", "template_function"):
            for field in ("scope", "name"):
                if part := at.child_by_field_name(field):
                    self._read.add(part.start_byte)
                    if part.type == "destructor_name":
                        self._read |= {each.start_byte for each in part.named_children}
            at = at.child_by_field_name("name")
        return (
            self.names.dotted(node)
            if node.type.endswith(("identifier", "template_type", "template_function"))
            else None
        )

    def _use(self, kind: str, chain: Chain, at: int, *, bare: bool = False) -> None:
        self.uses.append(Use(self.sweep.at(at), kind, chain, at, bare))
