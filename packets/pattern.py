"""One entry of a write scope as a small automaton: what it matches, and whether two of them meet, decided exactly.

A pattern is a row of parts; a part is a row of atoms (a character, ANY for `?`, MANY for `*`), or DEEP for `**`, which
stands for any number of folders. Both levels are globs, so both are walked the same way: the product of two of them has
at most len(a) * len(b) * (a handful) states, and a breadth-first walk of it finds the shortest common path.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from packets.forbidden import FINE, START, Trace, is_bad, path_fault, step

ANY = "?*"
MANY = "*?"
DEEP = ("**",)
_FRESH = "x"

Part = tuple[str, ...]
"""Atoms: one character each, or ANY, or MANY; DEEP is the one part that is none of these."""


class Pattern(NamedTuple):
    """A parsed entry.

    `fixed`: the leading names without any glob. `literal`: it has no glob; such a one is a file. Every path that it
    matches starts with `start` and ends with `tail`: the characters before its first and after its last glob.
    `whole`: it matches everything that starts with `start`. `sample`: a path that it matches; None when there is none.
    """

    text: str
    parts: tuple[Part, ...]
    fixed: tuple[str, ...]
    literal: bool
    start: str
    tail: str
    whole: bool = False
    sample: str | None = None

    @property
    def size(self) -> int:
        """Return the number of atoms: the product of two sizes bounds the cost of `meet`."""
        return sum(map(len, self.parts)) + 1


def is_glob(part: Part) -> bool:
    """Say whether the part can match more than one name."""
    return part == DEEP or ANY in part or MANY in part


def compiled(text: str, parts: tuple[Part, ...], *, literal: bool) -> Pattern:
    """Return the pattern of these parts."""
    fixed = tuple("".join(part) for part in itertools.takewhile(lambda part: not is_glob(part), parts))
    start, tail = "/".join(fixed), ""
    if not literal:
        start += "/" * bool(fixed) + _plain(parts[len(fixed)])
        tail = _plain(parts[-1][::-1])[::-1]
    whole = parts[len(fixed) :] == (DEEP, (MANY,))
    pattern = Pattern(text, parts, fixed, literal, start, start if literal else tail, whole)
    shortest = "/".join("".join(map(_least, part)) or _FRESH for part in parts if part != DEEP)
    return pattern._replace(sample=meet(pattern, pattern) if path_fault(shortest) else shortest)


def _least(atom: str) -> str:
    return {ANY: _FRESH, MANY: ""}.get(atom, atom)


def _plain(part: Part) -> str:
    """Return the characters before the first glob."""
    return "".join(itertools.takewhile(lambda atom: len(atom) == 1, part))


def _globs(pieces: tuple[str, ...], text: str) -> bool:
    """Match one name against one part: the two-pointer walk, linear in their product, no backtracking blow-up."""
    at = here = 0
    star, resume = -1, 0
    while here < len(text):
        if at < len(pieces) and pieces[at] == MANY:
            star, resume, at = at, here, at + 1
        elif at < len(pieces) and pieces[at] in (ANY, text[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(piece == MANY for piece in pieces[at:])


def matches(pattern: Pattern, names: list[str]) -> bool:
    """Match a path, given as its names, none of which is forbidden."""
    parts = pattern.parts
    at = here = 0
    star, resume = -1, 0
    while here < len(names):
        if at < len(parts) and parts[at] == DEEP:
            star, resume, at = at, here, at + 1
        elif at < len(parts) and _globs(parts[at], names[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(part == DEEP for part in parts[at:])


def _steps(a: Part, b: Part, i: int, j: int) -> Iterator[tuple[int, int, str]]:
    """Give the moves of the product of two parts: next places, and the character read (empty for skipping a `*`)."""
    if i < len(a) and a[i] == MANY:
        yield i + 1, j, ""
    if j < len(b) and b[j] == MANY:
        yield i, j + 1, ""
    if i < len(a) and j < len(b):
        # Where both are free, one fresh character will do: no name with it in that place is worse than another.
        char = a[i] if a[i] not in (ANY, MANY) else b[j] if b[j] not in (ANY, MANY) else _FRESH
        if a[i] in (ANY, MANY, char) and b[j] in (ANY, MANY, char):
            yield i + (a[i] != MANY), j + (b[j] != MANY), char


def _name(a: Part, b: Part, *, first: bool) -> str | None:
    """Find the shortest allowed name that both parts match."""
    start: tuple[int, int, Trace] = (0, 0, START)
    seen, level = {start: ""}, [start]
    while level:
        following: list[tuple[int, int, Trace]] = []
        for state in level:
            i, j, trace = state
            if i == len(a) and j == len(b) and not is_bad(trace, first=first):
                return seen[state]
            for ni, nj, char in _steps(a, b, i, j):
                reached = (ni, nj, trace if not char or trace == FINE else step(trace, char))
                if reached not in seen:
                    seen[reached] = seen[state] + char
                    following.append(reached)
        level = following
    return None


def meet(a: Pattern, b: Pattern) -> str | None:
    """Return a path that both match, or None when there is none."""
    if not may_meet(a, b):
        return None
    for around, inside in ((a, b), (b, a)):
        if around.whole and inside.sample and inside.start.startswith(around.start):
            return inside.sample
    if a.literal and b.literal:
        return a.start if a.start == b.start else None
    start = (0, 0, False)
    seen, level = {start: ""}, [start]
    while level:
        following: list[tuple[int, int, bool]] = []
        for state in level:
            i, j, deeper = state
            if deeper and i == len(a.parts) and j == len(b.parts):
                return seen[state]
            for ni, nj, name in _path_steps(a.parts, b.parts, i, j, first=not deeper):
                reached = (ni, nj, deeper or bool(name))
                if reached not in seen:
                    seen[reached] = "/".join(filter(None, (seen[state], name)))
                    following.append(reached)
        level = following
    return None


def may_meet(a: Pattern, b: Pattern) -> bool:
    """Say whether starts and tails leave room for a common path: the cheap question before `meet`."""
    starts = a.start.startswith(b.start) or b.start.startswith(a.start)
    return starts and (a.tail.endswith(b.tail) or b.tail.endswith(a.tail))


def _path_steps(
    a: tuple[Part, ...], b: tuple[Part, ...], i: int, j: int, *, first: bool
) -> Iterator[tuple[int, int, str]]:
    """Give the moves of the product of two paths: next places and the name read (empty for skipping a `**`)."""
    deep_a, deep_b = i < len(a) and a[i] == DEEP, j < len(b) and b[j] == DEEP
    if deep_a:
        yield i + 1, j, ""
    if deep_b:
        yield i, j + 1, ""
    if deep_a and deep_b:
        if first:
            yield i, j, _FRESH  # what is forbidden at the root alone may be allowed one folder down
    elif i < len(a) and j < len(b):
        name = _name((MANY,) if deep_a else a[i], (MANY,) if deep_b else b[j], first=first)
        if name is not None:
            yield i + (not deep_a), j + (not deep_b), name
