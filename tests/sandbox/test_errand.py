"""A program of the user's own: its group ends with it when it is stopped, and it has no terminal to ask at."""

import os
import sys
import time
from pathlib import Path

import pytest

from packets.errors import GraceError, MachineLacks
from sandbox.errand import run

PATIENCE = 60.0


def errand(cwd, *argv, deadline=PATIENCE, unwanted=lambda: False):
    return run(argv, env=dict(os.environ), cwd=cwd, deadline=deadline, unwanted=unwanted)


def gone(pid):
    """Wait until a process is no more, or only waits to be reaped."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_its_end_and_both_outputs(tmp_path):
    done = errand(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (done.code, done.output, done.stopped, done.ok) == (3, "out\nerr\n", "", False)
    assert errand(tmp_path, "true").ok


def test_it_has_no_terminal_and_no_input(tmp_path):
    done = errand(tmp_path, "sh", "-c", "cat; (: < /dev/tty) 2>/dev/null && echo asked; ps -o sid= -p $$; echo $$")
    session, pid = done.output.split()
    assert session == pid


@pytest.mark.parametrize("why", ["unwanted", "deadline"])
def test_stopped_it_goes_with_its_whole_group(tmp_path, why):
    child = tmp_path / "child"
    command = f"sleep 600 & echo $! > {child}.new; mv {child}.new {child}; wait"
    if why == "unwanted":
        done = errand(tmp_path, "sh", "-c", command, unwanted=child.exists)
    else:
        done = errand(tmp_path, "sh", "-c", command, deadline=1.0)
    assert not done.ok
    assert "because the run was" in done.stopped if why == "unwanted" else "within 1 s" in done.stopped
    assert not child.exists() or gone(int(child.read_text()))


def test_what_it_leaves_running_is_left_alone(tmp_path):
    child = tmp_path / "child"
    code = f"import subprocess; p = subprocess.Popen(['sleep', '600']); open({str(child)!r}, 'w').write(str(p.pid))"
    assert errand(tmp_path, sys.executable, "-c", code).ok
    os.kill(int(child.read_text()), 9)


def test_what_cannot_be_started_is_said(tmp_path):
    with pytest.raises(MachineLacks, match="no 'no-such-program'"):
        errand(tmp_path, "no-such-program")
    with pytest.raises(GraceError, match="is gone"):
        errand(tmp_path / "none", "true")
