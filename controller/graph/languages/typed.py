"""Names in use where types are declared (Java, C, C++): roots looked up in block scopes, variables replaced by types.

An extractor hands over scopes, bindings and uses as it comes by them, in the order of the file; when all are known,
`References` says where each use leads.
"""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from controller.graph.facts import Reference

Chain = tuple[str, ...]
"""A dotted name. `this` and `super` may be its first part; `()` stands for what a call returns."""


class Told(NamedTuple):
    """The type of a variable: `bare` as declared, else that of the expression that it starts with."""

    chain: Chain
    bare: bool = True


_DEEPEST = 100
"""Scopes inside scopes. What is deeper was written to slow us down, and is read as part of the last one."""


@dataclass(slots=True, eq=False)
class Scope:
    """A file, namespace, class, function or block, from byte `start` to `end`.

    `name` is empty for a block, dotted for a function that stands outside its class. `members` are definitions,
    `fields` of a class and other `values` have their declared types, None where nobody knows. `opaque` are type
    parameters. A class is `based` when names may come from what it extends.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    parent: "Scope | None" = None
    qual: str = ""
    members: set[str] = field(default_factory=set)
    fields: "dict[str, Told | None]" = field(default_factory=dict)
    values: "dict[str, Told | None]" = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    based: bool = False
    owner: "Scope" = field(init=False)  # the nearest scope that has a node in the graph: a class, a function, the file
    around: "Scope" = field(init=False)  # the nearest scope that has a name of its own: a namespace, too

    def __post_init__(self) -> None:
        """Stand alone until placed."""
        self.owner = self.around = self

    def place(self, parent: "Scope") -> None:
        """Put this scope into the one around it."""
        self.parent = parent
        outer = parent.around.qual
        self.qual = f"{outer}.{self.name}" if outer and self.name else self.name or outer
        self.around = self if self.name else parent.around
        self.owner = self if self.name and self.kind != "namespace" else parent.owner

    def outward(self) -> Iterator["Scope"]:
        """Yield this scope and those around it."""
        at: Scope | None = self
        while at:
            yield at
            at = at.parent

    def inside_class(self) -> str:
        """Return the qual of the class whose members are seen here; empty where there is none, or it has no name."""
        for each in self.outward():
            if each.kind == "class":
                return each.qual if each.name else ""
            if each.kind == "function" and "." in each.name:
                return each.qual.rpartition(".")[0]
        return ""


class Sweep:
    """The scopes of one file while positions rise."""

    def __init__(self, length: int) -> None:
        self.file = Scope("file", -1, length + 1)
        self.named: dict[str, Scope] = {}
        self._stack = [self.file]

    def enter(self, scope: Scope) -> Scope:
        """Open a scope where it starts, and return it; too deep, it is the one around it."""
        parent = self.at(scope.start)
        if len(self._stack) > _DEEPEST:
            return parent
        scope.place(parent)
        if scope.kind == "class" and scope.name:
            self.named.setdefault(scope.qual, scope)
        self._stack.append(scope)
        return scope

    def at(self, position: int) -> Scope:
        """Return the innermost scope that holds the position."""
        while len(self._stack) > 1 and self._stack[-1].end <= position:
            self._stack.pop()
        return self._stack[-1]


class Use(NamedTuple):
    """A dotted name in use at a byte. `kind` is an edge kind.

    `bare` names are no variables: types, and functions where variables do not hide them. `outside` is looked up around
    the scope: what a class extends.
    """

    scope: Scope
    kind: str
    chain: Chain
    at: int
    bare: bool = False
    outside: bool = False


Target = tuple[str, str, Chain]
"""(scope, root, attrs), as in a `Reference`."""

_TURNS = 4
"""Types of types; more is a loop."""


class References:
    """Says where the uses of one file lead. Subclasses say how other files are asked for what nothing here binds."""

    def __init__(self, sweep: Sweep, source: bytes) -> None:
        self.sweep = sweep
        self._breaks = [found.start() for found in re.finditer(rb"\n", source)]
        self._found: dict[tuple[str, str, str, str, Chain], int] = {}
        self._known: dict[tuple[int, Chain, bool], Target | None] = {}

    def line(self, position: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self._breaks, position - 1) + 1

    def unbound(self, scope: Scope, chain: Chain, at: int) -> Target | None:
        """Return how other files are asked for a name that nothing in this one binds; None where it is no use.

        It stands at a byte of the file.
        """
        raise NotImplementedError

    def collect(self, uses: Sequence[Use], defined: Container[str]) -> tuple[Reference, ...]:
        """Return every reference once, at its first line; calls of unknown things by their bare method name.

        A reference starts in the nearest thing around it that is `defined`.
        """
        for use in uses:
            source = use.scope.owner.qual
            while source and source not in defined:
                source = source.rpartition(".")[0]
            seen = use.scope.parent or use.scope if use.outside else use.scope
            key = (id(seen), use.chain, use.bare)
            if key not in self._known:
                self._known[key] = self.target(seen, use)
            if target := self._known[key]:
                self._found.setdefault((source, use.kind, *target), use.at)
            elif use.kind == "calls" and len(use.chain) > 1 and not use.bare:
                self._found.setdefault((source, "calls", "", "", use.chain[-1:]), use.at)
        return tuple(Reference(*key, self.line(at)) for key, at in self._found.items())

    def target(self, scope: Scope, use: Use, turn: int = 0) -> Target | None:
        """Return where a use leads from a scope, variables replaced by their types; None for what nobody can know."""
        root, rest, bare = use.chain[0], use.chain[1:], use.bare
        if turn > _TURNS:
            return None
        if root in ("this", "super"):
            return self._own(scope, root, rest)
        at: Scope | None = scope
        while at:
            if root in at.opaque:
                return None
            if not bare and (root in at.values or root in at.fields):
                told = at.values.get(root) or at.fields.get(root)
                told_use = use._replace(chain=told.chain + rest, bare=told.bare) if told and rest else None
                return self.target(at, told_use, turn + 1) if told_use else None
            if root in at.members or root in at.imported:
                return at.qual, root, rest
            at = at.parent
        return self.unbound(scope, use.chain, use.at)

    def _own(self, scope: Scope, root: str, rest: Chain) -> Target | None:
        qual = scope.inside_class()
        if not qual or not rest:
            return None
        outer, _, name = qual.rpartition(".")
        return outer, name, rest if root == "this" else ("super()", *rest)
