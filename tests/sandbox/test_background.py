"""A process in the background: of a session of its own, with its output in a file, and stopped by nobody's end."""

import os
import signal
import sys
import time

import pytest

from packets.errors import MachineLacks
from sandbox.background import Background


def ended(process):
    until = time.monotonic() + 60
    while (code := process.ended()) is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return code


def test_it_has_a_session_and_a_log_of_its_own(tmp_path):
    log = tmp_path / "logs" / "log"
    for _ in range(2):
        code = "import os, sys; print(os.getsid(0) == os.getpid(), sys.stdin.read() == ''); sys.exit(3)"
        assert ended(Background([sys.executable, "-P", "-c", code], log)) == 3
    assert log.read_text() == "True True\n" * 2


def test_it_can_be_told_to_stop(tmp_path):
    process = Background(["/bin/sleep", "600"], tmp_path / "log")
    assert process.ended() is None
    process.tell(signal.SIGTERM)
    assert ended(process) == -signal.SIGTERM
    process.tell(signal.SIGTERM)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_program_that_is_not_there_is_said(tmp_path):
    with pytest.raises(MachineLacks, match="cannot start /no/such"):
        Background(["/no/such"], tmp_path / "log")
