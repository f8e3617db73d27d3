"""Landing: the only step that touches a branch of the user's. Fast-forward, compare-and-swap, checkout first."""

from controller.context import Context
from controller.engine import Steps
from controller.messages import sync_message
from packets.errors import GraceError, WaitingForPerson
from packets.events import Action, Event, EventType
from packets.permissions import Tier
from sandbox.effect import effect
from sandbox.git import RefMoved


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Move the base branch to the integration tip, or say why not: it moved, or its checkout is in the way."""
    made = step("land", lambda: _land(ctx, action))
    kinds = {"landed": EventType.LANDED, "moved": EventType.LANDING_MOVED, "blocked": EventType.LANDING_BLOCKED}
    return Event(type=kinds[made.pop("how")], action=action.id, data=made)


def _land(ctx: Context, action: Action) -> dict[str, str]:
    git, ref, tip = ctx.git, ctx.run.base_ref, ctx.tip()
    if git.tree(tip) != action.data["tree"]:
        raise GraceError(f"the integration branch of {ctx.run_id} does not hold the tree that was approved")
    held = git.refs(ref).get(ref)
    if held is None and not _is_to_be_made(ctx):
        return _gone(ctx)
    by_hand = ctx.plan.permissions.land is Tier.DENY
    if refused := (_find if by_hand else _bring)(ctx, ref, held, tip):
        return refused
    landings = _landings(ctx)
    before = landings[-1] if landings else ctx.run.base_commit
    ctx.records.add_step("land", "", wave=0, phase=action.data["phase"], before=before, after=tip)
    return {"how": "landed", "commit": tip, "ref": ref, "before": before}


def _bring(ctx: Context, ref: str, held: str | None, tip: str) -> dict[str, str] | None:
    """Bring the branch to the tip; None when it is there."""
    if held == tip:
        return None
    if held is not None and not ctx.git.is_ancestor(held, tip):
        return {"how": "moved", "base": held}
    try:
        _move(ctx, ref, held, tip)
    except WaitingForPerson as fault:
        return {"how": "blocked", "message": fault.message, "hint": fault.hint}
    except RefMoved:
        return {"how": "moved", "base": now} if (now := ctx.git.refs(ref).get(ref)) else _gone(ctx)
    return None


def _find(ctx: Context, ref: str, held: str | None, tip: str) -> dict[str, str] | None:
    """Under `land: deny` a person lands: find what they merged (None), else stand still and say what is to be done."""
    if held is not None and ctx.git.is_ancestor(tip, held):
        return None
    if held is not None and not ctx.git.is_ancestor(held, tip):
        return {"how": "moved", "base": held}
    name = ref.removeprefix("refs/heads/")
    todo = f"git switch {name} && git merge --ff-only {tip[:12]}" if held else f"git branch {name} {tip[:12]}"
    message = f"all is ready to land on {name}, and the plan says `land: deny`: {tip[:12]} is yours to merge"
    return {"how": "blocked", "message": message, "hint": f"{todo}; then: grace resume {ctx.run_id}"}


def _landings(ctx: Context) -> list[str]:
    return [s.after for s in ctx.records.saga() if s.kind == "land"]


def _is_to_be_made(ctx: Context) -> bool:
    """Say whether this landing makes the branch: one that the plan names beside the base, at the first landing."""
    return ctx.plan.land.branch is not None and not _landings(ctx)


def _gone(ctx: Context) -> dict[str, str]:
    """Stand still where somebody deleted or renamed the branch: to make it again would be against their word."""
    landings, name = _landings(ctx), ctx.run.base_ref.removeprefix("refs/heads/")
    held = landings[-1] if landings else ctx.run.base_commit
    hint = f"make it again: git branch {name} {held[:12]}; then: grace resume {ctx.run_id}"
    return {"how": "blocked", "message": f"the branch {name}, where the run lands, is gone", "hint": hint}


def _move(ctx: Context, ref: str, held: str | None, tip: str) -> None:
    """Update each checkout of the branch, then the branch. A crash between the two is finished by doing it again."""
    for worktree in ctx.git.worktrees():
        if worktree.branch == ref and held is not None:
            with effect("checkout.land"):
                ctx.git.update_worktree(worktree.path, ctx.git.tree(held), ctx.git.tree(tip))
    with effect("ref.land"):
        ctx.git.update_ref(ref, tip, held or "")


def sync(ctx: Context, action: Action, step: Steps) -> Event:
    """Take a base that moved meanwhile into the integration branch, in memory."""
    made = step("sync", lambda: take_in(ctx, action.data["base"]))
    return Event(type=EventType.SYNCED, action=action.id, data=made)


def take_in(ctx: Context, base: str) -> dict[str, object]:
    """Merge the base branch, as it is at `base`, into the integration branch; or say what conflicts."""
    with ctx.refs_lock:
        tip = ctx.tip()
        if tip != ctx.expected_tip():  # cut off between the merge and its record
            ctx.records.add_step("sync", "", wave=0, phase="", before=ctx.expected_tip(), after=tip)
        if not ctx.git.is_ancestor(base, tip):
            merged = ctx.git.merge(tip, base)
            if merged.tree is None:
                return {
                    "conflicts": list(merged.conflicts),
                    "message": f"{ctx.run.base_ref} moved to {base[:12]}; conflicts: {', '.join(merged.conflicts)}",
                    "hint": f"undo the conflicting change on the base, then: grace resume {ctx.run_id}",
                }
            commit = ctx.git.commit(merged.tree, [tip, base], sync_message(ctx.run_id, base), ctx.plan.commit.author)
            ctx.move_tip(commit, tip)
            ctx.records.add_step("sync", "", wave=0, phase="", before=tip, after=commit)
        return {"tip": ctx.tip(), "tree": ctx.git.tree(ctx.tip())}
