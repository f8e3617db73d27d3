"""A long plan, and everything killed at random while it runs: is anything lost, doubled or left over at its end.

`scripts/bench soak [--minutes 10] [--modules 200] [--engine memory|docker|both] [--seed N]`. The command runs as a
process of its own, on docker in every second run in the background (`--detach`), where its supervisor has to notice.
Killed with SIGKILL are: the controller, alone or with all its children, also while it resumes; a
worker's or a check's container (`docker kill`, `docker rm -f`; on the memory engine a script is lost); and a docker
engine of the bench's own, which comes back. When time is over, the last run is carried to its end in peace. Each run
that has ended is looked at by `soaking/audit.py`. One line says what was found; evidence comes before it.
"""

import argparse
import random
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # python runs us with -P: no module of a folder that we happen to be in

from soaking import audit, job
from soaking.carried import Carried, Detached, Docker, Memory
from soaking.daemon import Daemon

FAULTS = ("lost", "doubled", "left over")
_STANDS = 3  # times in a row that a run may stand still by itself, with nothing killed in between
_SILENCE = 180.0  # seconds without a new event after which a run hangs


@dataclass
class Tally:
    """What was done and what was found, by all engines together."""

    modules: int = 0
    runs: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Return how many faults begin with this word."""
        return sum(fault.startswith(kind) for fault in self.faults)


class Chaos:
    """Carries one run after the other on one engine, and kills at random moments until its time is over."""

    def __init__(self, engines: list[Carried], seed: int, modules: int, until: float, tally: Tally) -> None:
        self.engines, self.engine, self.seed, self.until, self.tally = engines, engines[0], seed, until, tally
        self.listed = job.modules(modules)
        self.dice = random.Random()

    def go(self) -> None:
        """Run until time is over, in each way in turn; a fault of the bench itself is told like any other."""
        try:
            while time.monotonic() < self.until and not self.tally.faults:
                self.engine = self.engines[self.seed % len(self.engines)]
                self.dice = random.Random(f"{self.seed} {self.engine.name}")
                self._run()
                self.seed += 1
        except Exception as fault:  # noqa: BLE001 - the other engine's figures must not be lost
            traceback.print_exc()
            self.tally.faults.append(f"lost: {self.engine.name}, seed {self.seed}: the bench broke: {fault!r}")

    def _run(self) -> None:
        """Carry one run to its end, through all kills, and look at what is there then."""
        engine = self.engine
        engine.begin(self.seed, self.listed)
        try:
            ended = self._carry()
        finally:
            engine.kill(group=True)  # what has ended by itself does not mind
        found = [f"lost: {ended}"] if ended else []
        found += audit.audit(engine.repo, self.listed) + engine.left_over()
        self.tally.runs += 1
        self.tally.modules += len(self.listed)
        self.tally.faults += [f"{fault}  [{engine.name}, seed {self.seed}, {engine.repo}]" for fault in found]
        self.tally.notes += engine.notes
        if not found:
            shutil.rmtree(engine.repo.parent)

    def _carry(self) -> str:
        """Return what went wrong on the way, or nothing."""
        engine, stood, strikes = self.engine, 0, 0
        engine.start(resume=False)
        seen, heard = -1, time.monotonic()
        strike_at, strike_behind = self._next(0, fresh=True)
        while True:
            if (now := engine.events()) != seen:
                seen, heard = now, time.monotonic()
            if time.monotonic() - heard > _SILENCE:
                return f"nothing happened for {_SILENCE:g} s: {engine.last_words()}"
            if (code := engine.ended(0.02)) == 0:
                return ""
            if code is not None:
                stood, strikes = 1 if strikes else stood + 1, 0
                engine.notes.append(f"stood still with exit {code}: {engine.last_words()}")
                if code not in {3, 4} or stood > _STANDS:
                    return f"exit {code}, {stood} times: {engine.last_words()}"
                engine.start(resume=True)
                strike_at, strike_behind = self._next(seen, fresh=True)
            elif strike_at < time.monotonic() < self.until and seen >= strike_behind:
                self._strike()
                strikes += 1
                strike_at, strike_behind = self._next(seen, fresh=self.dice.random() < 0.3)  # noqa: PLR2004 - a share

    def _next(self, seen: int, *, fresh: bool) -> tuple[float, int]:
        """Return when to strike next, and behind which event: the run has to get on, however slow the machine is.

        `fresh`: at any moment, also while the controller is still taking the run up.
        """
        if fresh:
            return time.monotonic() + self.dice.uniform(0, 2.5), seen
        return time.monotonic() + self.dice.uniform(0, 1), seen + round(self.dice.expovariate(0.1))

    def _strike(self) -> None:
        """Kill something."""
        kind = self.dice.choices(("controller", "container", "engine"), (5, 4, self.engine.engines))[0]
        if kind == "controller":
            if self.engine.kill(group=self.dice.random() < 0.3):  # noqa: PLR2004 - a share
                time.sleep(self.dice.choice((0.0, 0.0, 0.3, 1.5)))
                self.engine.start(resume=self.dice.random() < 0.7)  # noqa: PLR2004 - a share
        elif not (self.engine.strike_container if kind == "container" else self.engine.strike_engine)(self.dice):
            return
        self.tally.kills[kind] += 1


def report(tally: Tally, args: argparse.Namespace, engines: list[str]) -> int:
    """Print the evidence, then the one line."""
    for note, times in Counter(tally.notes).items():
        print(f"note: {note}" + (f"  ({times} times)" if times > 1 else ""))
    for fault in tally.faults:
        print(fault)
    kills = ", ".join(f"{tally.kills[kind]} {kind}" for kind in ("controller", "container", "engine"))
    found = ", ".join(f"{tally.count(kind)} {kind}" for kind in FAULTS)
    where, total = "+".join(engines), tally.kills.total()
    print(
        f"soak: {where}, {args.minutes:g} min, seed {args.seed}: {tally.modules} modules in {tally.runs} runs,"
        f" {total} kills ({kills}): {found}"
    )
    return 1 if tally.faults or not tally.runs else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--engine", choices=("memory", "docker", "both"), default="both")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    args = parser.parse_args()
    engines = ["memory", "docker"] if args.engine == "both" else [args.engine]
    scratch = Path(tempfile.mkdtemp(prefix="grace-soak-"))
    print(f"soak: seed {args.seed}, in {scratch}", flush=True)
    daemon = Daemon(scratch / "engine") if "docker" in engines else None
    if daemon:
        daemon.build()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))  # what we started must not outlive us
    tally, until = Tally(), time.monotonic() + args.minutes * 60
    ways = [[Docker(scratch, daemon), Detached(scratch, daemon)]] if daemon else []
    ways += [[Memory(scratch)]] if "memory" in engines else []
    try:
        todo = [Chaos(way, args.seed, args.modules, until, tally).go for way in ways]
        threads = [threading.Thread(target=go, daemon=True) for go in todo]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for engine in (engine for way in ways for engine in way):
            engine.kill(group=True)
        if daemon:
            daemon.close()
    if not tally.faults:
        shutil.rmtree(scratch, ignore_errors=True)
    return report(tally, args, engines)


if __name__ == "__main__":
    sys.exit(main())
