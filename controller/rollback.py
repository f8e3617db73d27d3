"""grace rollback: which modules a target means, and undoing them in reverse, before or after their landing."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from controller.actions.finish import bring_back, put_away
from controller.begin import open_context
from controller.context import Context
from controller.kernel import RunState, decide
from controller.kernel.state import dependents
from controller.lock import held
from controller.messages import revert_message
from controller.rescue import salvage, unharvested
from controller.saga import put_in_place, rebuilt
from controller.standing import actor, refolded, standing
from controller.store.records import Records, SagaStep
from controller.store.store import OVER, RunRecord, Store
from packets.errors import GraceError, UsageError, WaitingForPerson
from packets.events import Event, EventType
from packets.states import ModuleState
from sandbox.choose import close
from sandbox.effect import effect
from sandbox.git import Git
from sandbox.memory import MemorySandbox


@dataclass(frozen=True)
class Target:
    """`to` is start, phase:ID or wave:N: the state when that began. `module` means it and all that depends on it."""

    to: str = ""
    module: str = ""


def roll_back(git: Git, store: Store, run: RunRecord, target: Target) -> dict[str, Any]:
    """Undo what the target means, all of it or nothing; running it again changes nothing.

    Refused while a process carries the run. All is made in memory first; then the intent is recorded, and from there
    on a crash is finished by the next rollback or resume (`finish_rollback`).
    """
    with held(git.roots.run(run.run_id), run.run_id):
        run = store.run(run.run_id)
        _stop_workers(git, store, run)
        ctx = Context(git=git, store=store, run=run, sandbox=MemorySandbox(), image="")
        bring_back(git, run.run_id)
        try:
            finish_rollback(ctx)
            done = _undo(ctx, target, None)
        finally:
            if store.run(run.run_id).state in OVER:
                put_away(ctx)
        store.set_run(run.run_id, *standing(refolded(store, run.run_id), store, run.run_id))
        return done


def finish_rollback(ctx: Context) -> None:
    """Finish a rollback that was cut off after its intent was recorded."""
    for step in ctx.records.saga():
        if step.kind == "rollback" and step.state == "intended":
            target = Target(module=step.module) if step.module else Target(to=step.phase)
            _undo(ctx, target, step.n)


def _undo(ctx: Context, target: Target, intent: int | None) -> dict[str, Any]:
    """Make all in memory, record the intent, move the base branch, then the integration branch, then the state."""
    state = refolded(ctx.store, ctx.run_id)
    names = _meant(ctx.store, ctx.run, state, target)
    asleep = [m for m in names if state.at(m).state is ModuleState.ASLEEP]
    landed = [m for m in names if state.at(m).state is ModuleState.DONE and not state.at(m).reverted]
    fresh, reverts = rebuilt(ctx, set(asleep)), _reverts(ctx, landed)
    n = intent or ctx.records.intend("rollback", target.module, target.to)
    try:
        _move_base(ctx, reverts)
    except GraceError:
        ctx.records.settle_step(n, "void")  # nothing was changed
        raise
    made = put_in_place(ctx, fresh)
    if reverts.new != reverts.old:
        ctx.records.add_step("revert", ",".join(landed), wave=0, phase="", before=reverts.old, after=reverts.new)
    data = {"modules": asleep, "reverted": landed, "tip": made["tip"], "tree": made["tree"], "commits": made["commits"]}
    event = Event(type=EventType.ROLLED_BACK, actor=actor(), action=f"rollback-{n}", data=data)
    ctx.store.record(ctx.run_id, event, state, decide(state, event))
    ctx.records.settle_step(n, "done")
    return {"modules": asleep, "reverted": landed, "tip": made["tip"]}


def _stop_workers(git: Git, store: Store, run: RunRecord) -> None:
    """Stop the workers that a dead controller left, and keep what they did; without any the engine is not needed."""
    if next(unharvested(git, Records(store, run.run_id)), None) is None:
        return
    ctx = open_context(git, store, run)
    try:
        salvage(ctx)
    finally:
        close(ctx.sandbox)


def _meant(store: Store, run: RunRecord, state: RunState, target: Target) -> list[str]:
    rows = store.modules(run.run_id)
    kind, _, name = target.to.partition(":")
    if target.module:
        if target.module not in {m["module"] for m in rows}:
            raise UsageError(f"{target.module!r} is no module of run {run.run_id}")
        return [target.module, *dependents(state.layout, [target.module])]
    if target.to == "start":
        return [m["module"] for m in rows]
    if kind == "phase" and (first := [m["place"] for m in rows if m["phase"] == name]):
        return [m["module"] for m in rows if m["place"] >= min(first)]
    if kind == "wave" and name.isdecimal() and any(m["wave"] == int(name) for m in rows):
        return [m["module"] for m in rows if m["wave"] >= int(name)]
    raise UsageError(f"--to {target.to!r} is no place of run {run.run_id}", "start, phase:ID or wave:N")


class _Reverts(NamedTuple):
    """Revert commits that are made but on no branch yet: where the base branch was, and where it is to go."""

    old: str
    new: str


def _reverts(ctx: Context, modules: list[str]) -> _Reverts:
    """Make revert commits on top of the base branch, newest merge first; the branch is never rewritten."""
    steps = [s for s in ctx.records.saga() if s.kind == "merge" and s.state == "done" and s.module in modules]
    if not steps:
        return _Reverts("", "")
    old = ctx.git.refs(ctx.run.base_ref).get(ctx.run.base_ref)
    if old is None:
        raise GraceError(f"{ctx.run.base_ref} is gone; nothing was undone", "make the branch again, then repeat it")
    new = old
    for step in reversed(steps):
        new = _reverted(ctx, step, new)
    return _Reverts(old, new)


def _reverted(ctx: Context, step: SagaStep, head: str) -> str:
    """Return a commit on `head` that takes the step back; one that is on the branch already is not made again."""
    git = ctx.git
    merged = git.merge_trees(git.tree(step.after), git.tree(head), git.tree(step.before))
    if merged.tree is None:
        paths = ", ".join(merged.conflicts)
        raise GraceError(
            f"{step.module} cannot be reverted: {paths} changed since it landed; nothing was undone",
            f"by hand: git revert {step.after[:12]}",
        )
    if merged.tree == git.tree(head):
        return head
    message = revert_message(step.module, ctx.run_id, step.after)
    return git.commit(merged.tree, [head], message, ctx.plan.commit.author)


def _move_base(ctx: Context, to: _Reverts) -> None:
    """Update each checkout of the base branch, then the branch; refused by local edits in the way, as a landing is."""
    git, ref = ctx.git, ctx.run.base_ref
    if to.old == to.new:
        return
    try:
        for worktree in git.worktrees():
            if worktree.branch == ref:
                with effect("checkout.revert"):
                    git.update_worktree(worktree.path, git.tree(to.old), git.tree(to.new))
    except WaitingForPerson as fault:
        hint = fault.hint.replace("`grace resume`", "the rollback again")
        raise WaitingForPerson(f"{fault.message}; nothing was undone", hint) from fault
    with effect("ref.revert"):
        git.update_ref(ref, to.new, to.old)
