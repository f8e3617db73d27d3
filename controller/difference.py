"""Differences as a person reads them before a yes: what a file holds is shown, a terminal takes no orders from it."""

from reviewer.inert import inert
from sandbox.git import Git

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_HEAD, _PLAIN = "\x1b[1m", "\x1b[m"


def difference(git: Git, before: str, after: str, *, color: bool = False, stat: bool = False) -> str:
    """Return the difference of two trees with everything in it visible: escapes, bidi marks, returns."""
    lines = [inert(line, limit=len(line)) for line in git.diff(before, after, stat=stat).split("\n")]
    return "\n".join(_coloured(lines) if color and not stat else lines)


def _coloured(lines: list[str]) -> list[str]:
    shown, inside = [], False
    for line in lines:
        inside = line.startswith("@@") or (inside and line[:1] in "+- \\")
        begin = _COLOURS.get(line[:1], "") if inside else _HEAD
        shown.append(f"{begin}{line}{_PLAIN}" if begin and line else line)
    return shown
