"""Run by the interpreter itself, apart from all packages: put this process under its limits, then become the job.

usage: host_child.py FSIZE PARENT PROGRAM ARGUMENT...
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_MISSING = 127


def main(argv: list[str]) -> None:
    """Never returns."""
    size, parent, program = int(argv[1]), int(argv[2]), argv[3:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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


if __name__ == "__main__":
    main(sys.argv)
