"""One controller a run: held until its holder ends or dies, and readable by everybody."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from controller.lock import Held, held, holder, lease


def test_who_holds_it_is_said_and_only_while_it_is_held(tmp_path):
    assert holder(tmp_path / "run") is None
    with held(tmp_path / "run", "r1"):
        assert holder(tmp_path / "run").startswith(f"process {os.getpid()} on {os.uname().nodename} since 2")
        with pytest.raises(Held, match=f"r1 is held by process {os.getpid()}") as caught, held(tmp_path / "run", "r1"):
            pytest.fail("two hold it")
        assert caught.value.exit_code == 2
        assert "last heartbeat 0 s ago" in caught.value.message
        assert "grace watch r1" in caught.value.hint
    assert holder(tmp_path / "run") is None
    with held(tmp_path / "run", "r1"):
        pass


def test_a_heartbeat_shows_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr("controller.lock.BEAT", 0.02)
    with held(tmp_path, "r1"):
        os.utime(tmp_path / "lock", (1, 1))
        until = time.monotonic() + 60
        while lease(tmp_path).age > 30:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.utime(tmp_path / "lock", (1, 1))
    assert lease(tmp_path) is None


def test_a_holder_that_hangs_is_named_with_what_to_do(tmp_path):
    with held(tmp_path, "r1"):
        os.utime(tmp_path / "lock", (time.time() - 100, time.time() - 100))
        words = holder(tmp_path)
    assert "last heartbeat 10" in words
    assert f"`kill {os.getpid()}` stops it" in words


def test_a_holder_that_was_stopped_is_named_with_what_to_do(tmp_path):
    with holding(tmp_path) as child:
        child.send_signal(signal.SIGSTOP)
        until = time.monotonic() + 60
        while "it is stopped" not in holder(tmp_path):
            assert time.monotonic() < until
        assert f"`kill -CONT {child.pid}` lets it go on" in holder(tmp_path)
        assert lease(tmp_path).body()["stopped"]
        child.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("change", [{"boot": "another"}, {"start": "1"}, {"pid": 2**22 + 1}])
def test_a_lease_that_is_not_the_holders_names_nobody(tmp_path, change):
    """Before a reboot, a process number that was given again, a process that is gone: the lock holds all the same."""
    with held(tmp_path, "r1"):
        said = json.loads((tmp_path / "lock").read_text())
        (tmp_path / "lock").write_text(json.dumps(said | change))
        assert holder(tmp_path) == "another process"
        assert lease(tmp_path).body()["pid"] is None
        with pytest.raises(Held, match="another process"), held(tmp_path, "r1"):
            pytest.fail("two hold it")


@pytest.mark.parametrize("text", ["", "}{", '{"pid": 1', "[1]", "7", '{"pid": "x", "host": "h"}'])
def test_a_lease_that_cannot_be_read_is_no_error(tmp_path, text):
    with held(tmp_path, "r1"):
        (tmp_path / "lock").write_text(text)
        assert holder(tmp_path) == "another process"
    (tmp_path / "lock").write_text(text)
    assert holder(tmp_path) is None


def test_a_full_disk_costs_the_words_and_not_the_lock(tmp_path):
    (tmp_path / "lock").symlink_to("/dev/full")
    with held(tmp_path, "r1"):
        pass


@contextmanager
def holding(folder):
    code = "import sys, time; from pathlib import Path; from controller.lock import held\n"
    code += "with held(Path(sys.argv[1]), 'r1'):\n  print('held', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-P", "-c", code, str(folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "held\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def test_it_is_free_when_its_holder_was_killed(tmp_path):
    with holding(tmp_path) as child:
        assert f"process {child.pid}" in holder(tmp_path)
    assert holder(tmp_path) is None
    with held(tmp_path, "r1"):
        assert str(os.getpid()) in holder(tmp_path)


def test_who_only_looks_never_keeps_a_controller_out(tmp_path):
    """Readers lock the file for a moment to see whether it is held."""
    stop = threading.Event()

    def look():
        while not stop.is_set():
            holder(tmp_path)

    threads = [threading.Thread(target=look) for _ in range(3)]
    with held(tmp_path, "r1"):
        pass
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            with held(tmp_path, "r1"):
                pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()
