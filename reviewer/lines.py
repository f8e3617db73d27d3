"""Which lines of a file are new or changed."""

import difflib
from collections.abc import Iterator

_MOST = 4000
"""Lines on one side; where more differ, everything between the first and the last difference counts as changed."""


def changed_lines(old: bytes, new: bytes) -> tuple[tuple[int, int], ...]:
    """Return the stretches of `new` that `old` has not, first and last line each, from 1."""
    before, after = old.splitlines(), new.splitlines()
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    mine, theirs = before[start : len(before) - end], after[start : len(after) - end]
    if len(mine) > _MOST or len(theirs) > _MOST:
        return ((start + 1, start + len(theirs)),) if theirs else ()
    return tuple((start + first, start + last) for first, last in _stretches(mine, theirs))


def _same(one: list[bytes], other: list[bytes]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _stretches(before: list[bytes], after: list[bytes]) -> Iterator[tuple[int, int]]:
    for tag, _, _, first, last in difflib.SequenceMatcher(None, before, after, autojunk=True).get_opcodes():
        if tag in ("insert", "replace") and last > first:
            yield first + 1, last
