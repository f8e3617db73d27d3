"""Running checks for a run: once per tree, image and command list; a green result is reused, a red one is not."""

import hashlib
from collections.abc import Callable, Sequence

from controller.context import Context
from packets.limits import Limits
from packets.verdict import CheckResult
from reviewer.checks import run_checks


def checked(
    ctx: Context,
    tree: str,
    commands: Sequence[str],
    *,
    name: str,
    limits: Limits,
    cancelled: Callable[[], bool],
) -> tuple[CheckResult, ...]:
    """Return one result a command, in order; runs only those without recorded green evidence for this very tree."""
    known = {c: ctx.records.evidence(_key(ctx, tree, c)) for c in commands}
    missing = tuple(c for c in dict.fromkeys(commands) if known[c] is None)
    if missing:
        fresh = run_checks(
            git=ctx.git,
            sandbox=ctx.sandbox,
            image=ctx.image,
            tree=tree,
            commands=missing,
            run_id=ctx.run_id,
            name=name,
            folder=ctx.folder / "work" / name,
            limits=limits,
            log_dir=ctx.roots.logs(ctx.run_id),
            labels={"grace.kind": "check"},
            cancelled=cancelled,
        )
        for command, result in zip(missing, fresh, strict=True):
            known[command] = (result,)
            if result.passed:
                ctx.records.put_evidence(_key(ctx, tree, command), (result,))
    return tuple(result for command in commands for result in known[command] or ())


def _key(ctx: Context, tree: str, command: str) -> str:
    body = f"{tree}\0{ctx.sandbox.name}\0{ctx.image}\0{command}"
    return hashlib.sha256(body.encode()).hexdigest()
