"""What a person or a program sees of a run while it is carried: plain lines, JSON lines, or one live table."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from controller.kernel import RunState
from controller.store.store import RunRecord, Store
from controller.voice import say
from controller.wording import CAUSES, line
from packets.events import Event, EventType


class Screen(Protocol):
    """A listener of the loop that can also say things of its own. `finished` returns the exit code it was given.

    `asks` says whether a person is there to be asked.
    """

    asks: bool

    def tell(self, text: str) -> None:
        """Say one line that is no event."""

    def begin(self, run: RunRecord, store: Store) -> None:
        """Take up a run."""

    def event(self, event: Event, state: RunState) -> None:
        """Show one event."""

    def __call__(self, event: Event, state: RunState) -> None:
        """Show one event."""

    def answer(self, state: RunState) -> Event | None:
        """Ask the person in front of the terminal, if there is one; None means later.

        Raises Overtaken when the question goes away meanwhile.
        """

    def leave(self, stands: Callable[[], bool]) -> str:
        """Ask what Ctrl-C means; empty when `stands` says no before it is answered."""

    def finished(self, run_id: str, state: str, code: int, note: str = "") -> int:
        """Say how it ended."""

    def close(self) -> None:
        """Leave the screen as it was found."""


class Lines:
    """Plain lines on stdout; hints of what to do next at the end. Who stops reading them stops nothing."""

    asks = False

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.asked: list[str] = []

    def tell(self, text: str) -> None:
        """Say one line that is no event."""
        say(f"grace: {text}\n")

    def begin(self, run: RunRecord, store: Store) -> None:
        """Take up a run."""
        del store
        self.tell(f"run {run.run_id} of {run.name}, from {run.base_commit[:12]} towards {run.base_ref}")

    def event(self, event: Event, state: RunState) -> None:
        """Show one event."""
        if text := line(event):
            self._line(text)
        for transition in state.transitions:
            if transition.after in {"failed", "cancelled", "waiting"}:
                self._line(f"{transition.module}: {transition.after}, {CAUSES.get(transition.cause, transition.cause)}")
        self.asked = sorted(f"{q.subject}@{q.key[:8]}" for q in state.questions.values())

    __call__ = event

    def _line(self, text: str) -> None:
        say(f"{time.monotonic() - self.began:7.1f}s  {text}\n")

    def answer(self, state: RunState) -> Event | None:
        """Nobody is asked where there is no terminal."""
        del state
        return None

    def leave(self, stands: Callable[[], bool]) -> str:
        """Nobody is asked where there is no terminal."""
        del stands
        return ""

    def finished(self, run_id: str, state: str, code: int, note: str = "") -> int:
        """Say how it ended and what comes next."""
        self.tell(f"run {run_id} is {state}{f': {note}' if note else ''}")
        if state == "waiting":
            self.tell(f"look: grace review {run_id}")
            for subject in self.asked or [""]:
                named = f"{run_id} {subject}".rstrip()
                self.tell(f"say: grace approve {named}   or: grace reject {named} --reason TEXT")
            self.tell(f"then: grace resume {run_id}   (in the background it goes on by itself)")
        elif code:
            self.tell(f"look: grace status {run_id}   grace review {run_id}")
        return code

    def close(self) -> None:
        """Nothing to put back."""


class Jsons(Lines):
    """One JSON object a line: events as they are stored, the end last. Words for people go to stderr."""

    def __init__(self) -> None:
        super().__init__()
        self.run_id = ""

    def tell(self, text: str) -> None:
        """Say one line that is no event."""
        say(f"grace: {text}\n", error=True)

    def begin(self, run: RunRecord, store: Store) -> None:
        """Take up a run."""
        del store
        self.run_id = run.run_id

    def event(self, event: Event, state: RunState) -> None:
        """Show one event; the end is said once, by `finished`."""
        if event.type is EventType.FINISHED:
            return
        changes = [dict(zip(("module", "before", "after", "cause"), t, strict=True)) for t in state.transitions]
        self._object(event_object(self.run_id, event) | {"transitions": changes})

    __call__ = event

    def _object(self, body: dict[str, object]) -> None:
        say(json.dumps(body, ensure_ascii=False) + "\n")

    def finished(self, run_id: str, state: str, code: int, note: str = "") -> int:
        """Say how it ended: the last line."""
        self._object({"type": "run.finished", "run_id": run_id, "state": state, "exit": code, "note": note})
        return code


def event_object(run_id: str, event: Event) -> dict[str, object]:
    """Return an event as docs/json.md describes it."""
    return {
        "type": str(event.type),
        "run_id": run_id,
        "module": event.module or None,
        "attempt": event.attempt or None,
        "actor": event.actor,
        "data": {k: v for k, v in event.data.items() if k != "shape"},
    }


@contextmanager
def screen(*, as_json: bool) -> Iterator[Screen]:
    """Choose: JSON when asked, a live table at a terminal, plain lines elsewhere."""
    shown: Screen
    if as_json:
        shown = Jsons()
    elif sys.stdout.isatty() and sys.stdin.isatty():
        from controller.table import Table

        shown = Table()
    else:
        shown = Lines()
    try:
        yield shown
    finally:
        shown.close()
