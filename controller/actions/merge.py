"""Merging an accepted tree into the integration branch, in memory, exactly once; and undoing one merge."""

from typing import Any

from controller import refnames
from controller.context import Context
from controller.engine import Steps
from controller.messages import merge_message
from controller.saga import without
from packets.errors import GraceError, UsageError
from packets.events import Action, Event, EventType


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Merge the module's accepted tree; a conflict is an outcome, never an automatic resolution."""
    made = step("merge", lambda: _merge(ctx, action))
    if made["conflicts"]:
        return Event(
            type=EventType.CONFLICT, module=action.module, attempt=action.attempt, action=action.id,
            data={"paths": made["conflicts"]},
        )  # fmt: skip
    return Event(
        type=EventType.MERGED, module=action.module, attempt=action.attempt, action=action.id,
        data={"commit": made["commit"], "tree": ctx.git.tree(made["commit"])},
    )  # fmt: skip


def _merge(ctx: Context, action: Action) -> dict[str, Any]:
    record = ctx.records.attempt(action.module, action.attempt)
    if record is None or record.outcome is None or record.verdict is None:
        raise RuntimeError(f"{action.module} has no judged attempt {action.attempt}")
    with ctx.refs_lock:
        tip = ctx.tip()
        _refuse_what_is_gone(ctx, action, record.outcome.head_tree)
        commit = _merged_already(ctx, tip, record.packet.packet_id)
        if commit is None:
            merged = ctx.git.merge_trees(record.packet.base.tree, ctx.git.tree(tip), record.outcome.head_tree)
            if merged.tree is None:
                return {"conflicts": list(merged.conflicts)}
            message = merge_message(record.packet, str(record.verdict.decision))
            commit = ctx.git.commit(merged.tree, [tip], message, ctx.plan.commit.author)
            ctx.move_tip(commit, tip)
        _write_down(ctx, action, commit)
    return {"conflicts": [], "commit": commit}


def _refuse_what_is_gone(ctx: Context, action: Action, tree: str) -> None:
    """Say what to do about an accepted tree that is no more in git; raises GraceError."""
    try:
        ctx.git.tree(tree)
    except UsageError as fault:
        ref = refnames.attempt(ctx.run_id, action.module, action.attempt)
        said = f"what {action.module} made is gone from git: somebody deleted {ref} and pruned it"
        anew = f'have it made anew: grace say {ctx.run_id} {action.module} "again"; then: grace resume {ctx.run_id}'
        raise GraceError(said, anew) from fault


def _merged_already(ctx: Context, tip: str, packet_id: str) -> str | None:
    """Find the merge of this packet on the branch: we may have been killed between the merge and its record."""
    for commit in ctx.git.log(ctx.run.base_commit, tip, first_parent=True):
        if f"\nGrace-Packet: {packet_id}\n" in commit.message and f"\nGrace-Run: {ctx.run_id}\n" in commit.message:
            return commit.sha
    return None


def _write_down(ctx: Context, action: Action, commit: str) -> None:
    parent = ctx.git.log(ctx.run.base_commit, commit, first_parent=True)[0].parents[0]
    phase = ctx.plan.phase_of(action.module).id
    wave = next(m["wave"] for m in ctx.store.modules(ctx.run_id) if m["module"] == action.module)
    ctx.records.add_step("merge", action.module, wave=wave, phase=phase, before=parent, after=commit)


def undo(ctx: Context, action: Action, step: Steps) -> Event:
    """Take the merges of these modules, or of the one, back out of the integration branch; the innocent stay."""
    modules = sorted(action.data.get("modules", [action.module]))
    made = step("undo", lambda: without(ctx, set(modules)))
    rows = {m["module"]: m["attempt"] for m in ctx.store.modules(ctx.run_id)}
    data = {"modules": modules, "attempts": {m: rows[m] for m in modules if rows[m]}}
    return Event(
        type=EventType.UNDONE, module=action.module, action=action.id,
        data={"tip": made["tip"], "tree": made["tree"], "commits": made["commits"], **data},
    )  # fmt: skip
