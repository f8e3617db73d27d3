"""What Ctrl-C, SIGTERM and SIGHUP do to a run that is carried here.

Without a terminal the first one stops the run, resumable. At a terminal Ctrl-C asks what is meant while the run goes
on; a second one, with the question still there, stops it. The next one after a stop means now.
"""

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from controller.standing import actor
from controller.store.store import RunRecord
from packets.errors import GraceError
from packets.events import Event, EventType

DETACH, PAUSE, CANCEL, GO_ON = "detach", "pause", "cancel", "go on"
Stands = Callable[[], bool]
Put = Callable[[Event], object]


def ways(run: RunRecord) -> dict[str, str]:
    """Return what may be said to Ctrl-C, and what each word does."""
    stays = run.settings["engine"] == "docker"
    workers = "running workers live on" if stays else f"workers that run now start over ({run.settings['engine']})"
    return {
        DETACH: f"it goes on in the background; {workers}",
        PAUSE: "stop it for now; what runs is stopped and does not count as an attempt",
        CANCEL: "end it; nothing more of it lands, what was made is kept",
        GO_ON: "stay here",
    }


class Menu:
    """The question that Ctrl-C asks, in a thread of its own, so that the run goes on and other signals are heard.

    `ask` shows it and returns the word, empty when the question went away; `hand_over` detaches and does not return.
    The thread is there from the beginning: a signal handler may not start one.
    """

    def __init__(
        self, ask: Callable[[Stands], str], hand_over: Callable[[], None], tell: Callable[[str], None]
    ) -> None:
        self.open = False
        self._ask = ask
        self._hand_over = hand_over
        self._tell = tell
        self._wanted: queue.SimpleQueue[Put | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="menu")
        self._thread.start()

    def show(self, put: Put) -> None:
        """Ask; `put` is told what was meant."""
        self.open = True
        self._wanted.put(put)

    def shut(self) -> None:
        """Take the question away."""
        self.open = False

    def close(self) -> None:
        """End the thread."""
        self.shut()
        self._wanted.put(None)
        self._thread.join(timeout=5)

    def _serve(self) -> None:
        while (put := self._wanted.get()) is not None:
            word = self._ask(lambda: self.open)
            try:
                self._do(word, put)
            except GraceError as fault:
                self._tell(f"{fault.message}{f' ({fault.hint})' if fault.hint else ''}; the run goes on here")
            self.open = False

    def _do(self, word: str, put: Put) -> None:
        if word == DETACH:
            self._hand_over()
        elif word in {PAUSE, CANCEL}:
            put(Event(type=EventType.PAUSED if word == PAUSE else EventType.CANCELLED, actor=actor()))


@contextmanager
def signals(put: Put, asking: Callable[[], bool], menu: Menu | None) -> Iterator[None]:
    """Turn signals into what the loop takes in; a question that is asked (`asking`) is left at once."""

    def interrupt(number: int, _frame: object) -> None:
        if number == signal.SIGINT and menu and not menu.open:
            menu.show(put)
        else:
            if menu:
                menu.shut()
            signal.signal(number, before[number])
            put(Event(type=EventType.INTERRUPTED, data={"signal": number}))
        if asking():
            raise KeyboardInterrupt

    before: dict[int, Any] = {}
    number: int
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup, a supervisor
            before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        if menu:
            menu.close()
        for number, handler in before.items():
            signal.signal(number, handler)
