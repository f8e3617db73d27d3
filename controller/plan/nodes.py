"""YAML as a tree of nodes that know their place, read event by event in bounded time and memory.

Only plain data: no tags, no anchors and aliases (they make bombs, and give one value two places), no merge keys, one
document, text keys, each once. Plain scalars follow YAML 1.2: `yes`, `on`, `1:30`, `010`, `0x1f` and dates are text.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml import events

from packets.problem import Problem

MAX_BYTES = 1 << 20
MAX_DEPTH = 24
MAX_NODES = 50_000

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+")
_HINTS = {
    "found character that cannot start any token": "quote values that begin with @, `, % or a tab; indent with spaces",
    "mapping values are not allowed in this context": "quote values that hold `: `, and check the indentation",
}


@dataclass
class Scalar:
    """One value. `text` is as written; `value` is what it means."""

    line: int
    column: int
    text: str
    value: bool | int | float | str | None


@dataclass
class Items:
    """A list."""

    line: int
    column: int
    items: list["Node"]


@dataclass
class Keys:
    """A mapping. `places`: line and column of each key."""

    line: int
    column: int
    pairs: dict[str, "Node"]
    places: dict[str, tuple[int, int]]


Node = Scalar | Items | Keys


class Unreadable(Exception):  # noqa: N818 - reads as what it says
    """The text is no YAML that we take; the problem is in the reader's list."""


def plain(node: Node) -> Any:
    """Return the node as JSON would hold it."""
    if isinstance(node, Keys):
        return {key: plain(value) for key, value in node.pairs.items()}
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return node.value


def resolve(text: str) -> bool | int | float | str | None:
    """Return what a plain scalar means in YAML 1.2, without the forms that JSON cannot hold."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


class Reader:
    """Reads one document. `problems` may be non-empty also when it came to the end."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._count = 0

    def read(self, data: bytes) -> Node:
        """Return the root; raises Unreadable when there is none to go on with."""
        text = self._decode(data)
        try:
            return self._document(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        except yaml.MarkedYAMLError as error:
            what = ", ".join(filter(None, (error.problem, error.context))) or "no YAML"
            self.add(
                *_mark(error.problem_mark or error.context_mark),
                "plan.yaml_syntax",
                what,
                _HINTS.get(error.problem or "", ""),
            )
        except (yaml.YAMLError, ValueError) as error:
            self.add(1, 1, "plan.yaml_syntax", " ".join(str(error).split()))
        raise Unreadable

    def add(self, line: int, column: int, code: str, message: str, hint: str = "") -> None:
        """Note a problem."""
        found = Problem(file=self.file, line=line, column=column, code=code, message=message, hint=hint)
        self.problems.append(found)

    def stop(self, line: int, column: int, code: str, message: str, hint: str = "") -> Unreadable:
        """Note a problem that nothing can follow; raise what this returns."""
        self.add(line, column, code, message, hint)
        return Unreadable()

    def _decode(self, data: bytes) -> str:
        if len(data) > MAX_BYTES:
            raise self.stop(1, 1, "plan.too_large", f"the file is larger than {MAX_BYTES} bytes")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line, column = _place(data[: error.start].decode("utf-8", "replace"))
            raise self.stop(line, column, "plan.encoding", "the file is not UTF-8 here") from None
        if bad := _CONTROL.search(text):
            line, column = _place(text[: bad.start()])
            code = ord(bad.group())
            raise self.stop(line, column, "plan.bad_character", f"a control character, U+{code:04X}", "remove it")
        return text

    def _document(self, stream: Iterator[events.Event]) -> Node:
        root: Node | None = None
        for event in stream:
            if isinstance(event, events.DocumentStartEvent):
                line, column = _mark(event.start_mark)
                if root is not None:
                    raise self.stop(line, column, "plan.many_documents", "a second document", "a file holds one plan")
                if event.tags:
                    self.add(line, column, "plan.yaml_tag", "a %TAG directive", "remove it")
            elif isinstance(event, events.NodeEvent):
                root = self._node(event, stream, 0)
        if root is None or (isinstance(root, Scalar) and root.value is None):
            raise self.stop(1, 1, "plan.empty", "the plan is empty", "`grace init` writes a plan to start from")
        return root

    def _node(self, event: events.NodeEvent, stream: Iterator[events.Event], depth: int) -> Node:
        line, column = _mark(event.start_mark)
        self._count += 1
        if self._count > MAX_NODES:
            raise self.stop(line, column, "plan.too_large", f"more than {MAX_NODES} values")
        if depth > MAX_DEPTH:
            raise self.stop(line, column, "plan.too_deep", f"nested deeper than {MAX_DEPTH} levels")
        if event.anchor:
            name = ("*" if isinstance(event, events.AliasEvent) else "&") + event.anchor
            self.add(line, column, "plan.yaml_alias", f"anchors and aliases are not taken: {name}", "write it out")
        if tag := getattr(event, "tag", None):
            self.add(line, column, "plan.yaml_tag", f"tags are not taken: {tag}", "remove it")
        if isinstance(event, events.SequenceStartEvent):
            return self._items(stream, Items(line, column, []), depth)
        if isinstance(event, events.MappingStartEvent):
            return self._keys(stream, Keys(line, column, {}, {}), depth)
        return self._scalar(event, line, column)

    def _scalar(self, event: events.NodeEvent, line: int, column: int) -> Scalar:
        text = event.value if isinstance(event, events.ScalarEvent) else ""
        if bad := _CONTROL.search(text.replace("\r", "\x00")):
            code = ord(bad.group()) or 13
            self.add(line, column, "plan.bad_character", f"a control character, U+{code:04X}", "remove it")
        is_plain = isinstance(event, events.ScalarEvent) and bool(event.implicit[0])
        return Scalar(line, column, text, resolve(text) if is_plain else text)

    def _items(self, stream: Iterator[events.Event], node: Items, depth: int) -> Items:
        for event in stream:
            if not isinstance(event, events.NodeEvent):
                break
            node.items.append(self._node(event, stream, depth + 1))
        return node

    def _keys(self, stream: Iterator[events.Event], node: Keys, depth: int) -> Keys:
        for event in stream:
            if not isinstance(event, events.NodeEvent):
                break
            key = self._node(event, stream, depth + 1)
            value = self._node(next(stream), stream, depth + 1)  # type: ignore[arg-type] # a value follows each key
            self._pair(node, key, value)
        return node

    def _pair(self, node: Keys, key: Node, value: Node) -> None:
        place = (key.line, key.column)
        if not isinstance(key, Scalar) or not key.text:
            self.add(*place, "plan.bad_key", "a key must be text")
        elif key.text == "<<" and key.value == "<<":
            self.add(*place, "plan.yaml_merge", "merge keys are not taken", "write the keys out")
        elif key.text in node.pairs:
            first = node.places[key.text][0]
            message = f"the key `{key.text[:60]}` is here a second time, the first is in line {first}"
            self.add(*place, "plan.duplicate_key", message, "keep one of them")
        else:
            node.pairs[key.text] = value
            node.places[key.text] = place


def _mark(mark: Any) -> tuple[int, int]:
    """Return line and column of a mark of yaml's, counted from 1."""
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _place(before: str) -> tuple[int, int]:
    """Return line and column of what follows `before`."""
    lines = before.replace("\r\n", "\n").replace("\r", "\n")
    return lines.count("\n") + 1, len(lines) - (lines.rfind("\n") + 1) + 1
