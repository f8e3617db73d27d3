"""A landing hook: the user's own program, its words in a private log, and found again when it outlived grace."""

import os
import subprocess
import sys
import time

from sandbox.hook import last_line, run_hook, still_running

PATIENCE = 60.0


def hook(tmp_path, command, **variables):
    return run_hook(command, main=tmp_path, variables=variables, log=tmp_path / "logs/h.log", unwanted=lambda: False)


def test_it_runs_where_it_is_told_with_what_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("MINE", "mine")
    ended = hook(tmp_path, 'pwd; echo "$MINE $GRACE_RUN"; exit 4', GRACE_RUN="r1")
    assert ended == (4, "", "mine r1")
    log = tmp_path / "logs/h.log"
    assert log.read_text() == f"{tmp_path}\nmine r1\n"
    assert log.stat().st_mode & 0o777 == 0o600


def test_the_last_line_that_says_something(tmp_path):
    (tmp_path / "log").write_bytes(b"first\n  the last \xff \n\n  \n")
    assert last_line(tmp_path / "log") == "the last �"
    assert last_line(tmp_path / "none") == ""


def test_one_that_outlived_its_grace_is_found_by_its_key(tmp_path):
    code = (
        "import sys; from pathlib import Path; from sandbox.hook import run_hook\n"
        "run_hook('echo on; touch begun; exec sleep 600', main=Path(sys.argv[1]),"
        " variables={'GRACE_IDEMPOTENCY_KEY': 'r/one/hook/1'}, log=Path(sys.argv[1]) / 'log', unwanted=lambda: False)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as grace:
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        grace.kill()
    (pid,) = still_running("r/one/hook/1")
    assert still_running("r/one/hook/11") == ()
    os.kill(pid, 9)
