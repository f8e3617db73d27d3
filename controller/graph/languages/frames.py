"""Lexical scopes of one file in a language with blocks: which name is bound where, found by one sweep over bytes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from controller.graph.languages.syntax import Captured, Thing

Target = tuple[str, str, tuple[str, ...]]
"""(scope, root, attributes): a name with the definition that holds its root, and what follows it."""

_FRAMES = {
    "class": "class", "namespace": "namespace", "inside": "class", "object": "object", "function": "function",
    "method": "function", "closure": "closure", "lambda": "closure", "anonymous": "function", "block": "block",
}  # fmt: skip
CLASSES = ("class", "object", "namespace")
"""Frames whose names are reached as members."""


class Told(NamedTuple):
    """What is known of the type of a name: the dotted type, or with `like` another name whose type it has.

    Where it is not `declared` but made (`= new Money()`), a second value makes it unknown.
    """

    parts: tuple[str, ...]
    declared: bool = True
    like: bool = False


@dataclass(slots=True, eq=False)
class Frame:
    """A file, class, namespace, object, function, closure or block, from byte `start` to `end`.

    `name` goes before the names inside it; `node` says that the frame is a definition. `opened` says that its members
    are seen bare inside it. `binds` are plain locals, `defined` have a definition, `imported` an import; `vague` are
    bound or assigned more than once.
    """

    kind: str
    start: int
    end: int
    thing: Thing | None = None
    name: str = ""
    node: bool = False
    opened: bool = True
    parent: "Frame | None" = None
    qual: str = ""
    binds: dict[str, int] = field(default_factory=dict)
    vague: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    types: dict[str, Told] = field(default_factory=dict)

    def owner(self) -> "Frame":
        """Return the nearest frame that has a node in the graph."""
        frame = self
        while not frame.node and frame.parent:
            frame = frame.parent
        return frame

    def outward(self) -> Iterator["Frame"]:
        """Yield the frames in which a name used here is looked up."""
        frame: Frame | None = self
        while frame:
            yield frame
            frame = frame.parent

    def function(self) -> "Frame":
        """Return the nearest function, closure or file: where a `var` lives."""
        frame = self
        while frame.kind == "block" and frame.parent:
            frame = frame.parent
        return frame

    def own_class(self) -> "Frame | None":
        """Return the class of `this`; None where it is nameless, or something else."""
        for frame in self.outward():
            if frame.kind in ("class", "object"):
                return frame if frame.name else None
            if frame.kind == "function" and frame.parent and frame.parent.kind not in ("class", "object"):
                return None
        return None

    def binding(self, name: str) -> bool:
        """Tell whether this frame binds a name for what is inside it."""
        return name in self.binds or name in self.imported or (self.opened and name in self.defined)

    def bind(self, name: str, at: int) -> None:
        """Bind a local."""
        if self.binds.setdefault(name, at) != at:
            self.vague.add(name)


_BODIES = {"closure": ("block", "closure", "function"), "class": ("block", "object")}
_DEEPEST = 100
"""Frames inside frames. What is deeper was written to slow us down, and is read as part of the last one."""


class Frames:
    """Frames by position, the file first. Positions must be asked for in rising order.

    `entered` is called with each frame when its parent is known: it may name it, and place another one between. Before
    `until` the answer stays the same.
    """

    def __init__(self, frames: Sequence[Frame], entered: Callable[[Frame], None]) -> None:
        self._frames = [frames[0], *sorted(frames[1:], key=lambda frame: (frame.start, -frame.end, not frame.thing))]
        self._entered = entered
        self._next = 1
        self._stack = [frames[0]]
        self.until = 0

    def at(self, position: int) -> Frame:
        """Return the innermost frame that holds the position."""
        while self._next < len(self._frames) and self._frames[self._next].start <= position:
            frame = self._frames[self._next]
            self._next += 1
            self._leave(frame.start)
            self._enter(frame)
        self._leave(position)
        self.until = self._stack[-1].end
        if self._next < len(self._frames):
            self.until = min(self.until, self._frames[self._next].start)
        return self._stack[-1]

    def _leave(self, position: int) -> None:
        while len(self._stack) > 1 and self._stack[-1].end <= position:
            self._stack.pop()

    def _enter(self, frame: Frame) -> None:
        if self._is_body(frame) or len(self._stack) > _DEEPEST:
            return
        frame.parent = self._stack[-1]
        self._entered(frame)
        self.push(frame, frame.parent)

    def push(self, frame: Frame, parent: Frame) -> None:
        """Make a frame the innermost one until its end."""
        frame.parent, outer = parent, parent.qual
        frame.qual = f"{outer}.{frame.name}" if outer and frame.name else frame.name or outer
        self._stack.append(frame)

    def _is_body(self, frame: Frame) -> bool:
        """Tell whether a frame is the body of the one around it, which says it all."""
        around = self._stack[-1]
        kinds = _BODIES.get(around.thing.kind if around.thing else "", ("block",))
        return frame.end == around.end and frame.kind in kinds and not (frame.thing and "name" in frame.thing.beside)


def framed(thing: Thing) -> bool:
    """Tell whether a thing has a frame: what is inside it may be its member or its local."""
    return thing.kind in _FRAMES or (thing.kind == "variable" and "body" in thing.beside)


def frames_of(captured: Captured, size: int) -> list[Frame]:
    """Return the frame of a file of so many bytes, and those of what is in it."""
    frames = [Frame("file", -1, size + 1, node=True)]
    named = set()
    for thing in captured.things:
        if framed(thing):
            span = (thing.node if thing.kind in _FRAMES else thing.beside["body"]).byte_range
            frames.append(Frame(_FRAMES.get(thing.kind, "object"), *span, thing))
            if "name" in thing.beside:
                named.add(span)
    # a literal that is the body of something named is no nameless one
    return [each for each in frames if not _nameless(each) or (each.start, each.end) not in named]


def _nameless(frame: Frame) -> bool:
    return frame.thing is not None and frame.thing.kind == "object"
