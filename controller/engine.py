"""The durable engine behind one narrow port: actions are started under their own id and their outcome comes back.

DBOS runs each action as a workflow of recorded steps in a SQLite file of the run's own, so that two runs never share
an executor. A step that is recorded is not run again after a crash; one that was cut off is, so steps are idempotent.
Our event table stays the truth: an outcome counts once it is recorded there (`Store.record`), however often it comes.
"""

import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

from controller.store.examine import journal_fault
from packets.events import Action, Event, EventType
from sandbox.effect import effect
from sandbox.faults import machine, transient

T = TypeVar("T")

APPLICATION_VERSION = "1"  # pinned: the default is a hash of the source, which would strand work after an upgrade
_LOOK = 0.05  # seconds; how long the engine's listener sleeps, and so how long closing it may take
_UNDER_WAY = frozenset({"PENDING", "ENQUEUED"})
_LATE = 5.0  # seconds after which an action that the journal did not begin is done without it
_GRACE = 15  # seconds for what still runs when the controller leaves


class Steps(Protocol):
    """What an action's handler records its progress with."""

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        """Run `work` once and record its JSON result under `name`; later calls return the record."""


class Engine:
    """One process carries out one run. `outcomes` receives an Event for each action, and notes in between."""

    def __init__(self, path: Path, run_id: str, carry_out: Callable[[Action, Steps], Event], threads: int) -> None:
        self.outcomes: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._path = path
        self._run_id = run_id
        self._carry_out = carry_out
        self._threads = threads
        self._perform: Callable[[str], str] | None = None
        self._working = 0
        self._idle = threading.Condition()
        self._begun: set[str] = set()
        self._awaited: dict[str, tuple[Action, float]] = {}  # given to the journal, and not begun yet
        self._closed = threading.Event()

    def launch(self) -> None:
        """Open the journal and take up what was cut off; raises MachineLacks where it cannot be written."""
        try:
            with effect("journal.open"):
                self._prepare()
                self._launch()
        except Exception as fault:
            if known := machine(fault, self._path):
                raise known from fault
            raise

    def _prepare(self) -> None:
        """Put a damaged journal away: our events are the truth, and what it knew beside them is done again."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._path.exists() and (fault := journal_fault(self._path)):
            away = put_away(self._path)
            said = f"the run's journal was damaged ({fault}); it lies at {away}, and the run goes on without it"
            self.outcomes.put(Event(type=EventType.NOTE, data={"message": said}))
        db = sqlite3.connect(self._path)
        try:
            db.execute("PRAGMA journal_mode=WAL")  # measured: the default repeats a finished step 7 times as often
        finally:
            db.close()

    def _launch(self) -> None:
        from dbos import DBOS, DBOSPortableJSONSerializer

        DBOS(
            config={
                "name": "grace",
                "system_database_url": f"sqlite:///{self._path}",
                "executor_id": self._run_id,
                "application_version": APPLICATION_VERSION,
                "max_executor_threads": self._threads,
                "log_level": "CRITICAL",
                "serializer": DBOSPortableJSONSerializer(),
                "notification_listener_polling_interval_sec": _LOOK,
            }
        )

        def perform(body: str) -> str:  # a function of this launch: DBOS marks what it wraps, which a method forbids
            return self._work(body)

        self._perform = DBOS.workflow(name="perform")(perform)
        DBOS.launch()
        self._closed.clear()
        threading.Thread(target=self._nurse, daemon=True, name="nurse").start()

    def _nurse(self) -> None:
        """Do without the journal what it does not begin: on a full disk it can, and will, not say that it could not."""
        while not self._closed.wait(_LATE / 5):
            with self._idle:
                late = [action for action, since in self._awaited.values() if time.monotonic() - since > _LATE]
            for action in late:
                self._awaited.pop(action.id, None)
                threading.Thread(target=self._unjournaled, args=(action,), daemon=True, name=action.id).start()

    def _unjournaled(self, action: Action) -> None:
        with suppress(_Unrecorded):
            self._work(action.model_dump_json(), lambda _name, work: work())

    def _work(self, body: str, step: Steps | None = None) -> str:
        action = Action.model_validate_json(body)
        with self._idle:
            self._awaited.pop(action.id, None)
            if action.id in self._begun:
                raise _Unrecorded  # the nurse was quicker
            self._begun.add(action.id)
            self._working += 1
        try:
            event = self._carry_out(action, step or _recorded_step)
            self.outcomes.put(event)
            if event.type is EventType.BROKEN:
                raise _Unrecorded  # after a crash the same thing is tried once more, and not the old fault told again
            return event.model_dump_json()
        finally:
            with self._idle:
                self._working -= 1
                self._idle.notify_all()

    def start(self, action: Action) -> None:
        """Carry out `action`; one that ended already gives its recorded outcome again, a running one is left alone."""
        if self._perform is None:
            raise RuntimeError("the engine was not launched")
        with self._idle:
            if action.id not in self._begun:
                self._awaited[action.id] = (action, time.monotonic())
        try:
            self._start(action, self._perform)
        except Exception as fault:
            if transient(fault, self._path) is None:
                raise

    def _start(self, action: Action, perform: Callable[[str], str]) -> None:
        from dbos import DBOS, SetWorkflowID

        with SetWorkflowID(f"{self._run_id}/{action.id}"), effect("journal.start"):
            handle = DBOS.start_workflow(perform, action.model_dump_json())
        status = handle.get_status().status
        if status not in _UNDER_WAY:
            self._awaited.pop(action.id, None)
        if status == "SUCCESS":
            self.outcomes.put(Event.model_validate_json(handle.get_result()))
        elif status not in _UNDER_WAY:  # nothing would ever come back
            said = {"message": f"the engine gave {action.id} up: {status}", "hint": "", "exit": 1}
            broken = Event(
                type=EventType.BROKEN, module=action.module, attempt=action.attempt, action=action.id, data=said
            )
            self.outcomes.put(broken)

    def close(self) -> None:
        """Stop the engine; work that is under way is given a moment to stop, and stays recorded as cut off."""
        from dbos import DBOS

        self._closed.set()
        with self._idle:
            self._idle.wait_for(lambda: not self._working, timeout=_GRACE)
        DBOS.destroy(destroy_registry=True)


class _Unrecorded(BaseException):
    """Leaves a step or an action without a record of it; the engine keeps what is an Exception."""


def _recorded_step(name: str, work: Callable[[], Any]) -> Any:
    """Do `work` once and record it. A journal on a full disk loses the record, not the work: effects are idempotent."""
    from dbos import DBOS

    made: list[Any] = []
    failed: list[Exception] = []

    def recorded() -> Any:
        try:
            with effect("step.work"):
                made.append(work())
        except Exception as fault:
            failed.append(fault)
            raise _Unrecorded from fault
        return made[0]

    try:
        with effect("step.record"):
            return DBOS.run_step({"name": name}, recorded)
    except _Unrecorded:
        raise failed[0] from failed[0].__cause__
    except Exception as fault:
        if transient(fault) is None:
            raise
        return made[0] if made else work()


def put_away(path: Path) -> Path:
    """Move a database and the files beside it out of the way, under a name that is free."""
    away = next(to for n in count(1) if not (to := path.with_name(f"{path.name}.damaged-{n}")).exists())
    for beside in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + beside).rename(away.with_name(away.name + beside))
    return path.rename(away)
