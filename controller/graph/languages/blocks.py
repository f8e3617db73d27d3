"""Scopes of one file where locals begin at their declaration and may be declared again: Go and Rust."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

Chain = tuple[str, ...]
"""A dotted name. `()` is what a call returns, `()1` its second result; a name with `[]` behind it stands for an element
of it, with `?` for what it holds where it is optional."""

_DEEPEST = 100
"""Scopes inside scopes. What is deeper was written to slow us down, and is read as part of the last one."""

MARKS = "[]?"


class Told(NamedTuple):
    """What is known of the type of a name: that of `chain`, which is itself a type where it is `bare`.

    With a `mark` only the marked name has it: `items []Money` tells `Money` of `items[]`, and nothing of `items`.
    """

    chain: Chain
    mark: str = ""
    bare: bool = True

    def of(self, mark: str) -> "Chain | None":
        """Return the chain for a marked name."""
        if not mark.startswith(self.mark):
            return None
        rest = mark[len(self.mark) :]
        return (*self.chain[:-1], self.chain[-1] + rest) if rest else self.chain


class Binding(NamedTuple):
    """A local from byte `since` on. Its type, where known, is looked up at byte `at`."""

    since: int
    told: Told | None
    at: int


_SINCE = attrgetter("since")


@dataclass(slots=True, eq=False)
class Scope:
    """A file, module, class, function or block, from byte `start` to `end`.

    `name` goes before the names inside; dotted, for a function that stands outside its class. `node` says that it is in
    the graph itself. A `closed` one does not see the locals around it; an `apart` one none of the names. `opaque` are
    type parameters, with the first of their bounds; `stars` counts the imports that may bring any name; `own` is the
    type of a class.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    node: bool = False
    parent: "Scope | None" = None
    qual: str = ""
    members: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    opaque: "dict[str, Chain | None]" = field(default_factory=dict)
    values: dict[str, list[Binding]] = field(default_factory=dict)
    stars: int = 0
    apart: bool = False
    own: Chain = ()

    @property
    def closed(self) -> bool:
        """Tell whether the locals around it are not seen from inside."""
        return self.kind in ("function", "class", "module")

    def outward(self) -> Iterator["Scope"]:
        """Yield this scope and those around it."""
        at: Scope | None = self
        while at:
            yield at
            at = at.parent

    def owner(self) -> "Scope":
        """Return the nearest scope that has a node in the graph, or the file."""
        return next(each for each in self.outward() if each.node or each.parent is None)

    def home(self) -> "Scope":
        """Return the nearest scope in which a definition has a node: all but functions and blocks."""
        return next(each for each in self.outward() if each.kind not in ("function", "block"))

    def bind(self, name: str, since: int, told: Told | None = None, at: int = -1) -> None:
        """Note a local."""
        insort(self.values.setdefault(name, []), Binding(since, told, since if at < 0 else at), key=_SINCE)

    def bound(self, name: str, position: int) -> Binding | None:
        """Return what a name is bound to at a byte, in this scope alone."""
        known = self.values.get(name, ())
        before = bisect_right(known, position, key=_SINCE)
        return known[before - 1] if before else None


class Sweep:
    """The scopes of one file while positions rise."""

    def __init__(self, length: int) -> None:
        self.file = Scope("file", -1, length + 1)
        self._stack = [self.file]

    def enter(self, scope: Scope) -> Scope:
        """Open a scope where it starts, and return it; too deep, it is the one around it."""
        parent = self.at(scope.start)
        if len(self._stack) > _DEEPEST:
            return parent
        scope.parent = parent
        scope.qual = joined(parent.qual, scope.name)
        self._stack.append(scope)
        return scope

    def at(self, position: int) -> Scope:
        """Return the innermost scope that holds the position."""
        while len(self._stack) > 1 and self._stack[-1].end <= position:
            self._stack.pop()
        return self._stack[-1]


def joined(*names: str) -> str:
    """Return a dotted name of those that are not empty."""
    return ".".join(name for name in names if name)


def split_mark(name: str) -> tuple[str, str]:
    """Return a name without its marks, and these."""
    plain = name.rstrip(MARKS)
    return plain, name[len(plain) :]
