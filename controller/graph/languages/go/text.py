"""Dotted names in Go source, read on from their first identifier through calls, elements and type arguments."""

import re

from controller.graph.languages.blocks import Chain

_ATTRIBUTE = re.compile(rb"\.\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_LONGEST = 40
_ENDS = frozenset((b"", b",", b";", b")", b"]", b"}", b" ", b"\n"))
"""Bytes after which nothing goes on."""


class Reader:
    """Reads chains. `calls`, `elements` and `jumps` map the byte after a name to the end of what stands there."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.calls: dict[int, int] = {}
        self.elements: dict[int, int] = {}
        self.jumps: dict[int, int] = {}
        self.read: dict[int, tuple[Chain, int]] = {}
        self.consumed: set[int] = set()

    def chain(self, start: int, end: int) -> tuple[Chain, int]:
        """Return the chain that begins with the name between two bytes, and where it ends."""
        if start not in self.read:
            self.read[start] = self._chain(start, end)
        return self.read[start]

    def _chain(self, start: int, end: int) -> tuple[Chain, int]:
        parts = [self.source[start:end].decode("utf-8", "replace")]
        while len(parts) < _LONGEST and self.source[end : end + 1] not in _ENDS:
            if end in self.calls:
                parts[-1] = parts[-1].removesuffix("[]")  # what is called is rather of type arguments than an element
                parts.append("()")
                end = self.calls[end]
            elif end in self.elements:
                parts[-1] += "[]"
                end = self.elements[end]
            elif end in self.jumps:
                end = self.jumps[end]
            elif found := _ATTRIBUTE.match(self.source, end):
                parts.append(found[1].decode("utf-8", "replace"))
                self.consumed.add(found.start(1))
                end = found.end()
            else:
                break
        return tuple(parts), end
