"""One controller a run: held until its holder ends or dies, and readable by everybody."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from controller.lock import Held, held, holder


def test_who_holds_it_is_said_and_only_while_it_is_held(tmp_path):
    assert holder(tmp_path / "run") is None
    with held(tmp_path / "run", "r1"):
        assert f"process {os.getpid()} on {os.uname().nodename}" == holder(tmp_path / "run")
        with pytest.raises(Held, match=f"r1 is held by process {os.getpid()}") as caught, held(tmp_path / "run", "r1"):
            pytest.fail("two hold it")
        assert caught.value.exit_code == 2
        assert "grace events r1 --follow" in caught.value.hint
    assert holder(tmp_path / "run") is None
    with held(tmp_path / "run", "r1"):
        pass


def test_it_is_free_when_its_holder_was_killed(tmp_path):
    code = "import sys, time; from pathlib import Path; from controller.lock import held\n"
    code += "with held(Path(sys.argv[1]), 'r1'):\n  print('held', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-P", "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    assert f"process {child.pid}" in holder(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
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


def test_a_lock_file_that_holds_nonsense_is_no_error(tmp_path):
    (tmp_path / "lock").write_text("}{")
    assert holder(tmp_path) is None
