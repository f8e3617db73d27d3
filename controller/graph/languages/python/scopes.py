"""Lexical scopes of one Python file: which name is bound where, found by one sweep over sorted byte positions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

Target = tuple[str, str, tuple[str, ...]]
"""(scope, root, attrs): a dotted name with the scope that binds its root."""


@dataclass(slots=True, eq=False)
class Frame:
    """A module, class, function, lambda or comprehension.

    Bytes from `start` to `body` are its header (decorators, parameters, bases): they belong to it, but names in them
    are looked up outside. `keyword` is where `def` or `class` stands. `binds` counts plain bindings, `types` holds what
    annotations and constructors say.
    """

    kind: str
    start: int
    keyword: int
    body: int
    end: int
    name: str = ""
    parent: "Frame | None" = None
    qual: str = ""
    binds: dict[str, int] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)  # variables of a module that have a node in the graph
    outer: set[str] = field(default_factory=set)
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    first: str = ""  # the first parameter of a function: `self`, in a method

    def owner(self) -> "Frame":
        """Return the nearest class, function or module: the one that has a node in the graph."""
        frame = self
        while frame.kind in ("lambda", "comprehension") and frame.parent:
            frame = frame.parent
        return frame

    def outward(self) -> Iterator["Frame"]:
        """Yield the frames in which a name used here is looked up: class bodies are seen from themselves only."""
        frame: Frame | None = self
        while frame:
            if frame is self or frame.kind != "class":
                yield frame
            frame = frame.parent


_DEEPEST = 100
"""Scopes inside scopes. What is deeper was written to slow us down, and is read as part of the last one."""


class Sweep:
    """Frames by position. Positions must be asked for in rising order."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._frames = sorted(frames, key=lambda frame: (frame.start, -frame.end))
        self._next = 1
        self._stack = [self._frames[0]]

    def at(self, position: int) -> Frame:
        """Return the innermost frame that holds the position; its parents and quals are set on the way."""
        while self._next < len(self._frames) and self._frames[self._next].start <= position:
            frame = self._frames[self._next]
            self._next += 1
            self._leave(frame.start)
            self._enter(frame)
        self._leave(position)
        return self._stack[-1]

    def finish(self) -> None:
        """Place the frames that nothing asked for."""
        self.at(1 << 62)

    def _leave(self, position: int) -> None:
        while len(self._stack) > 1 and self._stack[-1].end <= position:
            self._stack.pop()

    def _enter(self, frame: Frame) -> None:
        if len(self._stack) > _DEEPEST:
            return
        parent = self._stack[-1]
        frame.parent = parent
        outer = parent.owner().qual
        if frame.name:
            frame.qual = f"{outer}.{frame.name}" if outer else frame.name
            parent.owner().defined.add(frame.name)
        else:
            frame.qual = outer
        self._stack.append(frame)


class Seen(NamedTuple):
    """One identifier: where, in which frame, and the frame in which it is looked up."""

    start: int
    end: int
    text: str
    frame: Frame
    lookup: Frame
