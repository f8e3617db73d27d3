"""The end of a run: nothing is left over but the promised refs."""

from contextlib import suppress

from controller import refnames
from controller.context import Context
from controller.engine import Steps
from controller.rescue import salvage
from controller.store.store import OVER, Store
from packets.events import Action, Event, EventType
from sandbox.checkout import discard, prune_cache
from sandbox.effect import effect
from sandbox.git import Git

EXIT = {"done": 0, "failed": 1, "cancelled": 1}
_DAY = 86400.0  # seconds


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Put the run's branches away and remove what carries its id."""
    step("tidy", lambda: tidy(ctx))
    ending = action.data["ending"]
    data = {"state": ending, "exit": EXIT[ending], "unanswered": action.data.get("unanswered", [])}
    return Event(type=EventType.FINISHED, action=action.id, data=data)


def tidy(ctx: Context) -> bool:
    """Keep what nobody harvested, move branches, remove sandboxes and work folders; doing it twice is fine."""
    salvage(ctx)
    for name in ctx.sandbox.remaining(ctx.run_id):
        ctx.sandbox.remove(name)
    discard(ctx.folder / "work")
    put_away(ctx)
    prune(ctx.git, ctx.store)
    return True


def prune(git: Git, store: Store) -> None:
    """Drop shared checkouts that no run needs: unused for a day, and for twice the longest deadline of a live run."""
    plans = [run.parsed_plan for run in store.runs() if run.state not in OVER]
    longest = max((plan.limits_of(module).deadline for plan in plans for module in plan.modules()), default=0)
    with suppress(OSError):  # a cache that stays is no reason for a run not to end
        prune_cache(git.roots, max(_DAY, 2.0 * longest))


def put_away(ctx: Context) -> None:
    """Move the run's branches out of refs/heads, so that `git push --all` does not carry them."""
    for ref, commit in ctx.git.refs(refnames.branches(ctx.run_id)).items():
        kept = refnames.kept(ctx.run_id) + ref.removeprefix(refnames.branches(ctx.run_id))
        with effect("ref.kept"):
            ctx.git.update_ref(kept, commit, None)
        with effect("ref.away"):
            ctx.git.delete_ref(ref, commit)


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
