"""Undoing merges: the steps of a run with their compensations, in reverse.

Before a landing the compensation of a merge is a new integration branch without it: the branch goes back to before the
first undone step, and the steps that stay are put on again in order, in memory. What was undone hangs on a rescue ref.
After a landing the user's branch is never rewritten: the compensation is a revert commit on top of it (`reverts`).

A merge whose compensation cannot be made stays, and so does all that its module depends on (`Left`); the rest goes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from controller.context import Context
from controller.rescue import keep
from controller.store.records import SagaStep
from packets.errors import GraceError


class Left(NamedTuple):
    """A module that was to be undone and stays: its merge, why, and the exact commands that undo it by hand."""

    module: str
    commit: str
    reason: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Rebuilt:
    """An integration branch that is made but not yet in place: its tip, the steps that go, those made anew.

    `left` holds the modules that have to stay, because others that stay were built on them.
    """

    tip: str
    undone: tuple[SagaStep, ...] = ()
    rewritten: tuple[tuple[int, tuple[str, str]], ...] = ()
    left: tuple[Left, ...] = ()


class _Clash(NamedTuple):
    """A step that cannot be put on again, and the paths that are in the way."""

    step: SagaStep
    paths: tuple[str, ...]


def without(ctx: Context, modules: set[str]) -> dict[str, Any]:
    """Rebuild the integration branch without the merges of `modules`; running it again changes nothing.

    Raises GraceError, with nothing changed, where a module that stays was built on one of them.
    """
    with ctx.refs_lock:
        made = rebuilt(ctx, modules)
        if made.left:
            first = made.left[0]
            raise GraceError(f"{first.module} cannot be undone: {first.reason}", f"first: {first.commands[0]}")
        return put_in_place(ctx, made)


def put_in_place(ctx: Context, made: Rebuilt) -> dict[str, Any]:
    """Move the integration branch there, and the saga with it.

    `commits` names the merge of every module that stays, also when an earlier, cut off call made them.
    """
    move_there(ctx, made)
    ctx.records.replace_saga({s.n for s in made.undone}, dict(made.rewritten))
    return {"tip": made.tip, "tree": ctx.git.tree(made.tip), "commits": commits(ctx)}


def move_there(ctx: Context, made: Rebuilt) -> None:
    """Hang what goes on rescue refs, then move the integration branch."""
    for gone in made.undone:
        _rescue(ctx, gone)
    if ctx.raw_tip() != made.tip:
        ctx.move_tip(made.tip, ctx.tip())


def commits(ctx: Context) -> dict[str, str]:
    """Return the merge of every module that stands, the last one of a module that was merged twice."""
    return {s.module: s.after for s in merges(ctx)}


def merges(ctx: Context) -> list[SagaStep]:
    """Return the merges that stand, in order."""
    return [s for s in ctx.records.saga() if s.kind == "merge" and s.state == "done"]


def needs(ctx: Context, module: str) -> set[str]:
    """Return the modules of the plan that this one depends on, directly or not."""
    known = {m.id: m.depends_on for m in ctx.plan.modules()}
    reached: set[str] = set()
    edge = [module]
    while edge:
        found = {name for name in known.get(edge.pop(), ()) if name in known} - reached
        reached |= found
        edge.extend(found)
    return reached


def again(ctx: Context, module: str) -> str:
    """Return the command that undoes a module and what depends on it."""
    return f"grace rollback {ctx.run_id} --module {module}"


def rebuilt(ctx: Context, modules: Iterable[str]) -> Rebuilt:
    """Make the branch in memory without the merges of as many of `modules` as can go."""
    steps = [s for s in ctx.records.saga() if s.state == "done" and s.kind in {"merge", "sync"}]
    left: dict[str, Left] = {}
    while True:
        undone = [s for s in steps if s.kind == "merge" and s.module in modules and s.module not in left]
        if not undone:
            return Rebuilt(ctx.expected_tip(), left=tuple(left.values()))  # also: cut off before its record is void
        made = _put_on_again(ctx, steps, undone)
        if isinstance(made, Rebuilt):
            return Rebuilt(made.tip, made.undone, made.rewritten, tuple(left.values()))
        left |= _staying(ctx, made, undone)


def _put_on_again(ctx: Context, steps: list[SagaStep], undone: list[SagaStep]) -> Rebuilt | _Clash:
    """Return the branch without the undone steps, or the first step that cannot stay without them.

    A base that was merged in and cannot be merged again goes too: the next landing takes it in anew.
    """
    first, gone = undone[0], list(undone)
    tip = first.before
    rewritten: list[tuple[int, tuple[str, str]]] = []
    for step in steps[steps.index(first) :]:
        if step in undone:
            continue
        commit, paths = _put_on(ctx, step, tip)
        if commit:
            rewritten.append((step.n, (tip, commit)))
            tip = commit
        elif step.kind == "sync":
            gone.append(step)
        else:
            return _Clash(step, paths)
    return Rebuilt(tip, tuple(gone), tuple(rewritten))


def _put_on(ctx: Context, step: SagaStep, tip: str) -> tuple[str, tuple[str, ...]]:
    """Put one step on `tip`: its commit, or the paths that conflict.

    The commit's date and words stay, so that doing it twice gives the same commit.
    """
    git = ctx.git
    old = git.log(step.before, step.after, first_parent=True)[0]
    if step.kind == "sync" and old.parents[1:]:  # not its difference: the base may hold what goes here by itself
        merged = git.merge(tip, old.parents[1])
    else:
        merged = git.merge_trees(git.tree(step.before), git.tree(tip), git.tree(step.after))
    if merged.tree is None:
        return "", merged.conflicts
    return git.commit(merged.tree, [tip, *old.parents[1:]], old.message, old.author, old.date), ()


def _staying(ctx: Context, clash: _Clash, undone: list[SagaStep]) -> dict[str, Left]:
    """Return whom the clash keeps: the last one before it that touched the paths, and all that one depends on."""
    git, stays = ctx.git, clash.step.module
    earlier = [s for s in undone if s.n < clash.step.n]
    touching = [
        s for s in earlier if {c.path for c in git.changes(git.tree(s.before), git.tree(s.after))} & {*clash.paths}
    ]
    kept = (touching or earlier)[-1]
    why = f"{stays}, which stays, was built on it: both changed {', '.join(clash.paths)}"
    found = {kept.module: Left(kept.module, kept.after, why, (again(ctx, stays), again(ctx, kept.module)))}
    below = needs(ctx, kept.module)
    for step in reversed(undone):
        if step.module in below and step.module not in found:
            found[step.module] = held_back(ctx, step, kept.module)
    return found


def _changed(ctx: Context, step: SagaStep) -> set[str]:
    return {change.path for change in ctx.git.changes(ctx.git.tree(step.before), ctx.git.tree(step.after))}


def held_back(ctx: Context, step: SagaStep, above: str) -> Left:
    """Say of a module that it stays because one that depends on it does."""
    return Left(step.module, step.after, f"{above}, which depends on it, stays", (again(ctx, step.module),))


def _rescue(ctx: Context, step: SagaStep) -> None:
    """Hang an undone merge on a rescue ref; a base that was merged in hangs on the user's own branch."""
    row = next((m for m in ctx.store.modules(ctx.run_id) if m["module"] == step.module), None)
    if step.kind == "merge":
        keep(ctx, step.module, row["attempt"] if row else 0, step.after)
