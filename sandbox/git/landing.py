"""The one place that touches a checkout of the user's: it is brought from one tree to another, or left alone.

Here the user's own configuration counts: line endings and filters are what the user set up for the user's own files, as
with any checkout. Hooks and the file system monitor stay off: nothing asked for them.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from packets.errors import GraceError, Transient, WaitingForPerson
from sandbox.faults import git_failed
from sandbox.git.halfway import taken_up
from sandbox.git.objects import checked
from sandbox.git.process import Result, Runner, start, users_environment
from sandbox.git.trees import changes
from sandbox.git.values import Change, decode, encode

_QUIET = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.quotePath": "false", "gc.auto": "0"}
_AGAIN = "then run `grace resume`"


def update_worktree(runner: Runner, worktree: Path, old: str, new: str) -> None:
    """Bring index and files of `worktree` from tree `old` to tree `new`, keeping edits of other files.

    Raises WaitingForPerson, with nothing changed, for a locked index, local edits or untracked files in the way. What
    is there already, since a git of ours was killed half way, is in nobody's way.
    """
    git = _Checkout(worktree)
    _refuse_lock(git)
    differences = changes(runner, old, new)
    _refuse_hidden_edits(git, differences)
    move = ("-m", "-u", checked(old), checked(new))
    try:
        _rehearse(git, differences, move)
    except WaitingForPerson:
        if not taken_up(git.ask, worktree, differences, move):
            raise
        _rehearse(git, differences, move)
    if broken := _failed(git.ask("read-tree", *move)):
        _put_back(git, differences)
        raise _refusal(worktree, broken)


def _rehearse(git: "_Checkout", differences: Iterable[Change], move: tuple[str, ...]) -> None:
    _refuse_untracked(git, differences)
    git.ask("update-index", "-q", "--refresh")  # exit 1 names files that differ: read-tree says which of them matter
    if refused := _failed(git.ask("read-tree", "-n", *move)):
        raise _refusal(git.worktree, refused)


class _Checkout:
    """Git in the user's own worktree, with the user's configuration."""

    def __init__(self, worktree: Path) -> None:
        self.worktree = worktree
        self._env = users_environment(_QUIET)

    def ask(self, *args: str, stdin: bytes | None = None, index: Path | None = None) -> Result:
        env = self._env if index is None else {**self._env, "GIT_INDEX_FILE": str(index)}
        return start(args, self.worktree, env, stdin)


def _failed(result: Result) -> Result | None:
    return result if result.code else None


def _refuse_lock(git: _Checkout) -> None:
    where = git.ask("rev-parse", "--path-format=absolute", "--git-path", "index.lock")
    if where.code:
        raise GraceError(f"git cannot open the checkout {git.worktree}: {where.fault}")
    lock = Path(decode(where.out.rstrip(b"\n")))
    if lock.exists():
        raise _locked(git.worktree, lock)


def _locked(worktree: Path, lock: Path) -> WaitingForPerson:
    return WaitingForPerson(
        f"the index of {worktree} is locked by another git command",
        f"let that command end; if none is running, remove {lock}; {_AGAIN}",
    )


def _refuse_hidden_edits(git: _Checkout, differences: Iterable[Change]) -> None:
    """Refuse where git was told to look away (`assume-unchanged`): it would overwrite an edit without seeing it."""
    listed = git.ask("ls-files", "-v", "-z").out.split(b"\0")
    hidden = {decode(record[2:]) for record in listed if record[:1].islower()}
    if touched := sorted(hidden & {change.path for change in differences}):
        raise WaitingForPerson(
            f"{git.worktree}: {_some(touched)} is marked assume-unchanged and would be overwritten",
            f"git update-index --no-assume-unchanged -- {touched[0]}; {_AGAIN}",
        )


def _refuse_untracked(git: _Checkout, differences: Iterable[Change]) -> None:
    """Refuse where an untracked file lies in the way. Git would overwrite one that its ignore rules match."""
    tracked = {decode(name) for name in git.ask("ls-files", "-z").out.split(b"\0")}
    in_the_way = [
        spot
        for change in differences
        if change.status == "A" and change.path not in tracked
        for spot in _untracked_at(git, change.path, tracked)
    ]
    if in_the_way:
        raise _untracked(git.worktree, in_the_way)


def _untracked_at(git: _Checkout, path: str, tracked: set[str]) -> Iterator[str]:
    """Give what must go for a file to appear at `path`, and git does not know."""
    for above in (path[:at] for at, char in enumerate(path) if char == "/"):
        spot = git.worktree / above
        if above not in tracked and (spot.is_symlink() or spot.is_file()):
            yield above
            return
    if (git.worktree / path).is_dir() and not (git.worktree / path).is_symlink():
        others = git.ask("--literal-pathspecs", "ls-files", "--others", "-z", "--", path).out.split(b"\0")
        yield from (decode(name) for name in others if name)
    elif os.path.lexists(git.worktree / path):
        yield path


def _untracked(worktree: Path, paths: list[str]) -> WaitingForPerson:
    return WaitingForPerson(
        f"{worktree}: untracked {_some(paths)} would be overwritten", f"move it away or commit it; {_AGAIN}"
    )


def _refusal(worktree: Path, result: Result) -> GraceError:
    said = result.err.decode("utf-8", "replace")
    fault = git_failed(f"git cannot update {worktree}", result.code, result.err, result.fault, worktree)
    if isinstance(fault, Transient) and "index.lock" not in said:
        return fault
    if "index.lock" in said:
        return _locked(worktree, worktree / ".git" / "index.lock")
    if untracked := re.findall(r"Untracked working tree file '(.+)' would be", said):
        return _untracked(worktree, untracked)
    if edited := re.findall(r"Entry '(.+)' (?:not uptodate|would be overwritten)", said):
        return WaitingForPerson(
            f"{worktree}: your edits of {_some(edited)} overlap with what lands", f"commit or stash them; {_AGAIN}"
        )
    if "resolve your current index" in said or "unmerged" in said:
        return WaitingForPerson(f"{worktree} is in the middle of a merge", f"finish or abort it; {_AGAIN}")
    return WaitingForPerson(f"git cannot update {worktree}: {result.fault}", f"put that right; {_AGAIN}")


def _put_back(git: _Checkout, differences: Iterable[Change]) -> None:
    """Undo a move that broke half way (a failing filter, a full disk): the dry run proved these paths unedited."""
    back = []
    for change in differences:
        if change.status == "A":
            (git.worktree / change.path).unlink(missing_ok=True)
        else:
            back.append(encode(change.path) + b"\0")
    git.ask("checkout-index", "-q", "-f", "-u", "-z", "--stdin", stdin=b"".join(back))


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{paths[0]}{more}"
