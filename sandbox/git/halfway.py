"""A checkout that a killed git left half way: files that are already what is to come, and an index that is not.

Git calls such a file an untracked one in the way, or an edit that overlaps. It is neither: what is to come is there, so
the index is told so, and the rest of the way is gone as usual. The same holds for a person who wrote the very same.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sandbox.git.process import Result
from sandbox.git.values import ABSENT, EXECUTABLE, FILE, SYMLINK, Change, encode

Ask = Callable[..., Result]


def taken_up(ask: Ask, worktree: Path, differences: Iterable[Change], move: tuple[str, ...]) -> bool:
    """Tell the index of what is there already, if then the way is free; else nothing is changed."""
    from sandbox.scratch import scratch

    there = list(_there(ask, worktree, differences))
    if not there:
        return False
    zero = b"0" * len(there[0].new_blob)
    lines = [
        (b"0 %s\t%s\0" % (zero, encode(c.path)))
        if c.new_mode == ABSENT
        else (b"%s %s\t%s\0" % (c.new_mode.encode(), c.new_blob.encode(), encode(c.path)))
        for c in there
    ]
    told = ("update-index", "-z", "--index-info")
    index = Path(os.fsdecode(ask("rev-parse", "--path-format=absolute", "--git-path", "index").out.rstrip(b"\n")))
    with scratch("index") as folder:
        trial = folder / "index"
        shutil.copyfile(index, trial)
        for words, given in ((told, b"".join(lines)), (("read-tree", "-n", *move), b"")):
            if ask(*words, stdin=given, index=trial).code:
                return False
    return ask(*told, stdin=b"".join(lines)).code == 0


def _there(ask: Ask, worktree: Path, differences: Iterable[Change]) -> Iterator[Change]:
    """Give the changes whose file on disk is what is to come; what cannot be compared is not."""
    for change in differences:
        spot = worktree / change.path
        if change.new_mode == ABSENT:
            if not os.path.lexists(spot):
                yield change
        elif os.path.lexists(spot) and _mode(spot) == change.new_mode:
            if spot.is_symlink():
                asked = ask("hash-object", "--no-filters", "--stdin", stdin=os.fsencode(spot.readlink()))
            else:
                asked = ask("hash-object", "--stdin-paths", stdin=encode(change.path) + b"\n")
            if asked.code == 0 and asked.out.decode().strip() == change.new_blob:
                yield change


def _mode(spot: Path) -> str:
    status = spot.lstat()
    if stat.S_ISLNK(status.st_mode):
        return SYMLINK
    if not stat.S_ISREG(status.st_mode):
        return ""
    return EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE
