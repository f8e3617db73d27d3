"""Paths that no worker may ever write, whatever a plan says: git's own folder under any of its names, and grace's.

Git itself refuses `.git` in any case, with the trailing dots, spaces and streams that NTFS ignores, its short name
`git~1`, and the invisible characters that HFS+ ignores (CVE-2014-9390, CVE-2019-1352). The same rule is a small
automaton here, so that the overlap of two globs can be decided without ever answering with such a path.
"""

IGNORED = frozenset("\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff")
"""What HFS+ leaves out when it compares names."""

_GIT = (".git", "git~1")
_GRACE = ".grace"

Trace = str
"""Where a name stands in the automaton: the part read so far while it may still turn out bad, else one of these."""
START: Trace = ""
FINE: Trace = "fine"
_TAIL: Trace = "tail"
_BAD: Trace = "bad"
_INVISIBLE: Trace = "invisible"


def step(trace: Trace, char: str) -> Trace:
    """Read one more character of a name."""
    if trace in (FINE, _BAD):
        return trace
    if char in IGNORED:
        # An invisible character ends `.` and `..` as such; the rest goes on as if it were not there.
        return {START: _INVISIBLE, ".": "." + _INVISIBLE}.get(trace, FINE if trace == ".." else trace)
    if trace == _TAIL:
        return _TAIL if char in " ." else _BAD if char in ":\\" else FINE
    read = trace.removesuffix(_INVISIBLE) + (char.lower() if char.isascii() else char)
    if read in _GIT:
        return _TAIL
    return read if read == ".." or any(name.startswith(read) for name in (*_GIT, _GRACE)) else FINE


def is_bad(trace: Trace, *, first: bool) -> bool:
    """Say whether the name that ends here is forbidden; `first`: it stands at the root, where `.grace` is too."""
    return trace in (START, ".", "..", _TAIL, _BAD) or (first and trace == _GRACE)


def name_fault(name: str, *, first: bool = False) -> str | None:
    """Say why `name` may be no part of a path, or None."""
    trace = START
    for char in name:
        trace = step(trace, char)
    if not is_bad(trace, first=first):
        return None
    if trace in (START, ".", ".."):
        return {START: "an empty part", ".": "a part `.`", "..": "a part `..`"}[trace]
    return "grace's own folder" if trace == _GRACE else "git's own folder"


def path_fault(path: str) -> str | None:
    """Say why `path` (relative to the repository's root) may never be written, or None."""
    if not path:
        return "an empty path"
    if "\0" in path:
        return "a NUL character"
    if path.startswith("/"):
        return "an absolute path"
    parts = path.split("/")
    return next((fault for i, part in enumerate(parts) if (fault := name_fault(part, first=i == 0))), None)
