r"""What a module may write: paths and globs anchored at the repository's root, without negation.

    app/domain/money.py     that file
    app/domain/             everything in that folder
    app/*.py                `*` is any run of characters but `/`, `?` is one of them
    app/**/fixtures/        `**` is any number of folders, also none
    app/[id].tsx            that file: there are no character classes
    a\*b                    the file `a*b`: `\` takes the next character as it is

Whether two scopes overlap is decided exactly, with an example. Git's and grace's own folders are in no scope.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from packets import pattern
from packets.forbidden import name_fault, path_fault
from packets.pattern import ANY, DEEP, MANY, Part, Pattern, compiled, is_glob

MAX_ENTRY = 1024
"""Characters of one entry: bounds the cost of comparing two of them."""


@functools.lru_cache(maxsize=10_000)
def parse_entry(text: str) -> Pattern:
    """Read one entry; raises ValueError that says what is wrong and what to write."""
    _refuse_outside(text)
    folder = text.endswith("/")
    parts = tuple(_part(text, name, first=i == 0) for i, name in enumerate(text.removesuffix("/").split("/")))
    literal = not folder and not any(map(is_glob, parts))
    if folder or parts[-1] == DEEP:
        parts = (*parts, (MANY,)) if parts[-1] == DEEP else (*parts, DEEP, (MANY,))
    parsed = compiled(text, parts, literal=literal)
    if parsed.sample is None:
        raise ValueError(f"{text!r} can match nothing that may be written")
    return parsed


def escape(path: str) -> str:
    """Return the entry that is literally `path`."""
    return re.sub(r"([\\*?])", r"\\\1", path)


def _refuse_outside(text: str) -> None:
    if len(text) > MAX_ENTRY:
        raise ValueError(f"{text[:40]!r}… is longer than {MAX_ENTRY} characters")
    if not text:
        raise ValueError("an empty path")
    if not text.strip("/"):
        raise ValueError(f"{text!r} is absolute: write `**` for the whole repository")
    if text.startswith("/") or text[1:3] in (":/", ":\\"):
        raise ValueError(f"{text!r} is absolute: paths start at the repository's root")


def _part(entry: str, name: str, *, first: bool) -> Part:
    if name == "**":
        return DEEP
    if "**" in name.replace("\\\\", "").replace("\\*", ""):
        raise ValueError(f"{entry!r}: `**` must stand alone between slashes, as in `src/**/*.py`")
    atoms: list[str] = []
    chars = iter(name)
    for char in chars:
        if char == "\\":
            atoms.append(next(chars, ""))
        else:
            atoms.append({"*": MANY, "?": ANY}.get(char, char))
    if atoms and not atoms[-1]:
        raise ValueError(f"{entry!r}: `\\` must stand before the character that it escapes")
    if "\0" in atoms:
        raise ValueError(f"{entry!r} holds a NUL character")
    part = tuple(atoms)
    if not is_glob(part) and (fault := name_fault("".join(part), first=first)):
        raise ValueError(_refusal(entry, fault))
    return part


def _refusal(entry: str, fault: str) -> str:
    if "folder" in fault:
        return f"{entry!r} names {fault}, which no worker may write"
    if ".." in entry.split("/"):
        return f"{entry!r} has {fault}: it must stay inside the repository"
    tidy = "/".join(part for part in entry.split("/") if part not in ("", "."))
    return f"{entry!r} has {fault}" + (f": write {tidy + '/' * entry.endswith('/')!r}" if tidy else "")


def clash(a: Pattern, b: Pattern) -> str | None:
    """Return a path that both match, or the file of one that must be a folder for the other; None if neither."""
    for file, inside in ((a, b), (b, a)):
        if file.literal and inside.start.startswith(f"{file.start}/"):
            return file.start
    return pattern.meet(a, b)


@dataclass(frozen=True)
class Scope:
    """A set of entries. Equal when written the same."""

    entries: tuple[str, ...]
    patterns: tuple[Pattern, ...] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, entries: Sequence[str]) -> Self:
        """Read the entries; raises ValueError that names the first bad one."""
        return cls(entries=tuple(entries), patterns=tuple(parse_entry(entry) for entry in entries))

    def matches(self, path: str) -> bool:
        """Say whether a file at `path` may be written."""
        if path_fault(path):
            return False
        names = path.split("/")
        return any(pattern.matches(entry, names) for entry in self.patterns)

    def names(self, path: str) -> bool:
        """Say whether an entry is literally this file."""
        return any(entry.literal and entry.start == path for entry in self.patterns)

    def overlaps(self, other: "Scope") -> str | None:
        """Return a path that both may write, or that is a file for one and a folder for the other; None if disjoint."""
        pairs = ((a, b) for a in self.patterns for b in other.patterns)
        return next((path for a, b in pairs if (path := clash(a, b)) is not None), None)

    def write_folders(self) -> tuple[tuple[str, bool], ...]:
        """Return the folders that must be writable, '' for the root, with True for all beneath; none inside another."""
        wanted: dict[str, bool] = {}
        for entry in self.patterns:
            folder = "/".join(entry.fixed[:-1] if entry.literal else entry.fixed)
            deep = not entry.literal and len(entry.parts) > len(entry.fixed) + 1
            wanted[folder] = wanted.get(folder, False) or deep
        whole = {folder for folder, deep in wanted.items() if deep}
        return tuple(sorted((f, deep) for f, deep in wanted.items() if whole.isdisjoint(_above(f))))


def _above(folder: str) -> Iterator[str]:
    """Give the folders that hold this one, the root's '' too."""
    names = folder.split("/") if folder else []
    return ("/".join(names[:i]) for i in range(len(names)))
