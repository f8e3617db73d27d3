"""From what a query captured in one file to its facts: frames entered and left, names bound, definitions made."""

import re
from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from controller.graph.facts import Definition, FileFacts, Import
from controller.graph.languages.frames import CLASSES, Frame, Frames, Told, framed, frames_of
from controller.graph.languages.roots import References
from controller.graph.languages.syntax import ENDS, Captured, Statement, Syntax, Thing, past_gap

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_MAX = 300
_VARIABLE_MAX = 120
_STATEMENTS = ("import", "export")
_TYPES = ("type", "made", "result", "like")
"""What tells a type, the surest first."""

_KINDS = {"class": "class", "namespace": "class", "variable": "variable", "field": "variable", "method": "method"}


Event = tuple[int, int, int, Thing | None]
"""Start, minus end, order among those of one place, and the thing; none for a name in use."""


class Seen(NamedTuple):
    """One name in use: where it stands and in which frame."""

    start: int
    end: int
    text: str
    frame: Frame


class Typed(NamedTuple):
    """What a definition says of its type, to be looked up when all names are bound: `frame` is where."""

    frame: Frame
    scope: str
    bound: str
    told: Told
    at: int


def facts_of(syntax: Syntax, source: bytes, captured: Captured) -> FileFacts:
    """Return the facts of one file."""
    return _File(syntax, source, captured).facts()


class _File:
    """One file on its way from captures to facts."""

    def __init__(self, syntax: Syntax, source: bytes, captured: Captured) -> None:
        self.syntax = syntax
        self.source = source
        self.captured = captured
        self.breaks = [match.start() for match in re.finditer(rb"\n", source)]
        self.definitions: dict[str, Definition] = {}
        self.imports: dict[Import, None] = {}
        self.typed: list[Typed] = []
        self.members: dict[str, Frame] = {}
        self.named = {
            thing.beside["name"].start_byte for thing in captured.things if framed(thing) and "name" in thing.beside
        }

    def facts(self) -> FileFacts:
        seen = self._sweep()
        references = References(self.syntax, self.source, self.captured.places, seen, self.line)
        for each in self.typed:
            self._typed(references, each)
        definitions = sorted(self.definitions.values(), key=lambda each: (each.line, each.qual))
        return FileFacts(tuple(definitions), tuple(self.imports), references.collect())

    def line(self, position: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self.breaks, position - 1) + 1

    def text(self, node: "Node | None") -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""

    def _sweep(self) -> list[Seen]:
        """Place everything in its frame; names are bound, the rest is returned."""
        frames = Frames(frames_of(self.captured, len(self.source)), self._entered)
        events = self._events()
        taken = {start for start, _, _, thing in events if thing and thing.kind not in (*_STATEMENTS, "property")}
        taken |= self.named | self.captured.places["skip"].keys()
        taken |= {thing.beside["owner"].start_byte for thing in self.captured.things if "owner" in thing.beside}
        seen: list[Seen] = []
        until = -1
        frame = frames.at(-1)
        for start, minus_end, _, each in events:
            if start < until:
                continue
            if start >= frames.until:
                frame = frames.at(start)
            if each is None:
                if start not in taken:
                    seen.append(
                        Seen(start, -minus_end, self.source[start:-minus_end].decode("utf-8", "replace"), frame)
                    )
            elif each.kind in _STATEMENTS:
                until = -minus_end if each.kind == "import" else until
                self._statement(each, frame)
            elif start not in self.named:
                self._place(each, frame, frames)
                frame = frames.at(start)
        frames.at(1 << 62)
        return seen

    def _events(self) -> list[Event]:
        """Return, in order, what has a place and no frame: things, and the names that may lead somewhere.

        Outer ones come first, and what is a local and a field comes first as a local.
        """
        places = self.captured.places
        wanted = self._wanted()
        events: list[Event] = [
            (start, -end, 0, None)
            for start, end in places["root"].items()
            if (wanted is None or self.source[start:end] in wanted) and start not in places["attribute"]
        ]
        events += [(start, -end, 0, None) for start, end in places["self"].items()]
        events += [(start, -end, 0, None) for start, end in places["attribute"].items() if self._called(end)]
        last = len(self.captured.things) + 1
        for order, thing in enumerate(self.captured.things, 1):
            if not framed(thing):
                at = thing.node if thing.kind in _STATEMENTS else thing.beside.get("name", thing.node)
                start, end = at.byte_range
                events.append((start, -end, order + last * (thing.kind == "field"), thing))
        events.sort(key=itemgetter(0, 1, 2))
        return events

    def _wanted(self) -> frozenset[bytes] | None:
        """Return the names that something in the file binds and tells of; None where other files may bind any."""
        if self.syntax.unbound:
            return None
        wanted, spans = set(), []
        for thing in self.captured.things:
            if thing.kind == "import":
                spans.append((thing.node.start_byte, thing.node.end_byte))
            elif thing.kind not in ("bind", "hoisted") or any(name in thing.beside for name in _TYPES):
                start, end = thing.beside.get("name", thing.node).byte_range
                wanted.add(self.source[start:end])
        names = sorted(self.captured.places["root"].items())
        starts = [start for start, _ in names]
        for start, end in spans:
            for name in names[bisect_left(starts, start) : bisect_left(starts, end)]:
                wanted.add(self.source[slice(*name)])
        return frozenset(wanted)

    def _called(self, end: int) -> bool:
        arguments, generic = self.captured.places["arguments"], self.captured.places["generic"]
        if end in arguments or self.source[end : end + 1] in ENDS:
            return end in arguments
        end = past_gap(self.source, end)
        if end in generic:
            end = past_gap(self.source, generic[end])
        return end in arguments

    def _statement(self, thing: Thing, frame: Frame) -> None:
        while frame.start == thing.node.start_byte and frame.parent:  # what is exported begins where its export does
            frame = frame.parent
        scope = frame.owner().qual
        for found in self.syntax.imports(Statement(thing.node, self.source, scope, top=frame.kind == "file")):
            self.imports.setdefault(found)
            if found.scope == scope and found.bound:
                frame.imported.add(found.bound)

    def _entered(self, frame: Frame) -> None:
        """Name a frame whose thing counts where it stands, and define it."""
        thing, parent = frame.thing, frame.parent
        frame.opened = frame.kind not in ("class", "object") or self.syntax.bare
        if thing is None or parent is None or "name" not in thing.beside:
            return
        name = self.text(thing.beside["name"])
        if thing.kind == "inside":
            frame.name = ".".join(self.syntax.parts(name.encode()))
        elif (home := self._home(thing, parent)) is not None:
            frame.parent, frame.name, frame.node = home, name, True
            self._define(thing, home, name)
        elif parent.kind not in CLASSES:
            parent.bind(name, thing.node.start_byte)
        if frame.kind == "class" and frame.name:
            qual = f"{frame.parent.qual}.{frame.name}" if frame.parent and frame.parent.qual else frame.name
            frame.defined = self.members.setdefault(qual, frame).defined

    def _home(self, thing: Thing, parent: Frame) -> Frame | None:
        """Return the frame of which a thing is a member; None where it is a local."""
        if owner := thing.beside.get("owner"):
            parts = self.syntax.parts(self.source[owner.start_byte : owner.end_byte])
            return self._owner(parent, ".".join(parts)) if parts and parent.kind in ("file", "namespace") else None
        inside = parent.kind in CLASSES and bool(parent.name)
        if thing.kind == "field" and parent.kind == "function" and parent.parent:  # a parameter that is a field, too
            return self._home(thing, parent.parent) if parent.parent.kind == "class" else None
        if thing.kind in ("method", "field"):
            return parent if inside else None
        if thing.kind in ("variable", "closure"):
            return parent if inside or parent.kind == "file" else None
        return parent

    def _owner(self, parent: Frame, name: str) -> Frame:
        """Return a frame of the class whose members are defined outside of it."""
        qual = f"{parent.qual}.{name}" if parent.qual else name
        made = Frame("class", parent.start, parent.end, None, name, parent=parent, qual=qual, opened=self.syntax.bare)
        made.defined = self.members.setdefault(qual, made).defined
        return made

    def _define(self, thing: Thing, home: Frame, name: str) -> None:
        home.defined.add(name)
        qual = f"{home.qual}.{name}" if home.qual else name
        kind = _KINDS.get(thing.kind) or ("method" if home.kind in ("class", "object") and home.name else "function")
        at = thing.beside["name"].start_byte
        known = self.definitions.get(qual)
        if known is None or (known.kind == "variable" and kind != "variable"):
            self.definitions[qual] = Definition(qual, kind, self.line(at), self._signature(thing, at))
        if returns := self._told(thing, "returns"):
            self.typed.append(Typed(home, qual, "()", returns, at))
        if told := self._any_told(thing):
            self.typed.append(Typed(home, qual, "=", told, at))

    def _place(self, thing: Thing, frame: Frame, frames: Frames) -> None:
        """Bind or define what has no frame of its own."""
        at = thing.beside.get("name", thing.node)
        name = self.text(at)
        if thing.kind == "property":
            owner, told = frame.own_class(), self._any_told(thing)
            if owner and told:
                self.typed.append(Typed(frame, owner.qual, name, told, at.start_byte))
            return
        if thing.kind in ("variable", "field") and "name" not in thing.beside:
            return  # a name that is computed or a string
        home = self._home(thing, frame) if thing.kind in ("variable", "field") else None
        if home:
            self._define(thing, home, name)
            inside = Frame("block", at.start_byte, thing.node.end_byte, None, name, node=True)
            frames.push(inside, home)  # what it is made of is its own, not the file's
        elif thing.kind != "field":
            home = frame.function() if thing.kind == "hoisted" else frame
            home.bind(name, at.start_byte)
            if told := self._any_told(thing):
                home.types[name] = told

    def _any_told(self, thing: Thing) -> Told | None:
        if len(thing.beside) < 2:  # noqa: PLR2004 - a name alone, as with most things
            return self._told(thing, next(iter(thing.beside), "")) if "name" not in thing.beside else None
        return next(filter(None, (self._told(thing, name) for name in _TYPES)), None)

    def _told(self, thing: Thing, name: str) -> Told | None:
        node = thing.beside.get(name)
        parts = self.syntax.parts(self.source[node.start_byte : node.end_byte]) if node else ()
        if not parts:
            return None
        return Told((*parts, "()") if name == "result" else parts, name in ("type", "returns"), name == "like")

    def _typed(self, references: References, each: Typed) -> None:
        """Say the type of a field, a variable or a result as facts do: another name for the type."""
        found = references.typed(each.frame, each.told)
        if found:
            scope, root, attrs = found
            symbol = ".".join(filter(None, (scope, root, *attrs)))
            self.imports.setdefault(Import(each.scope, each.bound, "", symbol, "", self.line(each.at)))

    def _signature(self, thing: Thing, at: int) -> str:
        """Return the head of a definition, from what is no decorator to its body; of a variable its line."""
        node = thing.node
        start = node.start_byte
        for child in node.children[:20]:
            if child.type not in self.syntax.prefixes:
                start = child.start_byte
                break
        value = node.child_by_field_name("value") or node.child_by_field_name("right") or node
        body = thing.beside.get("body") or value.child_by_field_name("body")
        if thing.kind in ("variable", "field"):
            end = self.source.find(b"\n", at, node.end_byte)
            end = min(node.end_byte if end < 0 else end, at + _VARIABLE_MAX)
        else:
            end = body.start_byte if body and body.start_byte > at else node.end_byte
        written = self.source[start : min(end, start + 4 * _SIGNATURE_MAX)].decode("utf-8", "replace")
        return " ".join(written.split())[:_SIGNATURE_MAX].rstrip(" {=:;,")
