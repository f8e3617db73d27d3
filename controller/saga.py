"""Undoing merges: the steps of a run with their compensations, in reverse.

Before a landing the compensation of a merge is a new integration branch without it: the branch goes back to before the
first undone step, and the steps that stay are put on again in order, in memory. What was undone hangs on a rescue ref.
After a landing the user's branch is never rewritten: the compensation is a revert commit on top of it (`reverts`).
"""

from typing import Any

from controller.context import Context
from controller.rescue import keep
from controller.store.records import SagaStep
from packets.errors import GraceError


def without(ctx: Context, modules: set[str]) -> dict[str, Any]:
    """Rebuild the integration branch without the merges of `modules`; running it again changes nothing."""
    with ctx.refs_lock:
        steps = [s for s in ctx.records.saga() if s.state == "done" and s.kind in {"merge", "sync"}]
        undone = [s for s in steps if s.kind == "merge" and s.module in modules]
        tip = ctx.tip()
        if not undone:
            return {"tip": tip, "tree": ctx.git.tree(tip), "commits": {}}
        new_tip, rewritten = _rebuilt(ctx, steps, undone)
        for gone in undone:
            _rescue(ctx, gone)
        if tip != new_tip:
            ctx.move_tip(new_tip, tip)
        ctx.records.replace_saga({s.n for s in undone}, rewritten)
        names = {s.n: s.module for s in steps}
        commits = {names[n]: after for n, (_, after) in rewritten.items() if names[n]}
        return {"tip": new_tip, "tree": ctx.git.tree(new_tip), "commits": commits}


def _rebuilt(ctx: Context, steps: list[SagaStep], undone: list[SagaStep]) -> tuple[str, dict[int, tuple[str, str]]]:
    """Return the tip without the undone steps, and the new commits of those that stay."""
    first = undone[0]
    tip = first.before
    rewritten: dict[int, tuple[str, str]] = {}
    for step in steps[steps.index(first) :]:
        if step in undone:
            continue
        commit = _put_on(ctx, step, tip)
        rewritten[step.n] = (tip, commit)
        tip = commit
    return tip, rewritten


def _put_on(ctx: Context, step: SagaStep, tip: str) -> str:
    """Put one step on `tip`; the commit's date and words stay, so that doing it twice gives the same commit."""
    git = ctx.git
    merged = git.merge_trees(git.tree(step.before), git.tree(tip), git.tree(step.after))
    if merged.tree is None:
        paths = ", ".join(merged.conflicts)
        raise GraceError(
            f"{step.module or step.kind} cannot stay without what is undone: both changed {paths}",
            f"undo it as well: grace rollback {ctx.run_id} --module {step.module}",
        )
    old = git.log(step.before, step.after, first_parent=True)[0]
    parents = [tip, *old.parents[1:]]
    return git.commit(merged.tree, parents, old.message, old.author, old.date)


def _rescue(ctx: Context, step: SagaStep) -> None:
    row = next((m for m in ctx.store.modules(ctx.run_id) if m["module"] == step.module), None)
    keep(ctx, step.module, row["attempt"] if row else 0, step.after)
