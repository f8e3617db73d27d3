"""Checks: all commands of a module in one fresh sandbox without network, over a throwaway copy of the tree.

How they run is a promise to users: docs/checks.md.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from packets.errors import Interrupted
from packets.limits import Limits
from packets.outcome import StopReason
from packets.verdict import CheckResult
from reviewer.rehearsal import rehearse
from reviewer.witness import Left, judge_runs
from sandbox.checkout import candidate, discard
from sandbox.git import Git
from sandbox.protocol import Ending, Job, Mount, Sandbox, never

_INSIDE = Path(__file__).parent / "inside"
_ENVIRONMENT = {
    "GRACE_REPO": "/repo",
    "GRACE_CHECK": "/grace/check",
    "GRACE_OUT": "/grace/out",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTEST_ADDOPTS": "-p grace_witness -o junit_logging=all -o junit_family=xunit1",
}
_ASSIGNED = re.compile(r"(?<![\w$])PYTHONPATH=(\s|$)?")


def _nothing(check: Path) -> None:
    del check


def run_checks(
    *,
    git: Git,
    sandbox: Sandbox,
    image: str,
    tree: str,
    commands: tuple[str, ...],
    run_id: str,
    name: str,
    folder: Path,
    limits: Limits,
    log_dir: Path,
    labels: Mapping[str, str] | None = None,
    cancelled: Callable[[], bool] = never,
    lay: Callable[[Path], object] = _nothing,
) -> tuple[CheckResult, ...]:
    """Run `commands` one after the other on `tree` and return one result each, in order.

    `name` is the sandbox job's, unique; `folder` is made, used and removed; what is kept goes to `log_dir`; `lay` may
    put more into the folder of grace's own files before the start. The limits hold for all commands together, the
    deadline in seconds from the start. Raises Interrupted when `cancelled` says so, EngineLost and MachineLacks as the
    engine does.
    """
    if not commands:
        return ()
    word = secrets.token_hex(16)
    sandbox.remove(name)  # one of an earlier life of ours: its folder is gone or stale
    discard(folder)
    try:
        job = _prepare(git, sandbox, image, tree, commands, run_id, name, folder, limits, log_dir, labels or {}, word)
        lay(folder / "check")
        if sandbox.name == "memory":
            return rehearse(sandbox, job, commands, cancelled)
        sandbox.start(job)
        ending = sandbox.wait(job, cancelled)
        if ending.reason is StopReason.CANCELLED:
            raise Interrupted("the checks were cancelled")
        sandbox.remove(name)
        return _collect(Left(folder / "out", word), commands, ending, job, log_dir)
    finally:
        sandbox.remove(name)
        discard(folder)


def _prepare(  # noqa: PLR0917 - what run_checks was given, laid out as a job
    git: Git,
    sandbox: Sandbox,
    image: str,
    tree: str,
    commands: tuple[str, ...],
    run_id: str,
    name: str,
    folder: Path,
    limits: Limits,
    log_dir: Path,
    labels: Mapping[str, str],
    word: str,
) -> Job:
    check, out = folder / "check", folder / "out"
    (check / "python").mkdir(parents=True)
    out.mkdir()
    out.chmod(0o700)
    if sandbox.owner is not None:
        os.chown(out, sandbox.owner, -1)
    repo = candidate(git, tree, folder / "repo", sandbox.owner)
    shutil.copyfile(_INSIDE / "driver.sh", check / "driver.sh")
    for plugin in ("grace_witness.py", "grace_proof.py"):
        shutil.copyfile(_INSIDE / plugin, check / "python" / plugin)
    (check / "word").write_text(word + "\n")
    for number, command in enumerate(commands):
        (check / f"{number}.cmd").write_text(_with_witness(command), encoding="utf-8", errors="surrogateescape")
    log_dir.mkdir(parents=True, exist_ok=True)
    return Job(
        run_id=run_id,
        name=name,
        argv=("sh", "-c", '. "$GRACE_CHECK/driver.sh"'),
        log=log_dir / f"{name}.log",
        mounts=(
            Mount(check, "/grace/check"),
            Mount(out, "/grace/out", writable=True),
            Mount(repo, "/repo", writable=True),
        ),
        env=_ENVIRONMENT,
        labels=labels,
        limits=limits,
        deadline=float(limits.deadline),
        image=image,
    )


def _with_witness(command: str) -> str:
    """Let a command that sets PYTHONPATH keep the folder that the pytest plugin is in."""
    return _ASSIGNED.sub(lambda m: 'PYTHONPATH="$GRACE_PYTHON"' + (m[1] if m[1] is not None else ":"), command)


def _collect(left: Left, commands: tuple[str, ...], ending: Ending, job: Job, log_dir: Path) -> tuple[CheckResult, ...]:
    codes = left.exit_codes(job.log)
    results = []
    for number, command in enumerate(commands):
        log, tail = left.keep_log(number, log_dir / f"{job.name}-{number}.log")
        runs = left.runs(number, log_dir / f"{job.name}-{number}")
        left.printed(number, command, runs)
        code = codes.get(number)
        reason = StopReason.EXITED.value
        if code is None:
            stopped = ending.reason.value if ending.reason is not StopReason.EXITED else "lost"
            reason = stopped if left.began(number) else "not_run"
        ran_to_end, fault = judge_runs(command, code, runs)
        results.append(
            CheckResult(
                command=command,
                exit_code=code,
                reason=reason,
                duration=left.duration(number, ending.duration),
                log=log,
                tail=tail,
                scenarios_passed=runs.passed,
                scenarios_failed=runs.failed,
                scenarios_skipped=runs.skipped,
                ran_to_end=ran_to_end,
                junit=runs.kept,
                fault=fault,
                runs=tuple(runs.told.values()),
            )
        )
    return tuple(results)
