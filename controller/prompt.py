"""Reading what a person types, without being deaf to the rest: a question may be answered elsewhere meanwhile."""

import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_LOOK = 0.1  # seconds between two looks whether the question still stands
_LINE = 4096  # bytes; a terminal gives no longer line
_LEAVES = (signal.SIGTERM, signal.SIGHUP)


class Overtaken(Exception):  # noqa: N818 - reads as what it says
    """The question is none any more: it was answered elsewhere, or the run was told to stop."""


def forget_typed() -> None:
    """Drop what was typed before anything was asked: it is an answer to nothing."""
    with suppress(OSError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def typed(stands: Callable[[], bool]) -> str:
    """Return the line that is typed; raises EOFError at its end, Overtaken as soon as `stands` says no."""
    descriptor = sys.stdin.fileno()
    while stands():
        if select.select([descriptor], [], [], _LOOK)[0]:
            try:
                line = os.read(descriptor, _LINE)
            except OSError:  # the terminal is gone
                line = b""
            if not line:
                raise EOFError
            return line.decode(errors="replace").strip()
    raise Overtaken


class Keys:
    """Single keys of a terminal, while something else is shown. The terminal is given back whatever happens."""

    def __init__(self) -> None:
        self._descriptor = sys.stdin.fileno()
        self._before: list[Any] = termios.tcgetattr(self._descriptor)

    def pressed(self, seconds: float) -> str:
        """Wait so long for a key; empty without one."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return ""
        with suppress(OSError):
            return os.read(self._descriptor, 1).decode(errors="replace")
        return ""

    def on(self, *_: object) -> None:
        """Take keys as they are pressed; Ctrl-C stays what it is."""
        with suppress(termios.error):
            tty.setcbreak(self._descriptor, termios.TCSANOW)

    def off(self) -> None:
        """Give the terminal back as it was."""
        with suppress(termios.error):
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)


@contextmanager
def keys() -> Iterator[Keys]:
    """Listen to keys until the end, also when we are told to leave; a process that was suspended listens again."""
    made = Keys()
    mine = threading.current_thread() is threading.main_thread()
    handlers: dict[signal.Signals, Any] = {}
    if mine:
        handlers = {number: signal.signal(number, _leave) for number in _LEAVES}
        handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, made.on)
        # A shell starts what it puts into the background deaf to Ctrl-C; at the keys of a terminal it is heard.
        handlers[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        made.on()
        yield made
    finally:
        made.off()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
