"""A plan as its user wrote it, edited by positions: comments, order and layout stay, in block and in flow style."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import events

from controller.plan.nodes import resolve

_BREAK = re.compile(r"\r\n|\n|\r")
_PLAIN = re.compile(r"[A-Za-z0-9_./](?:[A-Za-z0-9_./+\- ]*[A-Za-z0-9_./+\-])?")
"""What may stand without quotes in any style, as far as we need it."""

Loc = tuple[str | int, ...]


@dataclass
class Part:
    """A value by its offsets in the text. The end of a block is the end of its last value, before any comment."""

    start: int
    end: int
    style: str  # plain, quoted, block; flow or block of a list or a mapping
    value: str = ""  # of a scalar, as text
    items: list["Part"] = field(default_factory=list)
    pairs: dict[str, tuple["Part", "Part"]] = field(default_factory=dict)

    @property
    def parts(self) -> list["Part"]:
        """Return the entries of a list, or the keys of a mapping each with all up to the end of its value."""
        return self.items or [Part(key.start, value.end, "") for key, value in self.pairs.values()]


class Sheet:
    """One text. Each edit returns the new text; places are ways from the root, as in `controller.plan.places`.

    Only for texts that are plans: what `controller.plan.load` takes, so without anchors, tags and second documents.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in _BREAK.finditer(text))]
        self._newline = next((found.group() for found in _BREAK.finditer(text)), "\n")
        stream = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.root = next(self._part(event, stream) for event in stream if isinstance(event, events.NodeEvent))

    def find(self, loc: Loc) -> Part:
        """Return the part; raises KeyError or IndexError."""
        part = self.root
        for step in loc:
            part = part.items[step] if isinstance(step, int) else part.pairs[step][1]
        return part

    # --- edits

    def put(self, loc: Loc, value: str) -> str:
        """Replace a text."""
        part = self.find(loc)
        return self._spliced(part.start, part.end, _written(value, quoted=part.style == "quoted"))

    def append(self, holder: Loc, key: str, value: str, after: str = "") -> str:
        """Add a text to the list `key` of the mapping at `holder`; a list that is not there is made behind `after`."""
        mapping = self.find(holder)
        if key not in mapping.pairs:
            return self._with_key(mapping, key, value, after)
        found = mapping.pairs[key][1]
        if not found.items:
            quoted = mapping.pairs[key][0].style == "quoted"
            return self._spliced(
                found.start, found.end, ("" if found.style == "flow" else " ") + f"[{_written(value, quoted=quoted)}]"
            )
        last = found.items[-1]
        written = _written(value, quoted=last.style == "quoted")
        if found.style == "flow":
            return self._spliced(last.end, last.end, self._gap(found) + written)
        indent = found.start - self._line(found.start)
        return self._behind_line(last.end, f"{' ' * indent}- {written}")

    def take(self, holder: Loc, key: str, value: str) -> str:
        """Take a text out of a list; a list that would be empty goes with its key. Raises ValueError without it."""
        found = self.find((*holder, key))
        texts = [part.value for part in found.items]
        index = texts.index(value)
        return self.drop(holder, key) if len(texts) == 1 else self._without(found, index)

    def drop(self, holder: Loc, key: str) -> str:
        """Take a key with its value out of a mapping; a mapping that would be empty goes with its own key."""
        mapping = self.find(holder)
        if len(mapping.pairs) == 1 and holder and isinstance(holder[-1], str):
            return self.drop(holder[:-1], holder[-1])
        return self._without(mapping, list(mapping.pairs).index(key))

    def drop_item(self, loc: Loc, index: int) -> str:
        """Take an entry of any kind out of a list."""
        return self._without(self.find(loc), index)

    def line(self, loc: Loc) -> int:
        """Return the line of a value, counted from 1."""
        start = self.find(loc).start
        return sum(begin <= start for begin in self._starts)

    # --- how

    def _with_key(self, mapping: Part, key: str, value: str, after: str) -> str:
        ahead = mapping.pairs.get(after) or list(mapping.pairs.values())[-1]
        quoted = ahead[0].style == "quoted"
        written = f"{_written(key, quoted=quoted)}: [{_written(value, quoted=quoted)}]"
        if mapping.style == "flow":
            return self._spliced(ahead[1].end, ahead[1].end, self._gap(mapping) + written)
        indent = mapping.start - self._line(mapping.start)
        return self._behind_line(ahead[1].end, " " * indent + written)

    def _gap(self, flow: Part) -> str:
        """Return what stands between two entries of a flow style: on one line, or on lines of their own."""
        last = flow.parts[-1]
        begins = self._line(last.start)
        if self.text[begins : last.start].strip():
            return ", "
        return f",{self._newline}{self.text[begins : last.start]}"

    def _without(self, holder: Part, index: int) -> str:
        parts = holder.parts
        part = parts[index]
        if holder.style == "flow":
            if index + 1 < len(parts):
                return self._spliced(part.start, parts[index + 1].start, "")
            if index:
                return self._cut(parts[index - 1].end, part)
            return self._spliced(part.start, part.end, "")
        begins, indent = self._line(part.start), holder.start - self._line(holder.start)
        before = self.text[begins : part.start]
        if not before.strip() or (holder.items and before.strip() == "-" and before.index("-") == indent):
            return self._spliced(begins, self._next_line(part.end), "")
        return self._spliced(part.start, parts[index + 1].start, "")  # the first key behind a dash: the next moves up

    def _cut(self, behind: int, last: Part) -> str:
        """Take the last entry of a flow style out with the comma before it; a comment between stays."""
        between = self.text[behind : last.start]
        if "#" not in between:
            return self._spliced(behind, last.end, "")
        comma = behind + between.index(",")
        begins = self._line(last.start)
        start = begins if not self.text[begins : last.start].strip() else last.start
        end = self._next_line(last.end) if start == begins and not self._rest(last.end).strip(", ") else last.end
        return self.text[:comma] + self.text[comma + 1 : start] + self.text[end:]

    def _spliced(self, start: int, end: int, new: str) -> str:
        return self.text[:start] + new + self.text[end:]

    def _behind_line(self, offset: int, line: str) -> str:
        """Put a line behind the one that holds the offset."""
        end = self._next_line(offset)
        if end == len(self.text) and not self.text.endswith(("\n", "\r")):
            return f"{self.text}{self._newline}{line}"
        return self._spliced(end, end, line + self._newline)

    def _line(self, offset: int) -> int:
        return max(start for start in self._starts if start <= offset)

    def _next_line(self, offset: int) -> int:
        return next((start for start in self._starts if start > offset), len(self.text))

    def _rest(self, offset: int) -> str:
        return self.text[offset : self._next_line(offset)].rstrip("\r\n")

    # --- reading

    def _part(self, event: events.NodeEvent, stream: Iterator[events.Event]) -> Part:
        start, end = self._offset(event.start_mark), self._offset(event.end_mark)
        if isinstance(event, events.ScalarEvent):
            style = {None: "plain", "": "plain", "|": "block", ">": "block"}.get(event.style, "quoted")
            return Part(start, self._trimmed(start, end), style, event.value)
        part = Part(start, end, "flow" if event.flow_style else "block")  # type: ignore[attr-defined]
        for inner in stream:
            if not isinstance(inner, events.NodeEvent):
                break
            child = self._part(inner, stream)
            if isinstance(event, events.MappingStartEvent):
                value = self._part(next(stream), stream)  # type: ignore[arg-type] # a value follows each key
                part.pairs[child.value] = (child, value)
            else:
                part.items.append(child)
        part.end = (
            self._offset(inner.end_mark) if part.style == "flow" else max((p.end for p in part.parts), default=end)
        )
        return part

    def _trimmed(self, start: int, end: int) -> int:
        return max(start, start + len(self.text[start:end].rstrip()))

    def _offset(self, mark: Any) -> int:
        return int(self._starts[mark.line] + mark.column) if mark.line < len(self._starts) else len(self.text)


def _written(value: str, *, quoted: bool) -> str:
    if quoted or not _PLAIN.fullmatch(value) or resolve(value) != value:
        return json.dumps(value, ensure_ascii=False)
    return value
