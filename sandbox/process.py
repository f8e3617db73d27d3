"""Child processes of ours: the one place besides git that starts any; without a shell."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from packets.errors import MachineLacks

_LONG = 3600.0


class Finished(NamedTuple):
    """What a short process left: exit code, both outputs joined."""

    code: int
    output: str


def run(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = _LONG
) -> Finished:
    """Run to the end. `env` None means ours. Raises MachineLacks when the program is missing or out of time."""
    try:
        done = subprocess.run(
            argv,
            check=False,
            env=None if env is None else dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
        )
    except FileNotFoundError:
        raise MachineLacks(f"this machine has no {argv[0]!r}", "install it") from None
    except PermissionError:
        raise MachineLacks(f"{argv[0]!r} may not be run", "make it executable") from None
    except subprocess.TimeoutExpired:
        raise MachineLacks(f"{argv[0]!r} did not end within {timeout:g} s") from None
    return Finished(done.returncode, done.stdout.decode(errors="replace"))


class Child:
    """A running process with its output on a pipe (`output` is the reading end; close it by `close`)."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.pid = process.pid

    @property
    def output(self) -> int:
        """The file descriptor of its output."""
        pipe = self._process.stdout
        if pipe is None:
            raise ValueError("started without a pipe")
        return pipe.fileno()

    def poll(self) -> int | None:
        """Return the exit code, None while it runs; killed by a signal is negative."""
        return self._process.poll()

    def wait(self, timeout: float) -> int | None:
        """Wait up to `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill the whole process group, also what is left of it when its leader ended; fine when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Reap and close."""
        self.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()


class Launcher:
    """Starts children from one thread that lives as long as this does.

    The kernel sends the parent-death signal when the *thread* that started a child ends, not the process; a child with
    `--die-with-parent` started from a pool's thread would die with that thread.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="launcher")

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        executable: str | None = None,
        cwd: str | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Child:
        """Start a child in a session of its own, with its output on a pipe. Raises OSError."""

        def spawn() -> Child:
            return Child(
                subprocess.Popen(
                    argv,
                    executable=executable,
                    env=dict(env),
                    cwd=cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=tuple(pass_fds),
                )
            )

        return self._pool.submit(spawn).result()

    def close(self) -> None:
        """End the thread; children that die with their parent die now."""
        self._pool.shutdown()


class Pump:
    """Copies a child's output to a sink in a thread until the pipe is closed by everybody who holds it."""

    def __init__(self, child: Child, sink: Callable[[bytes], None]) -> None:
        self._thread = threading.Thread(target=self._run, args=(child.output, sink), daemon=True, name="output")
        self._thread.start()

    @staticmethod
    def _run(descriptor: int, sink: Callable[[bytes], None]) -> None:
        while data := os.read(descriptor, 1 << 16):
            with contextlib.suppress(OSError):  # a full disk of ours must not stop the reading: the child would hang
                sink(data)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the output."""
        self._thread.join(seconds)
        return not self._thread.is_alive()
