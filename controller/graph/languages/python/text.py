"""What stands around an identifier in Python source bytes: the rest of a dotted name, a call, a type.

Reading on in the text is cheaper than asking for the syntax nodes around every identifier.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

WORD = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
GAP = rb"[ \t\r\n\\]*"
CHAIN = re.compile(rb"(?:" + GAP + rb"\." + GAP + WORD + rb")*")
DOTTED = re.compile(WORD + CHAIN.pattern)
WORDS = re.compile(WORD)
ATTRIBUTE = re.compile(GAP + rb"\." + GAP + rb"(" + WORD + rb")")
CALLED = re.compile(rb"[ \t\\\r]*\(")
SUPER = re.compile(GAP + rb"\([^()]*\)" + GAP + rb"\." + GAP + rb"(" + WORD + rb")")
TYPED = re.compile(rb"[ \t]*:[ \t]*")
ASSIGNED = re.compile(rb"[ \t]*(?::[^=\n]*)?=[ \t]*(?!=)")
OPTIONAL = re.compile(rb"(?:typing\.)?Optional\[[ \t]*")
ENDS_TYPE = re.compile(rb"[ \t]*(?:\|[ \t]*None[ \t]*)?(?:[\])]|[,=)\r\n#]|$)")
ALL = re.compile(rb"^__all__[ \t]*(?::[^=\n]*)?=[ \t]*([\[(])", re.MULTILINE)
AFTER_ALL = re.compile(rb"[ \t\r]*(?:$|#|;)", re.MULTILINE)
STRINGS = re.compile(rb"""["']([^"']*)["']""")


def split(dotted: bytes) -> tuple[str, ...]:
    """Return the parts of a dotted name, blanks and line ends between them dropped."""
    return tuple("".join(part.split()).replace("\\", "") for part in dotted.decode("utf-8", "replace").split("."))


class SourceText:
    """The bytes of one file, with the places that the syntax tree marked.

    `marks` are bytes by capture name; `made` says where a call ends whose result has an attribute taken at once.
    """

    def __init__(self, source: bytes, marks: Mapping[str, AbstractSet[int]]) -> None:
        self.source = source
        self.marks = marks
        self.made: dict[int, int] = {}
        self.breaks = [m.start() for m in re.finditer(rb"\n", source)]

    def line(self, position: int) -> int:
        """Return the line of a byte, counted from 1."""
        return bisect_right(self.breaks, position - 1) + 1

    def text(self, start: int, end: int) -> str:
        """Return what stands between two bytes."""
        return self.source[start:end].decode("utf-8", "replace")

    def rest_of_line(self, start: int, limit: int) -> str:
        """Return what stands from here to the end of the line, at most `limit` bytes."""
        end = self.source.find(b"\n", start)
        return self.text(start, min(len(self.source) if end < 0 else end, start + limit)).strip()

    def told(self, end: int) -> tuple[str, ...] | None:
        """Return the dotted type that stands after a binding: `: Money`, `: Money | None` or `= Money(`."""
        if (colon := TYPED.match(self.source, end)) and colon.end() in self.marks["type"]:
            at = colon.end()
            if optional := OPTIONAL.match(self.source, at):
                at = optional.end()
            dotted = DOTTED.match(self.source, at)
            if dotted and ENDS_TYPE.match(self.source, dotted.end()):
                return split(dotted[0])
        equals = ASSIGNED.match(self.source, end)
        if equals and equals.end() in self.marks["constructor"]:
            dotted = DOTTED.match(self.source, equals.end())
            return split(dotted[0]) if dotted and dotted.end() in self.marks["constructed"] else None
        return None

    def exports(self) -> tuple[str, ...] | None:
        """Return `__all__` where it is a plain list of strings."""
        found = ALL.search(self.source)
        end = self.source.find(b"]" if found[1] == b"[" else b")", found.end()) if found else -1
        if found is None or not AFTER_ALL.match(self.source, end + 1):
            return None
        return tuple(m.decode("utf-8", "replace") for m in STRINGS.findall(self.source[found.end() : max(end, 0)]))
