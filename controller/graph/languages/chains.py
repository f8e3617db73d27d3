"""Where the dotted names of one file lead, locals replaced by their types: for languages read with `blocks`."""

import re
from bisect import bisect_right
from typing import NamedTuple

from controller.graph.facts import Import, Reference
from controller.graph.languages.blocks import Binding, Chain, Scope, Told, joined, split_mark

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
    `vague` are methods that so many things have that their bare names tell nothing.
    """

    def __init__(
        self, source: bytes, silent: frozenset[str], vague: frozenset[str] = frozenset(), *, unbound: bool
    ) -> None:
        self._breaks = [found.start() for found in re.finditer(rb"\n", source)]
        self._silent = silent
        self._unbound = unbound
        self._vague = vague
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
        elif use.kind == "calls" and len(use.chain) > 1 + use.bare:  # what an unknown type has is no method by its name
            name, _ = split_mark(use.chain[-1])
            if name not in self._vague:
                self._found.setdefault((source, "calls", "", "", (name,)), use.at)

    def collect(self) -> tuple[Reference, ...]:
        """Return every reference."""
        return tuple(Reference(*key, self.line(at)) for key, at in self._found.items())

    def target(self, scope: Scope, chain: Chain, at: int, *, bare: bool, turn: int = 0) -> Target | None:
        """Return where a chain leads; None for what nobody can know."""
        root, mark = split_mark(chain[0])
        rest, hidden, star = chain[1:], bare, None
        for each in scope.outward():
            if not hidden and root in each.values and (binding := each.bound(root, at)):
                return self._local(each, binding, mark, rest, turn)
            if root in each.members or root in each.imported:
                return each.qual, chain[0], rest
            if root in each.opaque:
                bound = each.opaque[root] if rest and turn < _TURNS else None
                return self.target(each, bound + rest, at, bare=True, turn=turn + 1) if bound else None
            if each.stars and star is None:
                star = each.qual
            if each.apart:
                break
            hidden = hidden or each.closed
        if star is not None and root not in self._silent:
            return star, chain[0], rest
        return self.outside(chain)

    def _local(self, scope: Scope, binding: Binding, mark: str, rest: Chain, turn: int) -> Target | None:
        told = binding.told if rest and turn < _TURNS else None
        following = told.of(mark) if told else None
        if told is None or following is None:
            return None
        return self.target(scope, following + rest, binding.at, bare=told.bare, turn=turn + 1)

    def outside(self, chain: Chain) -> Target | None:
        """Return how other files are asked for a name that nothing in this one binds."""
        return ("", chain[0], chain[1:]) if self._unbound and chain[0] not in self._silent else None

    def alias(self, scope: Scope, owner: str, bound: str, told: Told | None, at: int) -> Import | None:
        """Return the row that tells other files the type of a field, a result or a variable."""
        target = self.target(scope, told.chain, at, bare=told.bare) if told and len(told.chain) < _LONGEST else None
        if told is None or target is None:
            return None
        symbol = joined(target[0], target[1], *target[2])
        return Import(owner, bound + told.mark, "", symbol, "", self.line(at))
