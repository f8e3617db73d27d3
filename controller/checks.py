"""Running checks for a run: once per tree, image and command; green evidence is reused, red is not.

Every outcome is remembered under tree, engine, image and command, over attempts, modules, runs and lives. A check that
said different things of the very same tree is flaky, and says nothing about who is at fault. So a red one is run once
more on the same tree where it was green before, and, at a refresh (`blames`), before anybody is blamed: green now is
green and reported as flaky; red twice is red.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from controller.context import Context
from controller.store.said import remember, said
from packets.limits import Limits
from packets.outcome import StopReason
from packets.verdict import CheckResult
from reviewer.checks import run_checks
from reviewer.proving import Trial, Tried
from sandbox.faults import disk_full, is_full


def checked(
    ctx: Context,
    tree: str,
    commands: Sequence[str],
    *,
    name: str,
    limits: Limits,
    cancelled: Callable[[], bool],
    blames: bool = False,
) -> tuple[CheckResult, ...]:
    """Return one result a command, in order; runs only those without recorded green evidence for this very tree.

    Raises Interrupted, EngineLost and MachineLacks as the engine does, DiskFull where a red one may mean no more.
    """
    known = {c: ctx.records.evidence(_key(ctx, tree, c)) for c in commands}
    missing = [c for c in dict.fromkeys(commands) if known[c] is None]
    for command, result in _run(ctx, tree, missing, name, limits, cancelled):
        known[command] = (result,)
    again = [c for c in missing if _is_doubtful(ctx, tree, c, known[c], blames=blames)]
    for command, result in _run(ctx, tree, again, f"{name}-again", limits, cancelled):
        known[command] = (result,)
    return tuple(result for command in commands for result in known[command] or ())


def tried(ctx: Context, trial: Trial, *, name: str, limits: Limits, cancelled: Callable[[], bool]) -> Tried:
    """Try new scenarios on the base and on the result, in one fresh sandbox; `limits` hold the trial's own deadline.

    Nothing of it is used again: it says something of two trees. Raises as `checked` does.
    """
    if ctx.sandbox.name == "memory":
        return Tried(cannot="nothing was tried: the in-memory engine plays scripts, and runs no tests")
    results = run_checks(
        git=ctx.git,
        sandbox=ctx.sandbox,
        image=ctx.image,
        tree=trial.tree(ctx.git),
        commands=trial.all,
        run_id=ctx.run_id,
        name=name,
        folder=ctx.folder / "work" / name,
        limits=limits,
        log_dir=ctx.roots.logs(ctx.run_id),
        labels={"grace.kind": "proof"},
        cancelled=cancelled,
        lay=lambda check: trial.lay(ctx.git, check),
    )
    if is_full(ctx.folder):
        raise disk_full(ctx.folder, "new tests were tried meanwhile")
    return Tried.split(trial, results)


def green(ctx: Context, tree: str, command: str) -> bool:
    """Say whether there is green evidence of this command on this very tree: it is not run again."""
    return ctx.records.evidence(_key(ctx, tree, command)) is not None


def always_red(ctx: Context, tree: str, command: str) -> bool:
    """Say whether the command failed on this very tree every time, and more than once: that is known."""
    words = said(ctx.store.db, _key(ctx, tree, command))
    return len(words) > 1 and set(words) == {"failed"}


def _run(  # noqa: PLR0917 - what `checked` was given
    ctx: Context, tree: str, commands: list[str], name: str, limits: Limits, cancelled: Callable[[], bool]
) -> Iterator[tuple[str, CheckResult]]:
    """Run the commands; remember what each said, and keep the greens as evidence."""
    if not commands:
        return
    fresh = run_checks(
        git=ctx.git,
        sandbox=ctx.sandbox,
        image=ctx.image,
        tree=tree,
        commands=tuple(commands),
        run_id=ctx.run_id,
        name=name,
        folder=ctx.folder / "work" / name,
        limits=limits,
        log_dir=ctx.roots.logs(ctx.run_id),
        labels={"grace.kind": "check"},
        cancelled=cancelled,
    )
    if any(not result.passed for result in fresh) and is_full(ctx.folder):
        raise disk_full(ctx.folder, "a check failed meanwhile")
    for command, result in zip(commands, fresh, strict=True):
        key = _key(ctx, tree, command)
        words = remember(ctx.store.db, key, ctx.run_id, tree, command, passed=result.passed)
        told = result.model_copy(update={"flaky": ", ".join(words) if len(set(words)) > 1 else ""})
        if told.passed:
            ctx.records.put_evidence(key, (told,))
        yield command, told


def _is_doubtful(
    ctx: Context, tree: str, command: str, results: tuple[CheckResult, ...] | None, *, blames: bool
) -> bool:
    """Say whether a red check has to be run once more on the same tree: it was green there, or somebody is blamed.

    A deadline is final: what reached it is not run for as long again.
    """
    red = [result for result in results or () if not result.passed]
    if not red or any(result.reason == StopReason.DEADLINE for result in red):
        return False
    return blames or "passed" in said(ctx.store.db, _key(ctx, tree, command))


def _key(ctx: Context, tree: str, command: str) -> str:
    body = f"{tree}\0{ctx.sandbox.name}\0{ctx.image}\0{command}"
    return hashlib.sha256(body.encode()).hexdigest()
