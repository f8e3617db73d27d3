"""Words of Python source that may lead somewhere, found in its text: far fewer than its identifiers have nodes."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from controller.graph.languages.python.text import WORD

if TYPE_CHECKING:
    from tree_sitter import Node

_ROOTS = re.compile(rb"(?<![.\w\x80-\xff])" + WORD)
_CALLED = re.compile(rb"(?<=\.)" + WORD + rb"(?=[ \t\\\r]*\()")
_SOFT = frozenset({"match", "case", "type", "print", "exec", "_", "async", "await"})
"""Words that are identifiers in one place and none in another: there the tree is asked."""

Place = tuple[int, int, str]
"""Start, end below zero (so that of two that start together the longer one comes first), text."""


class Words:
    """The words of one file without syntax errors, its strings and comments blanked out."""

    def __init__(self, source: bytes, captures: "Mapping[str, Sequence[Node]]", root: "Node") -> None:
        self._root = root
        self._clear = _blanked(source, captures)

    def leading(self, names: Collection[str]) -> Iterator[Place]:
        """Yield these names wherever they begin a dotted name, and every attribute that is called."""
        wanted = {name.encode("utf-8", "replace"): name for name in names}
        for found in _ROOTS.finditer(self._clear):
            name = wanted.get(found[0])
            if name is not None and (name not in _SOFT or self._is_identifier(*found.span())):
                yield found.start(), -found.end(), name
        for found in _CALLED.finditer(self._clear):
            yield found.start(), -found.end(), found[0].decode("utf-8", "replace")

    def _is_identifier(self, start: int, end: int) -> bool:
        node = self._root.descendant_for_byte_range(start, end)
        return node is not None and node.type == "identifier"


def _blanked(source: bytes, captures: "Mapping[str, Sequence[Node]]") -> bytes:
    """Return the source with blanks for strings and comments, but not for what is computed inside a string."""
    spans = [(node.start_byte, -node.end_byte, False) for node in captures.get("opaque", ())]
    spans += [(node.start_byte, -node.end_byte, True) for node in captures.get("clear", ())]
    blanked = bytearray(source)
    for start, end, clear in sorted(spans):
        blanked[start:-end] = source[start:-end] if clear else b" " * (-end - start)
    return bytes(blanked)
