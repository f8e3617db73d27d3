"""The end of a run: nothing is left over but the promised refs."""

import shutil

from controller import refnames
from controller.context import Context
from controller.engine import Steps
from controller.rescue import salvage
from packets.events import Action, Event, EventType
from sandbox.git import Git

EXIT = {"done": 0, "failed": 1, "cancelled": 1}


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Put the run's branches away and remove what carries its id."""
    step("tidy", lambda: tidy(ctx))
    ending = action.data["ending"]
    return Event(type=EventType.FINISHED, action=action.id, data={"state": ending, "exit": EXIT[ending]})


def tidy(ctx: Context) -> bool:
    """Keep what nobody harvested, move branches, remove sandboxes and work folders; doing it twice is fine."""
    salvage(ctx)
    for name in ctx.sandbox.remaining(ctx.run_id):
        ctx.sandbox.remove(name)
    shutil.rmtree(ctx.folder / "work", ignore_errors=True)
    put_away(ctx)
    return True


def put_away(ctx: Context) -> None:
    """Move the run's branches out of refs/heads, so that `git push --all` does not carry them."""
    for ref, commit in ctx.git.refs(refnames.branches(ctx.run_id)).items():
        kept = refnames.kept(ctx.run_id) + ref.removeprefix(refnames.branches(ctx.run_id))
        ctx.git.update_ref(kept, commit, None)
        ctx.git.delete_ref(ref, commit)


def bring_back(git: Git, run_id: str) -> None:
    """Make the branches of a run that goes on again."""
    prefix = refnames.kept(run_id)
    for ref, commit in git.refs(prefix).items():
        branch = refnames.branches(run_id) + ref.removeprefix(prefix)
        if branch not in git.refs(branch):
            git.update_ref(branch, commit, "")
        git.delete_ref(ref, commit)
