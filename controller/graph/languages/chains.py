"""Where the dotted names of one file lead, locals replaced by their types: for languages read with `blocks`."""

import re
from bisect import bisect_right
from typing import NamedTuple

from controller.graph.facts import Import, Reference
from controller.graph.languages.blocks import Chain, Scope, Told, joined, split_mark

Target = tuple[str, str, Chain]
"""(scope, root, attrs), as in a `Reference`."""

_TURNS = 5
"""Types of types of locals; more is a loop."""

_LONGEST = 24
"""Parts of a chain; what is longer is a table of data."""


class Use(NamedTuple):
    """A dotted name in use at a byte. `kind` is an edge kind; `bare` ones are types, which no local hides."""

    scope: Scope
    kind: str
    chain: Chain
    at: int
    bare: bool = False


class References:
    """Says where the uses of one file lead. `silent` names are those of the language itself.

    Where nothing in the file binds a name, other files may: it is kept if `unbound`, or where a star may bring it.
    """

    def __init__(self, source: bytes, silent: frozenset[str], *, unbound: bool) -> None:
        self._breaks = [found.start() for found in re.finditer(rb"\n", source)]
        self._silent = silent
        self._unbound = unbound
        self._found: dict[tuple[str, str, str, str, Chain], int] = {}

    def line(self, position: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self._breaks, position - 1) + 1

    def add(self, use: Use) -> None:
        """Note a use once, at its first line; calls of unknown things by their bare method name."""
        if len(use.chain) > _LONGEST:
            return
        target = self.target(use.scope, use.chain, use.at, bare=use.bare)
        source = use.scope.owner().qual
        if target:
            self._found.setdefault((source, use.kind, *target), use.at)
        elif use.kind == "calls" and len(use.chain) > 1:
            self._found.setdefault((source, "calls", "", "", (split_mark(use.chain[-1])[0],)), use.at)

    def collect(self) -> tuple[Reference, ...]:
        """Return every reference."""
        return tuple(Reference(*key, self.line(at)) for key, at in self._found.items())

    def target(self, scope: Scope, chain: Chain, at: int, *, bare: bool, turn: int = 0) -> Target | None:
        """Return where a chain leads; None for what nobody can know."""
        root, mark = split_mark(chain[0])
        rest = chain[1:]
        hidden = bare
        for each in scope.outward():
            if not hidden and (binding := each.bound(root, at)):
                following = binding.told.of(mark) if binding.told and rest else None
                if following is None or binding.told is None or turn > _TURNS:
                    return None
                return self.target(each, following + rest, binding.at, bare=binding.told.bare, turn=turn + 1)
            if root in each.opaque:
                return None
            if root in each.members or root in each.imported:
                return each.qual, chain[0], rest
            if each.stars and each.apart:
                return each.qual, chain[0], rest
            if each.apart:
                return None
            hidden = hidden or each.closed
        return self._outside(scope, chain)

    def _outside(self, scope: Scope, chain: Chain) -> Target | None:
        file = next(each for each in scope.outward() if each.parent is None)
        known = chain[0] not in self._silent and (self._unbound or file.stars)
        return ("", chain[0], chain[1:]) if known else None

    def alias(self, scope: Scope, owner: str, bound: str, told: Told | None, at: int) -> Import | None:
        """Return the row that tells other files the type of a field, a result or a variable."""
        target = self.target(scope, told.chain, at, bare=told.bare) if told and len(told.chain) < _LONGEST else None
        if told is None or target is None:
            return None
        symbol = joined(target[0], target[1], *target[2])
        return Import(owner, bound + told.mark, "", symbol, "", self.line(at))
