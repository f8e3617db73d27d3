"""A run in the background: a small process that carries it by starting its controller, again when that one dies.

usage: python -P -m controller.supervise RUN        (started by `grace run --detach`; one a run)

It stays while the run waits for a person, and has it carried on when something was said to it. It ends when the run is
over, paused, interrupted or stopped by what only a person can mend, and with a notice when its controller dies again
and again without getting anything done. Killing it loses nothing: the controller lives on, `grace resume` goes on.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from controller.kernel import decide
from controller.lock import SUPERVISOR, Held, held, lease
from controller.standing import WAITING, lapse, refolded, standing
from controller.store.store import OVER, Store
from packets.errors import GraceError, MachineLacks
from packets.events import Event, EventType
from sandbox.background import Background
from sandbox.git import Git
from sandbox.roots import Roots

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further start of a controller that died without getting anything done."""
_LOOK = 0.25  # seconds between two looks at the run
_READY = 30.0  # seconds that a supervisor may take to begin
_MODULE = "controller.supervise"
_CARRY = "--carry"
_LONG = 60.0  # seconds; a controller that lived so long did not die at once
_WAITS = "waiting"  # the state of a run that goes on when somebody says something
_ENDED = OVER | {"paused", "interrupted", "blocked"}  # what a supervisor ends with


def log_of(folder: Path) -> Path:
    """Give the file that a run's supervisor and its controllers write to."""
    return folder / "logs" / "supervisor.log"


def detach(roots: Roots, run_id: str) -> int:
    """Have a run carried in the background; returns the process number of its supervisor. Raises Held, MachineLacks.

    While another process carries the run, the supervisor waits for it to leave.
    """
    folder = roots.run(run_id)
    if found := lease(folder, SUPERVISOR):
        return found.pid
    started = Background([sys.executable, "-P", "-m", _MODULE, str(roots.main), run_id], log_of(folder))
    until = time.monotonic() + _READY
    while time.monotonic() < until:
        if (found := lease(folder, SUPERVISOR)) and found.pid:
            return found.pid
        if started.ended() is not None:
            break
        time.sleep(0.02)
    raise MachineLacks(f"the supervisor of {run_id} did not begin", f"see {log_of(folder)}")


def hold_still(folder: Path, store: Store, run_id: str, pause: Event, inbox: str = "") -> None:
    """Take in a pause of a run that nobody carries at this moment; raises Held, UsageError."""
    with held(folder, run_id):
        state = refolded(store, run_id)
        made = decide(state, pause)
        store.record(run_id, pause, state, made, inbox=inbox)
        store.set_run(run_id, *standing(made.state, store, run_id))


class _Life(NamedTuple):
    """A controller that was started: when, and how far the run had come by then."""

    process: Background
    began: float
    outcomes: int


class Supervisor:
    """Carries one run; `go` returns when nothing is left to do."""

    def __init__(self, folder: Path, store: Store, run_id: str, start: Callable[[], Background]) -> None:
        self.folder = folder
        self.store = store
        self.run_id = run_id
        self._start = start
        self._life: _Life | None = None
        self._deaths = 0
        self._told = 0
        self._fresh = lease(folder) is None  # we were called to carry it on, however it stands

    def stop(self, number: int, _frame: object = None) -> None:
        """Take a signal: the controller gets it too, then both end."""
        self._told = number

    def go(self) -> None:
        """Look, start, look again."""
        while self._patiently():
            time.sleep(_LOOK)
        say(f"run {self.run_id} is {self._state()}; the supervisor ends")

    def _patiently(self) -> bool:
        try:
            return self._step()
        except Held:  # somebody was quicker
            return True
        except MachineLacks as fault:  # a full disk, a state that somebody locks: it may pass
            say(fault.message)
            time.sleep(PAUSES[-1])
            return True

    def _step(self) -> bool:
        """Do what is to be done now; False at the end."""
        if self._told:
            return self._leave()
        if self._life:
            code = self._life.process.ended()
            if code is None:
                return True
            life, self._life = self._life, None
            if not self._buried(life, code):
                return False
        if lease(self.folder) is not None:
            return True
        if not self._fresh and (rest := self._rests()):
            return rest == _WAITS
        self._fresh = False
        self._begin()
        return True

    def _rests(self) -> str:
        """Return why nothing is to be started now, or nothing."""
        state = self._state()
        said = [] if state in _ENDED else self.store.unread(self.run_id)
        for row, event in said:
            if event.type is EventType.PAUSED:  # its controller died before it could take it in
                hold_still(self.folder, self.store, self.run_id, event, row)
                return self._state()
        if state == _WAITS and not said:
            lapse(self.folder, self.store, self.run_id)
            return _WAITS
        return state if state in _ENDED else ""

    def _begin(self) -> None:
        time.sleep(PAUSES[self._deaths])
        if not self._told:
            self._life = _Life(self._start(), time.monotonic(), self._outcomes())
            say(f"controller of {self.run_id} started: process {self._life.process.pid}")

    def _state(self) -> str:
        """Return how the run stands; one that was dropped by `grace clean` is cancelled for us."""
        row = self.store.db.row("SELECT state FROM runs WHERE run_id=?", self.run_id)
        return str(row["state"]) if row else "cancelled"

    def _outcomes(self) -> int:
        """Count what the run has come to: its events that are the outcome of an action, or a person's word."""
        sql = "SELECT count(*) FROM events WHERE run_id=? AND (action<>'' OR inbox<>'')"
        row = self.store.db.row(sql, self.run_id)
        return int(row[0]) if row else 0

    def _buried(self, life: _Life, code: int) -> bool:
        """Look at a controller that ended; False when another one would die as it did."""
        moved = self._outcomes() > life.outcomes
        if self._rests() or (code == WAITING and moved):
            self._deaths = 0
            return True
        how = f"killed by signal {-code}" if code < 0 else f"exit {code}"
        say(f"controller of {self.run_id} died: {how}")
        lived = time.monotonic() - life.began > _LONG
        self._deaths = 0 if moved or lived else self._deaths + 1
        if self._deaths < len(PAUSES):
            return True
        note = f"its controller died {self._deaths} times without getting anything done ({how}); see "
        with suppress(Held), held(self.folder, self.run_id):
            self.store.set_run(self.run_id, "blocked", WAITING, note + str(log_of(self.folder)))
        return False

    def _leave(self) -> bool:
        """Tell the controller to stop and wait until it has."""
        if self._life:
            self._life.process.tell(self._told)
            while self._life.process.ended() is None:
                time.sleep(_LOOK)
        return False


def say(text: str) -> None:
    """Write a line of the log; a full disk stops nothing."""
    with suppress(OSError):
        sys.stdout.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n")
        sys.stdout.flush()


def main(argv: list[str]) -> int:
    """Supervise a run, or be the controller that a supervisor starts."""
    if argv[0] == _CARRY:
        from controller.main import run

        return run(["resume", argv[1]])
    main_folder, run_id = argv
    os.chdir(main_folder)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    command = [sys.executable, "-P", "-m", _MODULE, _CARRY, run_id]
    with Git.discover(Path.cwd()) as git:
        roots = git.roots
    folder, store = roots.run(run_id), Store(roots.database)
    try:
        with held(folder, run_id, SUPERVISOR):
            supervisor = Supervisor(folder, store, run_id, lambda: Background(command, log_of(folder)))
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, supervisor.stop)
            supervisor.go()
    except Held:
        return 0  # another one was quicker
    except GraceError as fault:
        say(f"{fault.message} ({fault.hint})")
        return fault.exit_code
    finally:
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
