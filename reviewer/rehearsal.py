"""Checks on the in-memory engine, which knows commands by their text and no shell: one job each, exit codes only."""

from collections.abc import Callable
from dataclasses import replace

from packets.errors import Interrupted
from packets.outcome import StopReason
from packets.verdict import CheckResult
from reviewer.inert import inert
from sandbox.protocol import Job, Sandbox

_SHOWN = 4000


def rehearse(
    sandbox: Sandbox, job: Job, commands: tuple[str, ...], cancelled: Callable[[], bool]
) -> tuple[CheckResult, ...]:
    """Run each command as a job of its own, on the mounts of `job`. Raises Interrupted."""
    return tuple(_rehearse(sandbox, job, number, command, cancelled) for number, command in enumerate(commands))


def _rehearse(sandbox: Sandbox, job: Job, number: int, command: str, cancelled: Callable[[], bool]) -> CheckResult:
    log = job.log.with_name(f"{job.name}-{number}.log")
    each = replace(job, name=f"{job.name}-{number}", argv=("sh", "-c", command), log=log)
    sandbox.remove(each.name)
    try:
        sandbox.start(each)
        ending = sandbox.wait(each, cancelled)
    finally:
        sandbox.remove(each.name)
    if ending.reason is StopReason.CANCELLED:
        raise Interrupted("the checks were cancelled")
    text = log.read_bytes().decode("utf-8", "replace") if log.exists() else ""
    return CheckResult(
        command=command,
        exit_code=ending.exit_code,
        reason=ending.reason.value,
        duration=ending.duration,
        log=str(log) if text else "",
        tail=inert(text[-_SHOWN:], limit=_SHOWN, lines=True),
    )
