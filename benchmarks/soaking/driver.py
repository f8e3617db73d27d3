"""The real `grace` with an in-memory engine that knows the soak's workers and checks: a process that can be killed.

The in-memory engine knows scripts, not programs, so they are given here; everything else is the command's own. Where
the bench leaves a file at $SOAK_STRIKE, the script that sees it first is lost with its engine, as a container would be.
`$SOAK_LOG` receives `begin|again|end MODULE ATTEMPT PACKET`: what really ran, told by nobody who keeps the records.
"""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

import sandbox.choose
from controller.main import run
from packets.errors import EngineLost
from sandbox.choose import Choice
from sandbox.memory import MemorySandbox, Script
from sandbox.protocol import Job

_LOOK = 0.02  # seconds


def worker(module: str, seconds: float, fails: int, mounts: Mapping[str, Path], job: Job) -> int:
    """Do what the worker's shell line does."""
    attempt, path = int(job.env["GRACE_ATTEMPT"]), mounts["/repo"] / f"out/{module}.txt"
    packet = json.loads((mounts["/grace"] / "packet.json").read_text())["execution_packet"]["packet_id"]
    said = f"{module} {attempt} {packet}\n"
    _tell(f"{'again' if _noted(module, attempt) else 'begin'} {said}")
    path.parent.mkdir(exist_ok=True)
    path.write_text("half-done\n")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        _struck(job)
        time.sleep(_LOOK)
    if attempt > fails:
        path.write_text(said)
    _tell(f"end {said}")
    return 0 if attempt > fails else 3


def check(path: str, mounts: Mapping[str, Path], job: Job) -> int:
    """Do what the check's shell line does."""
    _struck(job)
    file = mounts["/repo"] / path
    return 0 if file.exists() and file.read_text().startswith(f"{Path(path).stem} ") else 1


def _noted(module: str, attempt: int) -> bool:
    """Tell whether this attempt's end is written down: workers here die with the controller, so only that counts."""
    sql = "SELECT 1 FROM attempts WHERE module=? AND attempt=? AND outcome NOT LIKE '%\"cancelled\"%'"
    with closing(sqlite3.connect("file:.git/grace/state.db?mode=ro", uri=True, timeout=30)) as db:
        return db.execute(sql, (module, attempt)).fetchone() is not None


def _struck(job: Job) -> None:
    try:
        Path(os.environ["SOAK_STRIKE"]).unlink()
    except FileNotFoundError:
        return
    raise EngineLost(f"{job.name} was lost", "the bench did it")


def _tell(line: str) -> None:
    file = os.open(os.environ["SOAK_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())  # one write: lines of many threads stay whole
    os.close(file)


def scripts(document: dict) -> dict[str, Script]:
    """Return a script for each command line of the plan."""
    made: dict[str, Callable[[Mapping[str, Path], Job], int]] = {}
    for name, agent in document["agents"].items():
        line = agent["run"][2]
        seconds = float(line.partition("sleep ")[2].partition(";")[0])
        made[line] = partial(worker, name, seconds, 1 if "exit 3" in line else 0)
    for module in (m for phase in document["phases"] for m in phase["modules"]):
        made[module["verification"]["module_local_checks"][0]] = partial(check, module["write_scope"][0])
    return made


def main() -> int:
    known = scripts(json.loads(Path("plan.yaml").read_text()))
    sandbox.choose._CHOICES["memory"] = lambda: Choice(MemorySandbox(known), "memory: the soak's scripts")  # noqa: SLF001
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
