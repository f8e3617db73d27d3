"""grace rollback: which modules a target means, and undoing them in reverse, before or after their landing."""

from dataclasses import dataclass
from typing import Any

from controller.actions.finish import bring_back, put_away
from controller.begin import open_context
from controller.carry import actor, standing
from controller.context import Context
from controller.kernel import RunState, decide
from controller.kernel.state import dependents
from controller.lock import held
from controller.messages import revert_message
from controller.rescue import salvage, unharvested
from controller.saga import without
from controller.store.records import Records, SagaStep
from controller.store.store import RunRecord, Store
from packets.errors import GraceError, UsageError
from packets.events import Event, EventType
from packets.states import ModuleState
from sandbox.choose import close
from sandbox.git import Git
from sandbox.memory import MemorySandbox


@dataclass(frozen=True)
class Target:
    """`to` is start, phase:ID or wave:N: the state when that began. `module` means it and all that depends on it."""

    to: str = ""
    module: str = ""


def roll_back(git: Git, store: Store, run: RunRecord, target: Target) -> dict[str, Any]:
    """Undo what the target means; running it again changes nothing. Refused while a process carries the run."""
    with held(git.roots.run(run.run_id), run.run_id):
        _stop_workers(git, store, run)
        ctx = Context(git=git, store=store, run=run, sandbox=MemorySandbox(), image="")
        state = _refold(store, run)
        names = _meant(store, run, state, target)
        asleep = [m for m in names if state.at(m).state is ModuleState.ASLEEP]
        landed = [m for m in names if state.at(m).state is ModuleState.DONE and not state.at(m).reverted]
        bring_back(git, run.run_id)
        try:
            made = without(ctx, set(asleep))
            _revert(ctx, landed)
            data = {"modules": asleep, "reverted": landed, "tree": made["tree"], "commits": made["commits"]}
            after = _record(store, run, state, Event(type=EventType.ROLLED_BACK, actor=actor(), data=data))
        finally:
            if run.state in {"done", "failed", "cancelled"}:
                put_away(ctx)
        store.set_run(run.run_id, *standing(after, store, run.run_id))
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


def _refold(store: Store, run: RunRecord) -> RunState:
    state: RunState | None = None
    for recorded in store.events(run.run_id):
        state = decide(state, recorded.event).state
    if state is None:
        raise UsageError(f"run {run.run_id} has not begun: there is nothing to undo")
    return state


def _record(store: Store, run: RunRecord, before: RunState, event: Event) -> RunState:
    made = decide(before, event)
    store.record(run.run_id, event, before, made)
    return made.state


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


def _revert(ctx: Context, modules: list[str]) -> None:
    """Undo landed merges by revert commits on the base branch, newest first; the branch is never rewritten."""
    steps = [s for s in ctx.records.saga() if s.kind == "merge" and s.state == "done" and s.module in modules]
    if not steps:
        return
    git, ref = ctx.git, ctx.run.base_ref
    old = git.refs(ref).get(ref)
    if old is None:
        raise GraceError(f"{ref} is gone", "make the branch again, then repeat the rollback")
    new = old
    for step in reversed(steps):
        new = _reverted(ctx, step, new)
    for worktree in git.worktrees():
        if worktree.branch == ref:
            git.update_worktree(worktree.path, git.tree(old), git.tree(new))
    git.update_ref(ref, new, old)
    ctx.records.replace_saga({s.n for s in steps}, {})
    ctx.records.add_step("revert", ",".join(modules), wave=0, phase="", before=old, after=new)


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
