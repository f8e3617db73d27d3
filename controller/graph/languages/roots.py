"""Dotted names in use in one file: roots looked up in its frames, locals replaced by their type where it is told."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from controller.graph.facts import Reference
from controller.graph.languages.frames import Frame, Target, Told
from controller.graph.languages.syntax import ENDS, Syntax, past_gap

if TYPE_CHECKING:
    from controller.graph.languages.sweep import Seen

_LONGEST = 12
"""Parts of one dotted name that are followed; calls beyond them are looked for by their bare name."""

_TOLD = 3
"""A type of a type of a type; then it is a loop."""


class References:
    """Looks the roots of the names in use up, and makes references of those that lead somewhere."""

    def __init__(
        self,
        syntax: Syntax,
        source: bytes,
        places: Mapping[str, Mapping[int, int]],
        seen: "Sequence[Seen]",
        line: Callable[[int], int],
    ) -> None:
        self.syntax = syntax
        self.source = source
        self.places = places
        self.seen = seen
        self.line = line
        self.consumed: set[int] = set()
        self.binders: dict[tuple[int, str], Frame | None] = {}
        self.found: dict[tuple[str, str, str, str, tuple[str, ...]], int] = {}
        for one in seen:
            if one.start in places["assigned"] and (binder := _binder(one.frame, one.text)):
                binder.vague.add(one.text)

    def collect(self) -> tuple[Reference, ...]:
        """Return every reference once, at the first line where it stands."""
        for one in self.seen:
            if one.start in self.places["self"]:
                self._of_self(one)
            elif one.start not in self.places["attribute"]:
                self._root(one)
            elif one.start not in self.consumed:
                self._add(one, "calls", ("", "", (one.text,)))
        return tuple(Reference(*key, self.line(at)) for key, at in self.found.items())

    def _add(self, one: "Seen", kind: str, target: Target) -> None:
        self.found.setdefault((one.frame.owner().qual, kind, *target), one.start)

    def _chain(self, end: int) -> list[str]:
        """Return what follows a name: attributes, and `()` for each call."""
        parts: list[str] = []
        attributes, arguments, generic = (self.places[name] for name in ("attribute", "arguments", "generic"))
        while len(parts) < _LONGEST and self.source[end : end + 1] not in ENDS:
            at = past_gap(self.source, end)
            if at in generic:
                end = generic[at]
            elif at in arguments:
                parts.append("()")
                end = arguments[at]
            elif (dot := self.syntax.between.match(self.source, end)) and dot.end() in attributes:
                end = attributes[dot.end()]
                self.consumed.add(dot.end())
                parts.append(self.source[dot.end() : end].decode("utf-8", "replace"))
            else:
                break
        return parts

    def _of_self(self, one: "Seen") -> None:
        owner = one.frame.own_class()
        if owner is None:
            return
        bases = one.text in self.syntax.bases
        parts = [*(["super()"] if bases else []), *self._chain(one.end)]
        if parts:
            self._uses(one, (_outside(owner), owner.name, ()), parts)

    def _root(self, one: "Seen") -> None:
        key = (id(one.frame), one.text)
        if key not in self.binders:
            self.binders[key] = _binder(one.frame, one.text)
        binder = self.binders[key]
        if binder is None:
            if self.syntax.unbound:
                self._unbound(one)
        elif one.text in binder.defined or one.text in binder.imported:
            self._uses(one, (binder.qual, one.text, ()), self._chain(one.end))
        elif target := self._local(binder, one.text, 0):
            parts = self._chain(one.end)
            if parts and parts[0] != "()":
                self._uses(one, target, parts)

    def _unbound(self, one: "Seen") -> None:
        """Leave a name to the other files; a bare call may be one of an inherited member."""
        parts = self._chain(one.end)
        self._uses(one, ("", one.text, ()), parts)
        owner = one.frame.own_class() if self.syntax.bare and parts[:1] == ["()"] else None
        if owner:
            self._uses(one, (_outside(owner), owner.name, ()), [one.text, "()"])

    def _uses(self, one: "Seen", target: Target, parts: list[str]) -> None:
        """Add a call for each `()` after a name, and a use of what stands at the end."""
        scope, root, told = target
        if one.start in self.places["new"]:
            at = parts.index("()") if "()" in parts else len(parts)
            self._add(one, "calls", (scope, root, (*told, *parts[:at])))
            parts = parts[:at] + parts[at + 1 :]
            if len(parts) == at:
                return
        for at, part in enumerate(parts):
            if part == "()" and (at == 0 or parts[at - 1] != "()"):
                self._add(one, "calls", (scope, root, (*told, *parts[:at])))
        if not parts or parts[-1] != "()":
            kind = "inherits" if one.start in self.places["base"] else "uses"
            self._add(one, kind, (scope, root, (*told, *parts)))

    def _local(self, binder: Frame, name: str, depth: int) -> Target | None:
        """Return the type of a local; None for what nobody told."""
        told = binder.types.get(name)
        if told is None or (name in binder.vague and not told.declared):
            return None
        return self.typed(binder, told, depth=depth + 1, but=name)

    def typed(self, frame: Frame, told: Told, *, depth: int = 0, but: str = "") -> Target | None:
        """Return what a told type leads to from a frame; a local of the same name `but` does not hide it there."""
        root, *attrs = told.parts
        binder = _binder(frame, root, beyond=frame if root == but else None)
        if depth > _TOLD:
            return None
        if binder is None:
            return ("", root, tuple(attrs)) if self.syntax.unbound and not told.like else None
        if root in binder.defined or root in binder.imported:
            return None if told.like else (binder.qual, root, tuple(attrs))
        local = self._local(binder, root, depth) if told.like or attrs else None
        return (*local[:2], (*local[2], *attrs)) if local else None


def _binder(frame: Frame, root: str, *, beyond: Frame | None = None) -> Frame | None:
    """Return the frame that binds a name, farther out than `beyond` where that is given."""
    past = beyond is None
    for each in frame.outward():
        if past and each.binding(root):
            return each
        past = past or each is beyond
    return None


def _outside(frame: Frame) -> str:
    return frame.qual[: -len(frame.name)].rstrip(".")
