"""Undoing merges: the steps of a run with their compensations, in reverse.

Before a landing the compensation of a merge is a new integration branch without it: the branch goes back to before the
first undone step, and the steps that stay are put on again in order, in memory. What was undone hangs on a rescue ref.
After a landing the user's branch is never rewritten: the compensation is a revert commit on top of it (`reverts`).
"""

from dataclasses import dataclass
from typing import Any

from controller.context import Context
from controller.rescue import keep
from controller.store.records import SagaStep
from packets.errors import GraceError


@dataclass(frozen=True)
class Rebuilt:
    """An integration branch that is made but not yet in place: its tip, the steps that go, those made anew."""

    tip: str
    undone: tuple[SagaStep, ...]
    rewritten: dict[int, tuple[str, str]]


def without(ctx: Context, modules: set[str]) -> dict[str, Any]:
    """Rebuild the integration branch without the merges of `modules`; running it again changes nothing."""
    with ctx.refs_lock:
        return put_in_place(ctx, rebuilt(ctx, modules))


def put_in_place(ctx: Context, made: Rebuilt) -> dict[str, Any]:
    """Move the integration branch there, and the saga with it; what goes hangs on rescue refs before.

    `commits` names the merge of every module that stays, also when an earlier, cut off call made them.
    """
    for gone in made.undone:
        _rescue(ctx, gone)
    if ctx.raw_tip() != made.tip:
        ctx.move_tip(made.tip, ctx.tip())
    ctx.records.replace_saga({s.n for s in made.undone}, made.rewritten)
    commits = {s.module: s.after for s in ctx.records.saga() if s.kind == "merge" and s.state == "done"}
    return {"tip": made.tip, "tree": ctx.git.tree(made.tip), "commits": commits}


def rebuilt(ctx: Context, modules: set[str]) -> Rebuilt:
    """Make the branch without the merges of `modules` in memory; raises GraceError where others cannot stay."""
    steps = [s for s in ctx.records.saga() if s.state == "done" and s.kind in {"merge", "sync"}]
    undone = [s for s in steps if s.kind == "merge" and s.module in modules]
    if not undone:
        return Rebuilt(ctx.expected_tip(), (), {})  # a merge that was cut off before its record is void
    tip, rewritten = _put_on_again(ctx, steps, undone)
    return Rebuilt(tip, tuple(undone), rewritten)


def _put_on_again(
    ctx: Context, steps: list[SagaStep], undone: list[SagaStep]
) -> tuple[str, dict[int, tuple[str, str]]]:  # fmt: skip
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
