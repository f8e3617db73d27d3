"""The end of a run: nothing is left over but the promised refs."""

import shlex
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from controller import refnames
from controller.context import Context
from controller.engine import Steps
from controller.leftovers import Leftover, Tidying, removing, unlocking
from controller.rescue import salvage
from controller.store.store import OVER, Store
from packets.errors import GraceError
from packets.events import Action, Event, EventType
from sandbox.checkout import discard, prune_cache
from sandbox.effect import effect
from sandbox.git import Git
from sandbox.protocol import Sandbox
from sandbox.scratch import sweep

EXIT = {"done": 0, "failed": 1, "cancelled": 1}
_DAY = 86400.0  # seconds


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Put the run's branches away and remove what carries its id."""
    left = step("tidy", lambda: tidy(ctx))
    ending = action.data["ending"]
    data = {"state": ending, "exit": EXIT[ending], "unanswered": action.data.get("unanswered", []), "leftovers": left}
    return Event(type=EventType.FINISHED, action=action.id, data=data)


def tidy(ctx: Context) -> list[dict[str, Any]]:
    """Keep what nobody harvested, move branches, remove sandboxes and work folders; doing it twice is fine.

    Returns what stays though it was tried again and again, with the commands that remove it: the run ends all the same.
    """
    salvage(ctx)
    tidying = Tidying(ctx.note)
    clear(tidying, ctx.sandbox, ctx.run_id, ctx.folder)
    left = [*tidying.left, *put_away(ctx)]
    for one in left:
        ctx.note("\n".join(one.lines()))
    prune(ctx.git, ctx.store)
    return [one._asdict() for one in left]


def clear(tidying: Tidying, sandbox: Sandbox, run_id: str, folder: Path) -> None:
    """Remove the run's sandboxes and its work folders, each by itself."""
    names: list[str] = []
    every = f"docker ps -aq --filter label=grace.run={run_id} | xargs -r docker rm -f"
    docker, again = sandbox.name == "docker", (f"grace clean {run_id}",)
    look = lambda: names.extend(sandbox.remaining(run_id))  # noqa: E731
    tidying.remove("sandbox", f"the sandboxes of {run_id}", look, lambda _fault: (every,) if docker else again)
    for name in names:
        gone = (f"docker rm -f {name}",) if docker else again
        tidying.remove("sandbox", name, lambda name=name: sandbox.remove(name), lambda _fault, gone=gone: gone)  # type: ignore[misc]
    work = folder / "work"
    for spot in sorted(work.iterdir()) if work.is_dir() else []:
        tidying.remove("folder", str(work), lambda spot=spot: discard(spot), removing(work))  # type: ignore[misc]
    if not any(one.what == str(work) for one in tidying.left):
        tidying.remove("folder", str(work), lambda: discard(work), removing(work))


def prune(git: Git, store: Store) -> None:
    """Drop shared checkouts that no run needs: unused for a day, and for twice the longest deadline of a live run.

    And what processes that were killed left where temporary files lie.
    """
    plans = [run.parsed_plan for run in store.runs() if run.state not in OVER]
    longest = max((plan.limits_of(module).deadline for plan in plans for module in plan.modules()), default=0)
    with suppress(OSError):  # a cache that stays is no reason for a run not to end
        prune_cache(git.roots, max(_DAY, 2.0 * longest))
    sweep()


def put_away(ctx: Context) -> list[Leftover]:
    """Move the run's branches out of refs/heads, so that `git push --all` does not carry them; returns what stays."""
    git, tidying = ctx.git, Tidying(ctx.note)
    by_hand = f"git -C {shlex.quote(str(git.main))} update-ref"
    shown = {worktree.branch: worktree.path for worktree in git.worktrees()}
    for ref, commit in git.refs(refnames.branches(ctx.run_id)).items():
        kept = refnames.kept(ctx.run_id) + ref.removeprefix(refnames.branches(ctx.run_id))
        lines = [f"{by_hand} {shlex.quote(kept)} {commit}", f"{by_hand} -d {shlex.quote(ref)} {commit}"]
        if where := shown.get(ref):
            lines.insert(0, f"git -C {shlex.quote(str(where))} switch --detach")
        move = partial(_put_away, git, ref, kept, commit, where)
        tidying.remove("ref", ref, move, lambda fault, lines=lines: (*unlocking(fault), *lines))  # type: ignore[misc]
    return tidying.left


def _put_away(git: Git, ref: str, kept: str, commit: str, shown: Path | None) -> None:
    """Move one; the branch of a checkout stays, as git itself would refuse to delete it."""
    if shown:
        raise GraceError(f"it is checked out at {shown}")
    with effect("ref.kept"):
        git.update_ref(kept, commit, None)
    with effect("ref.away"):
        git.delete_ref(ref, commit)


def bring_back(git: Git, run_id: str) -> None:
    """Make the branches of a run that goes on again."""
    prefix = refnames.kept(run_id)
    for ref, commit in git.refs(prefix).items():
        branch = refnames.branches(run_id) + ref.removeprefix(prefix)
        if branch not in git.refs(branch):
            with effect("ref.back"):
                git.update_ref(branch, commit, "")
        with effect("ref.unkept"):
            git.delete_ref(ref, commit)
