"""Find the repository around a folder."""

from pathlib import Path
from typing import NamedTuple

from packets.errors import UsageError
from sandbox.git.process import Result, require_version, start, users_environment
from sandbox.git.values import decode


class Place(NamedTuple):
    """`own` is the git directory of the worktree that was asked from, `common` the one all worktrees share."""

    own: Path
    common: Path
    top: Path
    main: Path


_ASKED = ("--absolute-git-dir", "--git-common-dir", "--is-bare-repository", "--show-toplevel")


def discover(start_at: Path, *, quick: bool = False) -> Place:
    """Return where the repository around `start_at` lies; raises UsageError (none, bare, not trusted), MachineLacks.

    `quick` leaves git's version unchecked: enough for what only reads.
    """
    if not quick:
        require_version()
    folder = start_at.absolute()
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}")
    # The user's configuration takes part here, and only here: `safe.directory` is the user's word on trust.
    env = users_environment({"core.fsmonitor": "false"})
    asked = start(("rev-parse", "--path-format=absolute", *_ASKED), folder, env)
    lines = [Path(decode(line)) for line in asked.out.split(b"\n")[:-1]]
    if asked.code or len(lines) != len(_ASKED):
        raise _refusal(folder, asked)
    own, common, _, top = lines
    return Place(own, common, top, _main(own, common, top))


def _main(own: Path, common: Path, top: Path) -> Path:
    """Return the main working tree; a bare repository with linked worktrees has none: then the one we stand in."""
    if own == common:
        return top
    return common.parent if common.name == ".git" else top


def _refusal(folder: Path, asked: Result) -> UsageError:
    answers = asked.out.split(b"\n")[:-1]
    if answers[2:3] == [b"true"]:
        return UsageError(f"{folder} is a bare repository", "run grace in a checkout: git worktree add ../work")
    if len(answers) > 2:  # noqa: PLR2004 - only the question for the top had no answer
        return UsageError(f"{folder} is inside a git directory, not in a checkout", "run grace in the checkout itself")
    said = asked.err.decode("utf-8", "replace")
    if "dubious ownership" in said:
        hint = f"if you trust it: git config --global --add safe.directory {folder}"
        return UsageError(f"git does not trust {folder}: it belongs to another user", hint)
    if "not a git repository" in said:
        hint = "go into yours, or make one: git init && git add -A && git commit"
        return UsageError(f"{folder} is not in a git repository", hint)
    return UsageError(f"git cannot open the repository at {folder}: {asked.fault}")
