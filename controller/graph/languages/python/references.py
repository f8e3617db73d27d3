"""Names in use in one Python file: roots looked up in its scopes, instances replaced by their class where told."""

from collections.abc import Sequence

from controller.graph.facts import Reference
from controller.graph.languages.python.scopes import Frame, Seen, Target
from controller.graph.languages.python.text import (
    ASSIGNED,
    ATTRIBUTE,
    CALLED,
    CHAIN,
    DOTTED,
    SUPER,
    WORDS,
    SourceText,
    split,
)


class References:
    """Looks the roots of the identifiers up, and makes references of those that lead somewhere."""

    def __init__(self, text: SourceText, seen: Sequence[Seen], *, stars: bool) -> None:
        self.text = text
        self.seen = seen
        self.stars = stars
        self.attributes: dict[str, dict[str, Target]] = {}
        self.consumed: set[int] = set()
        self.leads: dict[tuple[int, str], bool] = {}
        self.chains: dict[tuple[int, str, bytes], tuple[Target | None, tuple[int, ...]]] = {}
        self.found: dict[tuple[str, str, str, str, tuple[str, ...]], int] = {}

    def collect(self) -> tuple[Reference, ...]:
        """Return every reference once, at its first line; calls of unknown things by their bare method name."""
        source = self.text.source
        self._attribute_types()
        for one in self.seen:
            if source[one.start - 1 : one.start] != b".":
                self._root(one)
            elif one.start not in self.consumed and CALLED.match(source, one.end):
                self._add(one, "calls", ("", "", (one.text,)))
        return tuple(Reference(*key, self.text.line(at)) for key, at in self.found.items())

    def _add(self, one: Seen, kind: str, target: Target) -> None:
        self.found.setdefault((one.frame.owner().qual, kind, *target), one.start)

    def _root(self, one: Seen) -> None:
        source = self.text.source
        if one.text == "super" and (after := SUPER.match(source, one.end)):
            if owner := _class_around(one.frame):
                self.consumed.add(after.start(1))
                name = after[1].decode("utf-8", "replace")
                self._add(one, "calls", (_outside(owner), owner.name, ("super()", name)))
            return
        if not self._leads(one.lookup, one.text):
            return
        chain = CHAIN.match(source, one.end)
        end = chain.end() if chain else one.end
        target, offsets = self._chained(one, source[one.end : end])
        if target is None:
            return
        self.consumed.update(one.end + offset for offset in offsets)
        kind = "calls" if CALLED.match(source, end) else "uses"
        self._add(one, "inherits" if one.start in self.text.marks["base"] else kind, target)
        if kind == "calls" and one.start in self.text.made:
            self._on_result(one, target, self.text.made[one.start])

    def _on_result(self, one: Seen, target: Target, end: int) -> None:
        """Follow `Money(1).add(…)`: what a class makes leads to the class."""
        member = ATTRIBUTE.match(self.text.source, end)
        if member and CALLED.match(self.text.source, member.end()):
            self.consumed.add(member.start(1))
            scope, root, attrs = target
            self._add(one, "calls", (scope, root, (*attrs, member[1].decode("utf-8", "replace"))))

    def _chained(self, one: Seen, rest: bytes) -> tuple[Target | None, tuple[int, ...]]:
        """Return where a name and the attributes after it lead, and where those attributes stand after it."""
        key = (id(one.lookup), one.text, rest)
        if key not in self.chains:
            target = self.target(one.lookup, one.text, split(rest)[1:] if rest else ())
            self.chains[key] = target, tuple(m.start() for m in WORDS.finditer(rest))
        return self.chains[key]

    def _leads(self, lookup: Frame, root: str) -> bool:
        """Tell quickly whether a name may lead anywhere: most names are plain locals."""
        key = (id(lookup), root)
        if key not in self.leads:
            binder = self._binder(lookup, root)
            if binder is None:
                self.leads[key] = self.stars
            else:
                plain = root not in binder.defined and root not in binder.imported
                self.leads[key] = not plain or root in binder.types or root in binder.named or root == binder.first
        return self.leads[key]

    def _binder(self, lookup: Frame, root: str) -> Frame | None:
        for frame in lookup.outward():
            if root not in frame.outer and (root in frame.defined or root in frame.imported or root in frame.binds):
                return frame
        return None

    def target(self, lookup: Frame, root: str, attrs: tuple[str, ...], depth: int = 0) -> Target | None:
        """Return where the root is bound, with instances replaced by their class; None for what nobody can know."""
        frame = self._binder(lookup, root)
        if frame is None:
            return ("", root, attrs) if self.stars else None
        if root in frame.defined or root in frame.imported:
            return frame.qual, root, attrs
        local = self._local(frame, root, attrs, depth)
        return (frame.qual, root, attrs) if local is None and root in frame.named else local

    def _local(self, frame: Frame, root: str, attrs: tuple[str, ...], depth: int) -> Target | None:
        if not attrs or depth > 3:  # noqa: PLR2004 - a type of a type of a type; then it is a loop
            return None
        if frame.kind == "function" and root == frame.first and frame.parent and frame.parent.kind == "class":
            owner = frame.parent
            if told := self.attributes.get(owner.qual, {}).get(attrs[0]):
                return (*told[:2], (*told[2], *attrs[1:])) if attrs[1:] else None
            return _outside(owner), owner.name, attrs
        told_type = frame.types.get(root)
        if told_type is None or frame.binds[root] > 1:
            return None
        return self.target(self.told_from(frame, told_type), told_type[0], (*told_type[1:], *attrs), depth + 1)

    def told_from(self, frame: Frame, told: tuple[str, ...]) -> Frame:
        """Return the frame in which a type is looked up: a parameter of the same name must not hide it."""
        inside = frame.kind == "module" or told[0] in frame.imported or told[0] in frame.defined
        return frame if inside or frame.parent is None else frame.parent

    def _attribute_types(self) -> None:
        """Note what `self.x: T`, `self.x = T(…)` and `self.x = parameter_of_type_T` tell of a class's attributes."""
        source, marks = self.text.source, self.text.marks
        for one in self.seen:
            frame = one.frame.owner()
            if one.text != frame.first or frame.parent is None or frame.parent.kind != "class":
                continue
            attribute = ATTRIBUTE.match(source, one.end)
            if not attribute:
                continue
            told, lookup = self.text.told(attribute.end()), frame
            equals = ASSIGNED.match(source, attribute.end())
            if told is None and equals and equals.end() in marks["alias"]:
                name = DOTTED.match(source, equals.end())
                told = frame.types.get(name[0].decode("utf-8", "replace")) if name else None
                lookup = self.told_from(frame, told) if told else frame
            if told and (target := self.target(lookup, told[0], told[1:])):
                known = self.attributes.setdefault(frame.parent.qual, {})
                known.setdefault(attribute[1].decode("utf-8", "replace"), target)


def _class_around(frame: Frame) -> Frame | None:
    at: Frame | None = frame
    while at and at.kind != "class":
        at = at.parent
    return at


def _outside(frame: Frame) -> str:
    return frame.qual.rpartition(".")[0]
