"""Paths and chains of calls in Rust source, read on from their first name."""

import re
from typing import NamedTuple

from controller.graph.languages.blocks import Chain

_GAP = rb"(?:\s|//[^\n]{0,200}\n)*"
_WORD = rb"(?:r#)?([A-Za-z_\x80-\xff][\w\x80-\xff]*)"
_PATH = re.compile(rb"\s*::\s*" + _WORD)
_TURBOFISH = re.compile(rb"\s*::\s*(?=<)")
_ATTRIBUTE = re.compile(_GAP + rb"\.\s*(?:(\d+)(?!\w)|" + _WORD + rb")")
_TRY = re.compile(rb"\s*\?")
_MACRO = re.compile(rb"!\s*(?=[(\[{])")
_LONGEST = 40
_ENDS = frozenset((b"", b",", b";", b")", b"]", b"}", b">", b"="))
"""Bytes after which nothing goes on."""

SAME = frozenset({
    "clone", "as_ref", "as_mut", "as_deref", "as_deref_mut", "borrow", "borrow_mut", "by_ref", "to_owned", "iter",
    "iter_mut", "into_iter", "into_boxed",
})  # fmt: skip
"""Methods that mostly return what they are called on, or something with its members."""

HELD = frozenset({"unwrap", "expect", "unwrap_or", "unwrap_or_else", "unwrap_or_default"})
"""Methods that return what an optional value holds."""


class Read(NamedTuple):
    """A chain, where it ends, the parts that are called (as chains of their own), and whether it is a path."""

    chain: Chain
    end: int
    calls: tuple[Chain, ...]
    path: bool


class Reader:
    """Reads chains. `calls`, `elements` and `jumps` map the byte after a name to the end of what stands there."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.calls: dict[int, int] = {}
        self.elements: dict[int, int] = {}
        self.jumps: dict[int, int] = {}
        self.consumed: set[int] = set()
        self._read: dict[int, Read] = {}

    def chain(self, start: int, end: int) -> Read:
        """Return the chain that begins with the name between two bytes."""
        if start not in self._read:
            self._read[start] = self._chain(start, end)
        return self._read[start]

    def _chain(self, start: int, end: int) -> Read:
        parts = [self.source[start:end].decode("utf-8", "replace").removeprefix("r#")]
        calls: list[Chain] = []
        path = False
        while len(parts) < _LONGEST and self.source[end : end + 1] not in _ENDS:
            if end in self.calls and self.source[end : end + 1] == b"(":
                calls.append(tuple(parts))
                end = self.calls[end]
                self._called(parts)
            elif end in self.elements or (end in self.calls and self.source[end : end + 1] == b"["):
                parts[-1] += "[]"
                end = self.elements.get(end) or self.calls[end]
            elif found := _TRY.match(self.source, end):
                parts[-1] += "?"
                end = found.end()
            elif found := _TURBOFISH.match(self.source, end):
                if found.end() not in self.jumps:
                    break
                end = self.jumps[found.end()]
            elif found := _PATH.match(self.source, end):
                path = path or len(parts) == 1
                end = self._part(parts, found, 1)
            elif found := _ATTRIBUTE.match(self.source, end):
                end = self._part(parts, found, 1 if found[1] else 2)
            elif found := _MACRO.match(self.source, end):
                calls.append(tuple(parts))
                return Read((), found.end(), tuple(calls), path)
            else:
                break
        return Read(tuple(parts), end, tuple(calls), path)

    def _part(self, parts: list[str], found: re.Match[bytes], group: int) -> int:
        name = found[group].decode("utf-8", "replace")
        self.consumed.add(found.start(group))
        if name != "await":
            parts.append(name)
        return found.end()

    @staticmethod
    def _called(parts: list[str]) -> None:
        """Say what a call returns, where its name tells."""
        last = parts[-1]
        if len(parts) > 1 and last in HELD:
            parts.pop()
            parts[-1] += "?"
        elif len(parts) > 1 and last in SAME:
            parts.pop()
        else:
            parts.append("()")
