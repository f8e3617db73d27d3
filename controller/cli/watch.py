"""grace watch: look at a run that another process carries, answer what it asks, and leave again."""

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

from controller.cli.opened import opened
from controller.kernel import RunState, decide
from controller.lock import SUPERVISOR, lease
from controller.screen import Screen, screen
from controller.standing import INTERRUPTED, WAITING
from controller.store.store import OVER, RunRecord, Store
from sandbox.git import Git

if TYPE_CHECKING:
    from controller.prompt import Keys

FOLLOW = 0.2  # seconds between two looks at a run that another process carries


def watch(wanted: str | None, *, as_json: bool) -> int:
    """Show a run until it stands still; q and Ctrl-C leave it as it is."""
    with opened(wanted) as (git, store, record), screen(as_json=as_json) as shown:
        if record.state not in OVER and not _carried(git, record):
            shown.tell(f"nobody carries run {record.run_id} now; this is how it stands")
        return attach(git, store, record, shown)


def _carried(git: Git, record: RunRecord) -> bool:
    folder = git.roots.run(record.run_id)
    return lease(folder) is not None or lease(folder, SUPERVISOR) is not None


def attach(git: Git, store: Store, record: RunRecord, shown: Screen) -> int:
    """Show a run that another process carries, until it stands still.

    Returns its exit code; 0 when a person left by a key, 130 by Ctrl-C, which stops nothing either.
    """
    watcher = Watcher(git, store, record, shown)
    try:
        with _listening(shown) as keys:
            shown.begin(record, store)
            while watcher.look():
                if not keys:
                    time.sleep(FOLLOW)
                elif _asked_to_leave(keys):
                    return _left(shown, record, 0)
                elif watcher.asks:
                    keys.off()
                    watcher.ask()
                    keys.on()
    except KeyboardInterrupt:
        return _left(shown, record, INTERRUPTED)
    return watcher.end()


def _left(shown: Screen, record: RunRecord, code: int) -> int:
    shown.close()
    shown.tell(f"run {record.run_id} goes on without you; look again: grace watch {record.run_id}")
    return code


def _listening(shown: Screen) -> "nullcontext[Keys | None]":
    """Listen to keys where somebody sits at them."""
    if not shown.asks:
        return nullcontext(None)
    from controller.prompt import keys

    return keys()  # type: ignore[return-value]


def _asked_to_leave(keys: "Keys") -> bool:
    return keys.pressed(FOLLOW).lower() == "q"


class Watcher:
    """One who looks at a run: every event once, in order, and the questions that it asks."""

    def __init__(self, git: Git, store: Store, record: RunRecord, shown: Screen) -> None:
        self.store = store
        self.run_id = record.run_id
        self.folder = git.roots.run(record.run_id)
        self.shown = shown
        self.asks = False
        self._state: RunState | None = None
        self._seen = 0
        self._put_off = False

    def look(self) -> bool:
        """Show what is new; False when the run stands still and nobody is about to carry it on."""
        live = lease(self.folder) is not None  # first: what it did last is seen
        supervised = lease(self.folder, SUPERVISOR) is not None
        now, said = self.store.run(self.run_id), bool(self.store.unread(self.run_id))
        for recorded in self.store.events(self.run_id, self._seen):
            self._seen, self._put_off = recorded.seq, False
            self._state = decide(self._state, recorded.event).state
            self.shown.event(recorded.event, self._state)
        waits = now.state == "waiting"
        self.asks = self.shown.asks and (live or supervised) and not said and self._questions()
        return live or (supervised and (now.exit is None or (waits and (said or self.asks))))

    def _questions(self) -> bool:
        return bool(self._state and self._state.resting and self._state.questions and not self._put_off)

    def ask(self) -> None:
        """Ask the person here what the run asks, and leave the answer for its controller."""
        from controller.prompt import Overtaken

        if self._state is None:
            return
        try:
            said = self.shown.answer(self._state)
        except Overtaken:
            return
        if said is None:
            self._put_off = True
        else:
            self.store.post(self.run_id, said)

    def end(self) -> int:
        """Say how it ended, or that it stands still."""
        now = self.store.run(self.run_id)
        if now.exit is not None:
            return self.shown.finished(now.run_id, now.state, now.exit, now.note)
        note = f"its controller is gone; continue: grace resume {now.run_id}"
        return self.shown.finished(now.run_id, "stopped", WAITING, note)
