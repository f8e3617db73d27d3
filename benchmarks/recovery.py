"""How soon a killed run goes on: from `grace resume` to its first new effect, and how much is done a second time.

A run of a few modules and one of many (with the long history of a run that is nearly over) are killed with SIGKILL
again and again while workers run, and resumed. A new effect is the first event of the journal that nobody had recorded
before: not the resuming itself, and no attempt that had begun already. Its time is given as a ratio to two floors of
the same moments: `python -c pass` and `grace status --json`. Done twice are: workers that are begun again after their
end, attempts judged twice, modules merged twice; their number has to be 0. On docker, where a worker lives on when its
controller is killed, none may even begin twice: the engine itself tells.
"""

import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # python runs us with -P: no module of a folder that we happen to be in

from soaking import audit, job
from soaking.carried import GRACE, Carried, Memory
from soaking.daemon import Events

AIM = 2.0  # times the short run: history must not make a resume slow
SHORT = 24  # modules
_PATIENCE = 120.0  # seconds without any event
_LOOK = 0.005  # seconds
_REPEATED = ("run.resumed", "note", "attempt.started")


class OnDocker(Carried):
    """Containers on the engine that is there, which is not killed."""

    name = "docker"
    command = (str(GRACE),)

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch)
        self.host = (
            os.environ.get("GRACE_DOCKER_HOST") or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
        )
        self.told = Events(self.host, scratch / "events.jsonl")

    def environment(self) -> dict[str, str]:
        """Add which engine."""
        return {**super().environment(), "GRACE_DOCKER_HOST": self.host}

    def left_over(self) -> list[str]:
        """Add what lies on the engine, and what it says of workers that ran."""
        runs = {path.name for path in (self.repo / ".git" / "grace" / "runs").iterdir()}
        listed = [["docker", "-H", self.host, "ps", "-aq", "--filter", f"label=grace.run={run}"] for run in runs]
        there = [subprocess.run(c, capture_output=True, text=True, check=True).stdout.split() for c in listed]
        left = [f"left over: container {name}" for names in there for name in names]
        lines = self.told.workers(runs)
        begun = Counter((module, attempt) for what, module, attempt in lines if what == "begin")
        again = [f"doubled: {m} attempt {n} was begun {times} times" for (m, n), times in begun.items() if times > 1]
        return super().left_over() + left + again  # a worker that outlives its controller is adopted


@dataclass
class Figures:
    """Seconds of each resume, and of the floors beside it."""

    resumes: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    status: list[float] = field(default_factory=list)
    events: int = 0
    faults: list[str] = field(default_factory=list)


def timed(command: list[str], folder: Path, env: dict[str, str]) -> float:
    """Return how long a command takes."""
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, capture_output=True, check=True)
    return time.perf_counter() - begin


def new_effect(repo: Path, after: int) -> bool:
    """Say whether the journal holds, behind event `after`, something that was not there before."""
    sql = f"SELECT 1 FROM events WHERE seq>? AND type NOT IN ({','.join('?' * len(_REPEATED))})"
    new = "SELECT 1 FROM events WHERE seq>? AND type='attempt.started' AND NOT EXISTS (SELECT 1 FROM events AS e WHERE"
    new += " e.seq<=? AND e.type='attempt.started' AND e.module=events.module AND e.attempt=events.attempt)"
    with closing(sqlite3.connect(repo / ".git" / "grace" / "state.db", timeout=30)) as db:
        return bool(db.execute(sql, (after, *_REPEATED)).fetchone() or db.execute(new, (after, after)).fetchone())


def until(carried: Carried, condition: Callable[[], bool]) -> bool:
    """Wait for a condition; False when the run ended first. Raises SystemExit when nothing happens."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        if carried.process.poll() is not None:
            return bool(condition())
        if time.monotonic() > end:
            raise SystemExit(f"recovery: nothing happened: {carried.last_words()}")
        time.sleep(_LOOK)
    return True


def resumed(carried: Carried, figures: Figures) -> bool:
    """Kill the controller, measure the floors, resume, measure; False when the run is over."""
    carried.kill(group=False)
    before = carried.events()
    figures.events = before
    env = carried.environment()
    figures.python.append(timed([sys.executable, "-c", "pass"], carried.repo, env))
    figures.status.append(timed([str(GRACE), "status", "--json"], carried.repo, env))
    begin = time.perf_counter()
    carried.start(resume=True)
    went_on = until(carried, lambda: new_effect(carried.repo, before))
    if went_on:
        figures.resumes.append(time.perf_counter() - begin)
    return went_on and carried.process.poll() is None


def measure(carried: Carried, modules: int, kills: int, history: float) -> Figures:
    """Carry a run; behind that share of its merges, kill and resume it so many times, then look at what it came to."""
    listed = [replace(m, seconds=0.2) for m in job.modules(modules)]
    carried.begin(modules, listed)
    carried.start(resume=False)
    figures = Figures()
    until(carried, lambda: merged(carried.repo) >= history * modules)
    for _ in range(kills):
        mark = carried.events()
        if not until(carried, lambda mark=mark: worker_began(carried.repo, mark)) or not resumed(carried, figures):
            break
    if carried.ended(1800.0) != 0:
        figures.faults.append(f"lost: the run did not come to its end: {carried.last_words()}")
    figures.faults += audit.audit(carried.repo, listed) + carried.left_over()
    return figures


def merged(repo: Path) -> int:
    """Return how many modules are merged."""
    try:
        with closing(sqlite3.connect(f"file:{repo}/.git/grace/state.db?mode=ro", uri=True, timeout=30)) as db:
            return int(db.execute("SELECT count(*) FROM events WHERE type='merge.done'").fetchone()[0])
    except sqlite3.Error:
        return -1  # there is none yet


def worker_began(repo: Path, after: int) -> bool:
    """Say whether an attempt has begun behind this event."""
    with closing(sqlite3.connect(repo / ".git" / "grace" / "state.db", timeout=30)) as db:
        sql = "SELECT 1 FROM events WHERE seq>? AND type='attempt.started'"
        return db.execute(sql, (after,)).fetchone() is not None


def line(name: str, figures: Figures) -> float:
    """Print the figures of one run and return the fastest resume; fastest, so that a busy moment does not count."""
    took, python, status = (min(column) for column in (figures.resumes, figures.python, figures.status))
    median, kills = statistics.median(figures.resumes), len(figures.resumes)
    print(f"{name}: {took * 1000:.0f} ms to the first new effect (median {median * 1000:.0f}, {kills} kills,", end=" ")
    print(f"{figures.events} events): {took / python:.1f} times python -c pass ({python * 1000:.0f} ms),", end=" ")
    print(f"{took / status:.1f} times grace status ({status * 1000:.0f} ms)")
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", type=int, default=200, help="of the long run")
    parser.add_argument("--kills", type=int, default=9, help="of each run")
    parser.add_argument("--engine", choices=("docker", "memory"), default="docker")
    args = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="grace-recovery-"))
    carried = OnDocker(scratch) if args.engine == "docker" else Memory(scratch)
    short = measure(carried, SHORT, args.kills, 0.1)
    long = measure(carried, args.modules, args.kills, 0.85)
    ratio = 1 / line(f"{SHORT} modules", short) * line(f"{args.modules} modules", long)
    faults = [*short.faults, *long.faults]
    print("\n".join(faults) or "nothing lost, doubled or left over")
    twice = sum(fault.startswith("doubled") for fault in faults)
    verdict = "within" if ratio <= AIM else "misses"
    print(f"recovery: {twice} steps done twice; long to short {ratio:.2f}, {verdict} the aim of {AIM:g}")
    if not faults:
        shutil.rmtree(scratch)
    return 1 if faults or ratio > AIM else 0


if __name__ == "__main__":
    sys.exit(main())
