"""Processes of our own code that take a part of some long work: a line of bytes in, a line of bytes out.

They are told by the end of their input that nobody needs them any more, so they die with whoever started them.
"""

import contextlib
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import Self

_STRAY = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""What could make a child run somebody else's code."""


class HelperGone(Exception):  # noqa: N818 - reads as what it says
    """A helper could not be started, or ended before it had answered."""


class Helpers:
    """A few processes that run the same program. Use it in `with`; whoever asks gets the answers in any order."""

    def __init__(self, argv: Sequence[str], count: int) -> None:
        """Start them; raises HelperGone."""
        self._running: list[subprocess.Popen[bytes]] = []
        env = {name: value for name, value in os.environ.items() if name not in _STRAY}
        try:
            for _ in range(count):
                self._running.append(
                    subprocess.Popen(
                        argv,
                        env=env,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        start_new_session=True,  # Ctrl-C is for us; the child ends when its stdin does
                    )
                )
        except OSError as fault:
            self.close()
            raise HelperGone(str(fault)) from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End them, also in the middle of something."""
        for process in self._running:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()
        self._running.clear()

    def answers(self, questions: Sequence[bytes]) -> Iterator[bytes]:
        """Give each question to whoever is free and yield the answers; raises HelperGone."""
        todo: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        done: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        for question in questions:
            todo.put(question)
        threads = [threading.Thread(target=_serve, args=(each, todo, done), daemon=True) for each in self._running]
        for thread in threads:
            thread.start()
        for _ in questions:
            answer = done.get()
            if answer is None:
                self.close()
                raise HelperGone("a helper ended before it had answered")
            yield answer
        for thread in threads:
            thread.join()


def _serve(
    process: "subprocess.Popen[bytes]", todo: "queue.SimpleQueue[bytes]", done: "queue.SimpleQueue[bytes | None]"
) -> None:
    """Ask one process as long as there is something to ask; None says that it is gone."""
    with contextlib.suppress(queue.Empty):
        while True:
            question = todo.get_nowait()
            try:
                answer = _asked(process, question)
            except (OSError, ValueError):  # closed meanwhile
                answer = b""
            done.put(answer if answer.endswith(b"\n") else None)
            if not answer.endswith(b"\n"):
                return


def _asked(process: "subprocess.Popen[bytes]", question: bytes) -> bytes:
    if process.stdin is None or process.stdout is None:
        return b""
    process.stdin.write(question + b"\n")
    process.stdin.flush()
    return process.stdout.readline()
