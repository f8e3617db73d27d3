"""grace rollback: which modules a target means, and undoing them in reverse, before or after their landing.

Refused with nothing changed: a run that a process carries, a base branch or an integration branch that is gone or was
moved by hand, edits in the base's checkout that overlap. Everything else is a matter of one step: it stays with what it
depends on, is recorded as stuck, and the report says how to finish it by hand; the others go.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from controller.actions.finish import bring_back, put_away
from controller.actions.land import take_in
from controller.begin import open_context
from controller.context import Context
from controller.copies import restore
from controller.kernel import RunState, decide
from controller.kernel.state import dependents
from controller.leftovers import unlocking
from controller.lock import Held, held
from controller.patience import insist
from controller.rescue import salvage, unharvested
from controller.reverts import Reverts, move_base, reverted
from controller.saga import Left, Rebuilt, again, commits, merges, move_there, needs, rebuilt
from controller.standing import actor, refolded, standing
from controller.store.records import Records
from controller.store.store import OVER, RunRecord, Store
from packets.errors import GraceError, UsageError, WaitingForPerson
from packets.events import Event, EventType
from packets.states import FINAL, ModuleState
from sandbox.choose import close
from sandbox.git import Git, RefMoved
from sandbox.memory import MemorySandbox
from sandbox.scratch import sweep

_TRIES = 3
"""How often a base branch that its user moves at the same moment is looked at anew."""


@dataclass(frozen=True)
class Target:
    """`to` is start, phase:ID or wave:N: the state when that began. `module` means it and all that depends on it."""

    to: str = ""
    module: str = ""


@dataclass(frozen=True)
class Made:
    """A rollback that is made in memory: the integration branch without `modules`, and the base branch's reverts."""

    modules: tuple[str, ...]
    fresh: Rebuilt
    reverts: Reverts

    @property
    def left(self) -> tuple[Left, ...]:
        """What stays and should not, the last merged first."""
        return (*self.fresh.left, *self.reverts.left)

    def without_tip(self, ctx: Context, fault: GraceError) -> "Made":
        """Return what is left to a person when the integration branch cannot be moved."""
        why, last = f"the integration branch cannot be moved: {fault.message}", commits(ctx)
        names = [m for m in reversed(self.modules) if m in last]
        stay = tuple(Left(m, last[m], why, (*unlocking(fault), again(ctx, m))) for m in names)
        return Made((), Rebuilt(ctx.expected_tip(), left=(*self.fresh.left, *stay)), self.reverts)


def roll_back(git: Git, store: Store, run: RunRecord, target: Target) -> dict[str, Any]:
    """Undo what the target means, as far as it can be undone; running it again changes nothing.

    Refused while a process carries the run. All is made in memory first; then the intent is recorded, and from there
    on a crash is finished by the next rollback or resume (`finish_rollback`).
    """
    with _nobody_carries(git, run):
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
        sweep()
        return done


def preview(git: Git, store: Store, run: RunRecord, target: Target) -> dict[str, Any]:
    """Say what a rollback would do, step by step in its order, each with its compensation; nothing is changed."""
    ctx = Context(git=git, store=store, run=run, sandbox=MemorySandbox(), image="")
    state = refolded(store, run.run_id)
    made = _made(ctx, state, _meant(store, run, state, target))
    branch = run.base_ref.removeprefix("refs/heads/")
    how = dict.fromkeys(made.reverts.modules, f"a revert commit on {branch}")
    how |= dict.fromkeys(made.modules, "the integration branch is made anew without it; it hangs on a rescue ref")
    steps = [
        {"n": s.n, "kind": s.kind, "module": s.module, "commit": s.after, "compensation": how[s.module]}
        for s in reversed(merges(ctx))
        if s.module in how
    ]
    return {"dry_run": True, "steps": steps, **_report(made, made.fresh.tip)}


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
    made = _made(ctx, state, names)
    if ctx.raw_tip() != made.fresh.tip:
        ctx.tip()  # raises where somebody moved it: before anything is changed
    n = intent or ctx.records.intend("rollback", target.module, target.to, made.reverts.old, made.reverts.new)
    if intent and made.reverts.old != made.reverts.new:
        ctx.records.aim(n, made.reverts.old, made.reverts.new)
    try:
        made = _base_moved(ctx, made, lambda: _made(ctx, state, names))
    except WaitingForPerson:
        ctx.records.settle_step(n, "void")  # nothing was changed
        raise
    made = _tip_moved(ctx, made)
    ctx.records.replace_saga({s.n for s in made.fresh.undone}, dict(made.fresh.rewritten))
    reverts = _moved_before(ctx, n, made.reverts)
    if reverts.new != reverts.old:
        what = ",".join(reverts.modules)
        ctx.records.add_step("revert", what, wave=0, phase="", before=reverts.old, after=reverts.new)
    if made.reverts.modules and _goes_on(state, made):
        _take_in_reverts(ctx, made.reverts.new)
    ctx.records.leave(names, {one.module: one.commit for one in made.left})
    event = Event(type=EventType.ROLLED_BACK, actor=actor(), action=f"rollback-{n}", data=_data(ctx, state, made))
    ctx.store.record(ctx.run_id, event, state, decide(state, event))
    ctx.records.settle_step(n, "done")
    restore(ctx.roots, ctx.records)
    return _report(made, ctx.expected_tip())


def _moved_before(ctx: Context, n: int, reverts: Reverts) -> Reverts:
    """Return how the base branch moved, also when a life moved it that was killed before it wrote that down."""
    meant = next(step for step in ctx.records.saga() if step.n == n)
    held = ctx.git.refs(ctx.run.base_ref).get(ctx.run.base_ref)
    if reverts.old != reverts.new or not (reverts.modules and meant.after and held):
        return reverts
    moved = ctx.git.is_ancestor(meant.after, held)
    return reverts._replace(old=meant.before, new=meant.after) if moved else reverts


def _made(ctx: Context, state: RunState, names: list[str]) -> Made:
    """Make it in memory. What cannot go from the integration branch keeps what it needs on the base branch too."""
    merged = [m for m in names if state.at(m).merged and state.at(m).state not in FINAL]
    landed = [m for m in names if state.at(m).state is ModuleState.DONE and not state.at(m).reverted]
    fresh = rebuilt(ctx, merged)
    kept = {one.module for one in fresh.left}
    stay = {need: module for module in kept for need in needs(ctx, module)}
    return Made(tuple(m for m in merged if m not in kept), fresh, reverted(ctx, landed, stay))


def _base_moved(ctx: Context, made: Made, anew: Callable[[], Made]) -> Made:
    """Move the base branch; one that cannot be moved leaves what has landed to a person."""
    for _ in range(_TRIES):
        try:
            insist(lambda made=made: move_base(ctx, made.reverts), _wanted, ctx.note)  # type: ignore[misc]
        except WaitingForPerson:
            raise
        except RefMoved:
            made = anew()
        except GraceError as fault:
            return replace(made, reverts=made.reverts.without_base(ctx, fault))
        else:
            return made
    moving = GraceError("somebody moves it all the time")
    return replace(made, reverts=made.reverts.without_base(ctx, moving))


def _tip_moved(ctx: Context, made: Made) -> Made:
    """Move the integration branch; one that cannot be moved leaves what is on it to a person."""
    try:
        insist(lambda: move_there(ctx, made.fresh), _wanted, ctx.note)
    except GraceError as fault:
        return made.without_tip(ctx, fault)
    return made


def _wanted() -> bool:
    return False


def _goes_on(state: RunState, made: Made) -> bool:
    return not state.finished or (bool(made.modules) and state.closing != "cancelled")


def _take_in_reverts(ctx: Context, base: str) -> None:
    """Take the reverts into a run that goes on: its next packets are made from the tree without what was reverted.

    Where they conflict with what stays, the next landing finds that out and says so.
    """
    with suppress(GraceError):
        insist(lambda: take_in(ctx, base), _wanted, ctx.note)


def _data(ctx: Context, state: RunState, made: Made) -> dict[str, Any]:
    tip, on_it = ctx.expected_tip(), dependents(state.layout, made.modules)
    void = {*made.modules, *made.reverts.modules, *(m for m in on_it if state.at(m).state not in FINAL)}
    return {
        "modules": list(made.modules),
        "reverted": list(made.reverts.modules),
        "left": [one._asdict() for one in made.left],
        "attempts": {m: state.at(m).attempt for m in state.layout.names if m in void and state.at(m).attempt},
        "tip": tip,
        "tree": ctx.git.tree(tip),
        "commits": commits(ctx),
    }


def _report(made: Made, tip: str) -> dict[str, Any]:
    left = [one._asdict() for one in made.left]
    return {"modules": list(made.modules), "reverted": list(made.reverts.modules), "left": left, "tip": tip}


@contextmanager
def _nobody_carries(git: Git, run: RunRecord) -> Iterator[None]:
    """Hold the run; say to whom it is refused what to do first."""
    holding = held(git.roots.run(run.run_id), run.run_id)
    try:
        holding.__enter__()
    except Held as fault:
        raise Held(fault.message, f"stop it first: grace pause {run.run_id}; then roll back again") from fault
    try:
        yield
    finally:
        holding.__exit__(None, None, None)


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
