"""Names that Go has of itself, and the name of a package guessed from its import path."""

import re
from collections.abc import Iterable, Sequence

from controller.graph.facts import Import, Reference

_TYPES = """
any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
uint uint8 uint16 uint32 uint64 uintptr
"""
_VALUES = """
true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real
recover _
"""
PREDECLARED = frozenset(f"{_TYPES}{_VALUES}".split())

_PAIRS = 2_000
"""Imports times names that may be theirs; more is no source."""

_VERSION = re.compile(r"^v\d+$")
_DOTTED_VERSION = re.compile(r"\.v\d+$")
_AFFIXES = re.compile(r"^go[-.]|[-.]go$")


def package_name(path: str) -> str:
    """Return the likely name of the package at an import path: `a/go-yaml/v2` is `yaml`, `gopkg.in/yaml.v3` too."""
    parts = [part for part in path.split("/") if part]
    if len(parts) > 1 and _VERSION.match(parts[-1]):
        parts.pop()
    last = _DOTTED_VERSION.sub("", parts[-1]) if parts else ""
    return _AFFIXES.sub("", last) or last


def mended(guessed: Sequence[Import], references: Sequence[Reference], known: Iterable[str]) -> list[Import]:
    """Return the imports whose package has another name than its path tells.

    Go refuses an import that is not used. So one whose guess is not used has a name that the file uses and that nothing
    in it binds: that of the same letters, or the only one left.
    """
    used = {each.root for each in references if not each.scope and each.attrs}
    unused = [each for each in guessed if each.bound not in used]
    if not unused:
        return []
    bound = {each.bound for each in guessed} | set(known)
    asked = {each.root for each in references if not each.scope and each.attrs and each.attrs[0][:1].isupper()}
    free = sorted(root for root in asked - bound if root)
    if len(unused) * len(free) > _PAIRS:
        return []
    found = [each._replace(bound=root) for each in unused for root in free if root.lower() in _letters(each.module)]
    if not found and len(unused) == len(free) == 1:
        found = [unused[0]._replace(bound=free[0])]
    return found


def _letters(module: str) -> str:
    return re.sub(r"[^a-z0-9]", "", module.rpartition("/")[2].lower() + module.lower())
