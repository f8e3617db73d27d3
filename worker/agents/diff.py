r"""Which paths a unified diff would write, read as strictly as `git apply -p1` reads it, and stricter where it guesses.

Git's own diffs (binary, modes, renames, `"\303\244"` quoting) and plain ones (`--- a/x`, `+++ b/x`). Lines of hunks are
counted, so that no line of a file's content is taken for a header; text between files is skipped, as git does.
"""

import re
from dataclasses import dataclass, field

from sandbox.git.values import decode

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MODES = {b"100644", b"100755", b"120000"}
_LINK = b"120000"
_ESCAPES = {ord(k): v for k, v in zip('abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True)}
_NULL = b"/dev/null"


class UnclearDiff(ValueError):  # noqa: N818 - reads as what it says
    """The diff cannot be read for certain: a ValueError with the line's number."""


@dataclass
class Touched:
    """Paths that the diff writes or removes, those among them that become links, and those that go."""

    written: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)


@dataclass
class _Section:
    """What the header of one file says."""

    old: str | None = None
    new: str | None = None
    source_stays: bool = False
    mode: bytes = b""
    removes: bool = False


def touched(data: bytes) -> Touched:
    """Read the whole diff; raises UnclearDiff."""
    return _Reader(data.split(b"\n")).read()


class _Reader:
    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._at = 0
        self._found = Touched()

    def read(self) -> Touched:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(b"diff --git "):
                self._git_section(line[len(b"diff --git ") :])
            elif self._is_plain_header():
                self._plain_section()
            elif line.startswith(b"@@ -"):
                raise self._unclear("a hunk without the name of its file")
            else:
                self._at += 1
        return self._found

    def _unclear(self, what: str) -> UnclearDiff:
        return UnclearDiff(f"line {self._at + 1}: {what}")

    def _peek(self, ahead: int = 0) -> bytes:
        return self._lines[self._at + ahead] if self._at + ahead < len(self._lines) else b""

    def _is_plain_header(self) -> bool:
        starts = (b"--- ", b"+++ ", b"@@ -")
        return all(self._peek(ahead).startswith(start) for ahead, start in enumerate(starts))

    def _plain_section(self) -> None:
        names = [self._side(self._peek(ahead)[4:], plain=True) for ahead in (0, 1)]
        self._at += 2
        self._note(_Section(old=names[0], new=names[1]))
        self._hunks()

    def _git_section(self, header: bytes) -> None:
        section = _Section()
        self._at += 1
        while self._at < len(self._lines) and self._extended(section, self._peek()):
            self._at += 1
        if section.old is None and section.new is None:
            section.old = section.new = self._same_name(header)
        self._note(section)
        if self._peek().startswith(b"@@ -"):
            self._hunks()
        elif self._peek().startswith(b"GIT binary patch"):
            self._binary()

    def _extended(self, section: _Section, line: bytes) -> bool:
        """Take one line of the extended header; False when it is none."""
        key, _, value = line.partition(b" ")
        second, _, rest = value.partition(b" ")
        if key == b"---" and value:
            section.old = self._side(value)
        elif key == b"+++" and value:
            section.new = self._side(value)
        elif key in (b"rename", b"copy") and second in (b"from", b"old"):
            section.old, section.source_stays = self._name(rest, strip=0), key == b"copy"
        elif key in (b"rename", b"copy") and second in (b"to", b"new"):
            section.new = self._name(rest, strip=0)
        elif line.startswith((b"old mode ", b"new mode ", b"new file mode ", b"deleted file mode ")):
            section.mode = self._mode(line.rpartition(b" ")[2])
            section.removes = key == b"deleted"
        elif key == b"index":
            section.mode = self._mode(rest) if rest.strip() else section.mode
        elif key not in (b"similarity", b"dissimilarity"):
            return False
        return True

    def _mode(self, raw: bytes) -> bytes:
        if raw.strip() not in _MODES:
            kind = "a submodule, which a patch cannot bring" if raw.strip() == b"160000" else f"the mode {raw[:20]!r}"
            raise self._unclear(kind)
        return raw.strip()

    def _side(self, raw: bytes, *, plain: bool = False) -> str | None:
        """Read the name of a `---` or `+++` line; None for /dev/null."""
        name = raw.partition(b"\t")[0].rstrip(b"\r") if not raw.startswith(b'"') else raw
        if name == _NULL:
            return None
        if plain and b" " in name:
            raise self._unclear("a name with a space in a plain diff: make the patch with `git diff`")
        return self._name(name, strip=1)

    def _name(self, raw: bytes, *, strip: int) -> str:
        name = self._unquoted(raw)[0] if raw.startswith(b'"') else raw
        for _ in range(strip):
            head, slash, name = name.partition(b"/")
            if not slash:
                raise self._unclear(f"the name {head[:80]!r} has no `a/` or `b/` before it")
        if not name:
            raise self._unclear("an empty name")
        return decode(name)

    def _unquoted(self, raw: bytes) -> tuple[bytes, bytes]:
        """Undo git's quoting; returns the name and what follows the closing quote."""
        out = bytearray()
        at = 1
        while at < len(raw):
            char = raw[at]
            if char == ord('"'):
                return bytes(out), raw[at + 1 :]
            at += 1
            if char != ord("\\"):
                out.append(char)
            elif octal := re.match(rb"[0-3][0-7]{2}", raw[at : at + 3]):
                out.append(int(octal[0], 8))
                at += 3
            elif at < len(raw) and raw[at] in _ESCAPES:
                out.append(_ESCAPES[raw[at]])
                at += 1
            else:
                break
        raise self._unclear("a quoted name that does not end")

    def _same_name(self, header: bytes) -> str:
        """Read the one name of `a/NAME b/NAME`, for sections whose other lines name nothing."""
        if header.startswith(b'"'):
            first, rest = self._unquoted(header)
            sides = [(first, rest[1:])]
        else:
            sides = [(header[:i], header[i + 1 :]) for i, char in enumerate(header) if char == ord(" ")]
        found = set()
        for left, right in sides:
            right_name = self._unquoted(right)[0] if right.startswith(b'"') else right
            if b"/" in left and b"/" in right_name and left.partition(b"/")[2] == right_name.partition(b"/")[2]:
                found.add(left.partition(b"/")[2])
        if len(found) != 1 or b"" in found:
            raise self._unclear("the header names no file for certain")
        return decode(found.pop())

    def _note(self, section: _Section) -> None:
        for name in (section.old, section.new):
            if name is not None and not (name == section.old and section.source_stays):
                self._found.written.add(name)
        if section.old is not None and section.old != section.new and not section.source_stays:
            self._found.removed.add(section.old)
        if section.removes and section.old is not None:
            self._found.removed.add(section.old)
        elif section.mode == _LINK and section.new is not None:
            self._found.links.add(section.new)

    def _hunks(self) -> None:
        while self._peek().startswith(b"@@ -"):
            counts = _HUNK.match(self._peek())
            if counts is None:
                raise self._unclear("a hunk header that cannot be read")
            old, new = (int(count) if count is not None else 1 for count in counts.groups())
            self._at += 1
            while old > 0 or new > 0:
                self._at_line_of_hunk()
                kind = self._peek()[:1]
                old -= kind in (b" ", b"-", b"", b"\r")
                new -= kind in (b" ", b"+", b"", b"\r")
                self._at += 1
            if old or new:
                raise self._unclear("a hunk longer than it says")
            while self._peek().startswith(b"\\ "):
                self._at += 1

    def _at_line_of_hunk(self) -> None:
        if self._at >= len(self._lines):
            raise self._unclear("the patch ends inside a hunk")
        if self._peek()[:1] not in (b" ", b"+", b"-", b"\\", b"", b"\r"):
            raise self._unclear("a line inside a hunk that belongs to none")

    def _binary(self) -> None:
        """Skip `literal` and `delta` parts: base85 lines, each part ended by an empty line."""
        self._at += 1
        while self._peek().startswith((b"literal ", b"delta ")):
            while self._peek().rstrip(b"\r"):
                self._at += 1
            self._at += 1
