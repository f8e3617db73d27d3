"""What a checkout of the user's holds beyond its commit: files that git tracks, as they are on disk.

Git is asked as its user asks it, with their line endings and filters; the index and the files are only read. Contents
go to the object store, where nothing holds them: what nobody needs is pruned by git in time.
"""

import os
from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError
from sandbox.effect import effect
from sandbox.git.process import Result, Runner, start, users_environment
from sandbox.git.trees import write_tree
from sandbox.git.values import ABSENT, FILE, GITLINK, SYMLINK, Entry, decode, encode

_QUIET = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.quotePath": "false", "gc.auto": "0"}


class Edit(NamedTuple):
    """One tracked path that is not as in HEAD. `stamp` changes when the file does; `mode` is absent for one gone."""

    path: str
    mode: str
    stamp: tuple[int, ...]


def edits(worktree: Path) -> tuple[Edit, ...]:
    """List what differs from HEAD, staged or not, in about the time of `git status -uno`.

    A file that was only touched may be among them. Raises GraceError where there is no HEAD or no checkout.
    """
    asked = _ask(
        worktree, "diff-index", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=all",
        "-O", "/dev/null", "HEAD", "--",
    )  # fmt: skip
    records = asked.out.split(b"\0")[:-1]
    found = []
    for about, name in zip(records[::2], records[1::2], strict=True):
        (_, mode, *_, status), path = about.decode().split(" "), decode(name)
        mode = FILE if status == "U" else mode  # in the middle of a merge: what is on disk
        if mode != GITLINK:
            found.append(Edit(path, mode, _stamp(worktree / path)))
    return tuple(found)


def edited_tree(runner: Runner, worktree: Path, base: str, found: tuple[Edit, ...]) -> str:
    """Return the tree `base`, which is that of HEAD, with the edits; raises GraceError for one that cannot be read."""
    if not found:
        return base
    here = {edit.path: edit.mode for edit in found if os.path.lexists(worktree / edit.path) and edit.mode != ABSENT}
    files = [path for path, mode in here.items() if mode != SYMLINK]
    listed = b"".join(encode(path) + b"\n" for path in files if "\n" not in path)
    with effect("tree.import"):
        blobs = _ask(worktree, "hash-object", "-w", "--stdin-paths", stdin=listed).out.decode().split()
        known = dict(zip([path for path in files if "\n" not in path], blobs, strict=True))
        for path in here.keys() - known.keys():
            known[path] = _one(worktree, path, link=here[path] == SYMLINK)
    updates = {e.path: Entry(here[e.path], known[e.path]) if e.path in here else None for e in found}
    return write_tree(runner, base, updates)


def _one(worktree: Path, path: str, *, link: bool) -> str:
    """Write one content that cannot be named in a list: a link, or a name with a line break in it."""
    spot = worktree / path
    data = os.fsencode(spot.readlink()) if link else spot.read_bytes()
    how = ("--no-filters",) if link else (f"--path={path}",)
    return _ask(worktree, "hash-object", "-w", *how, "--stdin", stdin=data).out.decode().strip()


def _stamp(spot: Path) -> tuple[int, ...]:
    try:
        found = spot.lstat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode


def _ask(worktree: Path, *args: str, stdin: bytes | None = None) -> Result:
    env = users_environment(_QUIET) | {"GIT_OPTIONAL_LOCKS": "0"}
    asked = start(args, worktree, env, stdin)
    if asked.code:
        raise GraceError(f"git cannot read the checkout {worktree}: {asked.fault}")
    return asked
