"""Markers: in what the checks wrote, and in what the product's own source can emit.

In output a marker is plain text. In Python source it must stand in a string that is code (no docstring, no comment): as
it is, or as a template (f-string, `%s`, `{}`) that can give the marker and itself holds the marker's last `[PART]`. In
other languages it must stand in the text as it is. Which branch emits it cannot be told from text; the output can.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packets.verdict import CheckResult
from reviewer.junit import captured_text
from reviewer.scenarios import python_parser

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST = 64 << 20
_HOLE = "\0"
_FORMATS = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?[diouxXeEfFgGcrsa]|\{[^{}]*\}|\$\w+")


@dataclass(frozen=True)
class Output:
    """Captured text: one stream a check log, one a test report."""

    streams: tuple[tuple[str, str], ...] = ()
    """(where, text)"""

    def place_of(self, marker: str) -> str | None:
        """Say where the marker was written first, or None."""
        for where, text in self.streams:
            at = text.find(marker)
            if at >= 0:
                line = text[text.rfind("\n", 0, at) + 1 : (text.find("\n", at) + 1 or len(text) + 1) - 1]
                return f"{where}: {line.strip()[:300]}"
        return None

    def in_order(self, markers: Iterable[str]) -> bool:
        """Say whether some stream, or all of them one after the other, hold the markers in this order."""
        wanted = tuple(markers)
        whole = "\n".join(text for _, text in self.streams)
        return any(_ordered(text, wanted) for text in (*(text for _, text in self.streams), whole))


def _ordered(text: str, markers: tuple[str, ...]) -> bool:
    at = 0
    for marker in markers:
        found = text.find(marker, at)
        if found < 0:
            return False
        at = found + len(marker)
    return True


def read_output(results: Iterable[CheckResult]) -> Output:
    """Read the kept logs and reports of the checks."""
    streams: list[tuple[str, str]] = []
    for result in results:
        streams.extend((f"reported by `{result.command}`", captured_text(_read(path))) for path in result.junit)
        if result.log:
            streams.append((f"output of `{result.command}`", _read(result.log).decode("utf-8", "replace")))
    return Output(tuple(streams))


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(_MOST)


def emits(path: str, source: bytes, marker: str) -> int:
    """Return the line, from 1, where this source can emit the marker; 0 if nowhere."""
    if _last_part(marker).encode() not in source:
        return 0
    if path.endswith((".py", ".pyi")):
        for line, template in _strings(source):
            if _can_give(template, marker):
                return line
        return 0
    at = source.find(marker.encode())
    return source.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _last_part(marker: str) -> str:
    parts = re.findall(r"\[[^\[\]]+\]", marker)
    return str(parts[-1]) if parts else marker


def _strings(source: bytes) -> Iterator[tuple[int, str]]:
    waiting = [python_parser().parse(source).root_node]
    while waiting:
        node = waiting.pop()
        if node.type in ("string", "concatenated_string"):
            if node.parent is None or node.parent.type != "expression_statement":
                yield node.start_point.row + 1, _template(node)
            if node.type == "concatenated_string":
                continue
        waiting.extend(reversed(node.named_children))


def _template(node: "Node") -> str:
    if node.type == "concatenated_string":
        return "".join(_template(child) for child in node.named_children if child.type == "string")
    pieces = []
    for child in node.named_children:
        if child.type == "interpolation":
            pieces.append(_HOLE)
        elif child.type == "string_content":
            pieces.append((child.text or b"").decode("utf-8", "replace"))
    return "".join(pieces)


def _can_give(template: str, marker: str) -> bool:
    if marker in template:
        return True
    if _last_part(marker) not in template:
        return False
    # `[A][{}]`-like templates: what stands before the last part must fit the marker's start, holes taking anything.
    head = _FORMATS.sub(_HOLE, template)
    end = head.find(_last_part(marker))
    if end < 0:
        return False
    before = marker[: marker.rfind(_last_part(marker))]
    pieces = head[:end].split(_HOLE)
    if len(pieces) == 1:
        return False
    # Only what follows a hole is bound to the marker; text before the first hole may be a prefix of the log line.
    pattern = ".*" + ".*".join(re.escape(piece) for piece in pieces[1:])
    return re.fullmatch(pattern, before, re.DOTALL) is not None
