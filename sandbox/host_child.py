"""Run by the interpreter itself, apart from all packages: starts the job under its limits and answers for its end.

usage: host_child.py FSIZE CONTROL PROGRAM ARGUMENT...

Whatever the job starts stays below this process, also what forked twice and took a session of its own: the kernel gives
it every orphan of its descendants (Linux). When the job ends, when CONTROL, the reading end of a pipe, ends because
whoever started it says so or died, or at SIGTERM, it kills all that is left, and ends itself when nothing is. Its exit
code is the job's as a shell tells it.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MISSING = 127
_KILLED = 128
_AGAIN = 0.005


def main(argv: list[str]) -> None:
    """Never returns."""
    size, control, program = int(argv[1]), int(argv[2]), argv[3:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    woken = _wake_on(signal.SIGCHLD, signal.SIGTERM)
    own = os.getpid()
    job = os.fork()
    if job == 0:
        _become(program, control, own)
    code = _until_the_end(job, control, woken)
    os._exit(_kill_all(job, code))


def _become(program: list[str], control: int, parent: int) -> None:
    os.setsid()
    os.close(control)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before we asked to be told
            os._exit(_MISSING)
    try:
        os.execvp(program[0], program)  # noqa: S606 - becoming the job is the purpose
    except OSError as error:
        sys.stderr.write(f"{program[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(_MISSING)


def _wake_on(*numbers: signal.Signals) -> int:
    """Return a descriptor that gives the numbers of the signals that came."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, lambda _number, _frame: None)
    return woken


def _until_the_end(job: int, control: int, woken: int) -> int | None:
    """Return the job's exit code; None when it is to be ended before."""
    code = _reaped(job)
    while code is None:
        readable, _, _ = select.select([control, woken], [], [])
        if control in readable or signal.SIGTERM in os.read(woken, 4096):
            return _reaped(job)
        code = _reaped(job)
    return code


def _reaped(job: int) -> int | None:
    """Bury what died; return the job's exit code when it was among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == job:
                code = os.waitstatus_to_exitcode(found[1])
    return code


def _kill_all(job: int, code: int | None) -> int:
    """Kill until there is no child: then nothing is below. Return the exit code."""
    while True:
        for pid in _below(os.getpid()) or ([job] if code is None else []):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if sys.platform != "linux":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(job, signal.SIGKILL)
        try:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                code = os.waitstatus_to_exitcode(found[1]) if found[0] == job else code
        except ChildProcessError:
            break
        time.sleep(_AGAIN)
    code = -signal.SIGKILL if code is None else code
    return code if code >= 0 else _KILLED - code


def _below(pid: int) -> list[int]:
    """Return all that descend from the process."""
    parents = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - without packages
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{int(name)}/stat", "rb") as file:  # noqa: PTH123
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


if __name__ == "__main__":
    main(sys.argv)
