"""What follows a landing and cannot be undone: a push, a hook. Without the stored yes to this very one, nothing."""

from pathlib import Path
from typing import Any

from controller.context import Context
from controller.engine import Steps
from packets.errors import GraceError, MachineLacks
from packets.events import Action, Event, EventType
from packets.permit import Permit
from reviewer.inert import inert
from sandbox.effect import effect
from sandbox.hook import last_line, run_hook, still_running


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Push, or run the hook, and say how it went; raises NotPermitted when nobody said yes."""
    data = action.data
    permit = ctx.store.permit(ctx.run_id, data["subject"], data["key"])
    if refused := _rolled_back(ctx, data["commit"]):
        made = refused
    else:
        work = {"push": _push, "hook": _hook}[data["kind"]]
        made = step(data["kind"], lambda: work(ctx, data, permit))
    return Event(type=EventType.AFTER_DONE, action=action.id, data={"subject": data["subject"], **made})


def _rolled_back(ctx: Context, commit: str) -> dict[str, Any] | None:
    """Refuse what would give out a commit that the branch does not hold any more."""
    held, name = ctx.git.refs(ctx.run.base_ref).get(ctx.run.base_ref), _branch(ctx)
    if held is not None and ctx.git.is_ancestor(commit, held):
        return None
    message = f"{name} does not hold {commit[:12]} any more, so nothing is done with it"
    return _outcome(ok=False, message=message, hint=f"bring it back to {name} and approve, or reject")


def _branch(ctx: Context) -> str:
    return ctx.run.base_ref.removeprefix("refs/heads/")


def _outcome(*, ok: bool, message: str, hint: str = "", **more: Any) -> dict[str, Any]:
    return {"ok": ok, "message": inert(message), "hint": hint, **more}


def _push(ctx: Context, data: dict[str, Any], permit: Permit) -> dict[str, Any]:
    """Push exactly the landed commit to the branch of the same name; where it is already, nothing is done."""
    remote, commit, branch = data["what"], data["commit"], _branch(ctx)
    with effect("push", permit):
        pushed = ctx.git.push(remote, commit, branch, ctx.stopping)
    by_hand = f"put that right and approve, or by hand: git push {remote} {commit}:refs/heads/{branch}; then approve"
    return _outcome(ok=pushed.ok, message=pushed.said, hint="" if pushed.ok else by_hand, remote=remote, commit=commit)


def _hook(ctx: Context, data: dict[str, Any], permit: Permit) -> dict[str, Any]:
    """Run the hook once in the life of its key: one that ended gives its result again, one cut off is for a person."""
    key = idempotency_key(ctx.run_id, data["subject"], data["tries"])
    log = ctx.roots.logs(ctx.run_id) / f"{key.partition('/')[2].replace('/', '-')}.log"
    steps = [s for s in ctx.records.saga() if s.kind == "hook" and s.module == key and s.state != "void"]
    if steps:
        return _ended(steps[0].after, data["what"], log) if steps[0].state == "done" else _in_doubt(key, log)
    n = ctx.records.intend("hook", key, _phase(data))
    try:
        with effect("hook.run", permit):
            ended = run_hook(
                data["what"], main=ctx.git.main, variables=_variables(ctx, data, key), log=log, unwanted=ctx.stopping
            )
    except GraceError as fault:  # nothing was started
        ctx.records.settle_step(n, "void")
        if isinstance(fault, MachineLacks):
            raise
        return _outcome(ok=False, message=f"it could not be started: {fault.message}", hint="approve tries once more")
    after = ended.stopped or str(ended.code)
    ctx.records.end_step(n, after)
    return _ended(after, data["what"], log)


def idempotency_key(run_id: str, subject: str, tries: int) -> str:
    """Return run/phase/hook/N, and the number of the try after the first one."""
    _, phase, number = subject.split(":")
    return f"{run_id}/{phase}/hook/{number}" + (f"/{tries}" if tries else "")


def _phase(data: dict[str, Any]) -> str:
    return str(data["subject"].split(":")[1])


def _variables(ctx: Context, data: dict[str, Any], key: str) -> dict[str, str]:
    """Return what a hook is told; GRACE_BASE is the commit that the branch was at before this landing."""
    before = [s.before for s in ctx.records.saga() if s.kind == "land" and s.after == data["commit"]]
    return {
        "GRACE_RUN": ctx.run_id,
        "GRACE_PHASE": _phase(data),
        "GRACE_COMMIT": data["commit"],
        "GRACE_BASE": before[-1] if before else ctx.run.base_commit,
        "GRACE_BRANCH": _branch(ctx),
        "GRACE_IDEMPOTENCY_KEY": key,
    }


def _ended(after: str, command: str, log: Path) -> dict[str, Any]:
    """Say how a hook ended: `after` is its exit code, or in words why it has none."""
    if after == "0":
        return _outcome(ok=True, message=f"`{command}` ended well", log=str(log))
    how = f"ended with exit code {after}" if after.lstrip("-").isdigit() else f"was {after}"
    said = f": {last}" if (last := last_line(log)) else ""
    hint = f"see {log}; approve runs it once more, reject leaves it"
    return _outcome(ok=False, message=f"`{command}` {how}{said}", hint=hint, log=str(log))


def _in_doubt(key: str, log: Path) -> dict[str, Any]:
    """Say that nobody knows whether it ran to its end: it is never repeated without a person's word."""
    alive = still_running(key)
    more = f"; process {', '.join(map(str, alive))} of it still runs" if alive else ""
    hint = f"see {log}, and whether its work is done; approve runs it once more, reject leaves it"
    message = f"it was begun and not seen to end; it may have run{more}"
    return _outcome(ok=False, message=message, hint=hint, log=str(log))
