"""What git says, as values. Paths are `str` with surrogateescape, so that any bytes git holds come through."""

from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError

FILE, EXECUTABLE, SYMLINK, GITLINK, ABSENT = "100644", "100755", "120000", "160000", "000000"


class RefMoved(GraceError):  # noqa: N818 - reads as what it says
    """A ref was not where the caller saw it: somebody else moved it; nothing was changed."""


class Entry(NamedTuple):
    """One path of a tree: mode `100644`, `100755`, `120000` or `160000`, and the blob (or the commit of a gitlink)."""

    mode: str
    blob: str


class Content(NamedTuple):
    """A file to import: its mode, and its bytes or a file of ours that holds them."""

    mode: str
    source: bytes | Path


class Change(NamedTuple):
    """One path that differs between two trees; status A, M, D or T; the absent side is mode 000000."""

    status: str
    path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str


class MergeResult(NamedTuple):
    """The merged tree, or None and the conflicting paths."""

    tree: str | None
    conflicts: tuple[str, ...]


class Worktree(NamedTuple):
    """A checkout of the user's: its folder, the commit it shows, the full name of its branch (None: detached)."""

    path: Path
    head: str
    branch: str | None


class Commit(NamedTuple):
    """One commit. `date` is ISO 8601 with zone, of the author."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: str
    date: str
    message: str


def decode(raw: bytes) -> str:
    """Turn git's bytes of a path into str, reversibly."""
    return raw.decode("utf-8", "surrogateescape")


def encode(path: str) -> bytes:
    """Turn a path back into git's bytes."""
    return path.encode("utf-8", "surrogateescape")
