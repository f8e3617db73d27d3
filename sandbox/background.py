"""A process of ours that outlives the one that started it: in a session of its own, with a file for its output."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from packets.errors import MachineLacks


class Background:
    """A process in the background. Nobody has to wait for it, and nothing stops it when this object goes."""

    def __init__(self, argv: Sequence[str], log: Path) -> None:
        """Start it; raises MachineLacks where the machine says no."""
        self._code: int | None = None
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            self.pid = os.posix_spawn(argv[0], list(argv), os.environ, file_actions=_files(log), setsid=True)
        except OSError as fault:
            raise MachineLacks(f"cannot start {argv[0]}: {fault.strerror}", f"its output goes to {log}") from fault

    def ended(self) -> int | None:
        """Return its exit code, minus the signal when one killed it; None while it runs."""
        if self._code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else has waited for it
                self._code = 0
            else:
                self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def tell(self, number: int) -> None:
        """Send it a signal; fine when it is gone."""
        if self.ended() is None:
            os.kill(self.pid, signal.Signals(number))


def _files(log: Path) -> list[tuple[int, int, str, int, int] | tuple[int, int, int]]:
    return [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
