"""grace refresh --watch, as a program and at a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

GRACE = Path(sys.executable).with_name("grace")


@pytest.fixture
def done(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    return repo


def test_q_ends_a_watch_at_a_terminal(done):
    person, ours = pty.openpty()
    words = [str(GRACE), "refresh", "--watch", "--no-checks"]
    with subprocess.Popen(words, cwd=done.path, stdin=ours, stdout=ours, stderr=ours, start_new_session=True) as watch:
        os.close(ours)
        said = b""
        while b"no drift" not in said:
            said += os.read(person, 4096)
        assert b"q or Ctrl-C ends it" in said
        os.write(person, b"q")
        assert watch.wait(30) == 0
    os.close(person)
