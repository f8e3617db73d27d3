"""A person at a terminal: what Ctrl-C asks, prompts that are answered elsewhere, looking at a run and leaving it."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from importlib import util
from pathlib import Path

import pytest

_SPEC = util.spec_from_file_location("grace_verbs", Path(__file__).with_name("conftest.py"))
verbs = sys.modules.get("grace_verbs") or util.module_from_spec(_SPEC)
if "grace_verbs" not in sys.modules:
    _SPEC.loader.exec_module(verbs)

PATIENCE = 90.0
QUICK = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}


def waiting_for(repo, path):
    """A worker that says that it is there, and ends when a file tells it to (host engine: it sees the disk)."""
    shell = f"echo there > src/a.txt; until test -e {path}; do sleep 0.1; done; echo x > src/a.txt"
    return {"A": {"shell": shell, "write_scope": ["src/a.txt"]}}


class Terminal:
    """A command that has a real terminal for its own, and a person at it."""

    def __init__(self, repo, *args):
        self.person, ours = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.modes = termios.tcgetattr(ours)
        self.keep = os.dup(ours)
        self.shown = ""
        self.process = subprocess.Popen(
            [str(verbs.GRACE), *args],
            cwd=repo.path,
            env=verbs.environment(TERM="xterm", COLUMNS="200"),
            stdin=ours,
            stdout=ours,
            stderr=ours,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread of ours holds a lock
        )
        os.close(ours)
        self.gone = threading.Event()
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()

    def _read(self):
        while not self.gone.is_set():
            if select.select([self.person], [], [], 0.05)[0]:
                try:
                    self.shown += os.read(self.person, 4096).decode(errors="replace")
                except OSError:  # the command has closed its end
                    return

    def hang_up(self):
        """Close the window."""
        self.gone.set()
        self.reading.join()
        os.close(self.keep)
        os.close(self.person)

    def until(self, text, times=1):
        """Wait until it was shown so often."""
        end = time.monotonic() + PATIENCE
        while self.shown.count(text) < times:
            assert time.monotonic() < end, f"{text!r} was not shown\n{self.shown}"
            assert self.process.poll() is None or self.shown.count(text) >= times, self.shown
            time.sleep(0.02)

    def type(self, text):
        os.write(self.person, text.encode())

    def ends(self, code):
        """Wait for the end; the terminal is as it was found."""
        try:
            assert self.process.wait(PATIENCE) == code, self.shown
            assert "Traceback" not in self.shown, self.shown
            assert termios.tcgetattr(self.keep) == self.modes
        finally:
            self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        if not self.gone.is_set():
            self.hang_up()


@pytest.fixture
def terminal():
    made = []

    def start(repo, *args):
        made.append(Terminal(repo, *args))
        return made[-1]

    yield start
    for one in made:
        one.close()


def until(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def supervisors(repo):
    """The processes that the tests' own runs have in the background."""
    return [s for s in (repo.status(p.name)["supervisor"] for p in repo.path.glob(".git/grace/runs/*")) if s]


@pytest.fixture(autouse=True)
def _nothing_lives_on(repo):
    """A test that fails leaves nobody in the background."""
    yield
    for found in supervisors(repo):
        os.kill(found["pid"], signal.SIGTERM)


@pytest.fixture
def gate(repo, tmp_path):
    """A plan whose worker waits for a file, on the engine that shows the disk; returns the file."""
    path = tmp_path / "go"
    repo.plan(waiting_for(repo, path), sandbox="host")
    return path


def at_work(repo):
    """Wait until a worker has said that it is there."""

    def said(path):
        try:
            return path.is_file() and path.read_bytes() == b"there\n"
        except OSError:
            return False

    until(lambda: any(map(said, repo.path.glob(".git/grace/runs/*/work/*/**/*a.txt"))))


def asked(terminal, repo, word, *command):
    """Start a run, wait for its worker, press Ctrl-C, and answer."""
    run = terminal(repo, *(command or ("run", "plan.yaml", "--yes")))
    at_work(repo)
    run.type("\x03")
    run.until("your word")
    run.type(word)
    return run


def test_ctrl_c_asks_and_going_on_costs_nothing(repo, terminal, gate):
    run = asked(terminal, repo, "?\n")
    run.until("stop it for now")
    run.until("your word", 2)
    run.type("go\n")
    gate.touch()
    run.ends(0)
    assert repo.module("A")["state"] == "done"
    assert "workers that run now start over" in run.shown


def test_ctrl_c_and_pause_stops_the_attempt_which_does_not_count(repo, terminal, gate):
    asked(terminal, repo, "pause\n").ends(4)
    assert repo.status()["state"] == "paused"
    gate.touch()
    repo.grace("resume").exits(0)
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)


def test_ctrl_c_and_cancel(repo, terminal, gate):
    asked(terminal, repo, "cancel\n").ends(1)
    assert repo.module("A")["state"] == "cancelled"
    assert repo.leftovers() == []


def test_a_second_ctrl_c_stops_and_a_run_that_ends_takes_the_question_with_it(repo, terminal, gate):
    asked(terminal, repo, "\x03").ends(130)
    assert repo.status()["state"] == "interrupted"
    run = asked(terminal, repo, "", "resume")
    gate.touch()
    run.ends(0)
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)


def test_ctrl_c_and_detach_hands_the_run_over(repo, terminal, gate):
    run = asked(terminal, repo, "detach\n")
    run.until("goes on in the background")
    run.ends(0)
    assert supervisors(repo)
    gate.touch()
    assert repo.grace("watch").exits(0)
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)
    until(lambda: not supervisors(repo))
    assert repo.leftovers() == []


def test_detached_workers_in_docker_live_on_and_are_adopted(repo, terminal, docker_engine):
    shell = "echo there > src/a.txt; sleep 6; echo x > src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox="docker")
    run = terminal(repo, "run", "plan.yaml", "--yes")
    at_work(repo)
    name = repo.status()["run_id"]
    before = verbs.containers(name)
    run.type("\x03")
    run.until("your word")
    run.type("d\n")
    run.ends(0)
    assert verbs.containers(name) == before != []
    repo.grace("watch").exits(0)
    stopped = [e for e in repo.grace("events", "--json").events if e["type"] == "attempt.stopped"]
    assert (repo.module("A")["attempt"], stopped) == (1, [])
    assert repo.show("src/a.txt") == "x"
    assert not [ref for ref in repo.refs() if ref.startswith("refs/grace/rescue/")], "it was not started over"
    until(lambda: not supervisors(repo))
    assert repo.leftovers() == []


def test_a_prompt_goes_away_when_it_is_answered_elsewhere(repo, terminal):
    repo.plan(QUICK)
    run = terminal(repo, "run", "plan.yaml")
    run.until("May A be merged?")
    run.until("your word")
    run.type("appr")  # half a word
    repo.grace("approve").exits(0)
    run.until("May phase one land?")
    run.until("your word", 2)
    repo.grace("pause").exits(0)
    run.ends(4)
    assert repo.status()["state"] == "paused"
    assert repo.module("A")["state"] == "asleep"


def test_a_terminal_that_is_closed_stops_the_run_which_can_be_resumed(repo, terminal, gate):
    run = terminal(repo, "run", "plan.yaml", "--yes")
    at_work(repo)
    run.hang_up()
    assert run.process.wait(PATIENCE) == 130
    assert repo.status()["state"] == "interrupted"
    gate.touch()
    repo.grace("resume").exits(0)
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)


def test_watch_asks_what_the_run_asks(repo, terminal):
    repo.plan(QUICK)
    repo.grace("run", "plan.yaml", "--detach").exits(0)
    look = terminal(repo, "watch")
    look.until("your word")
    look.type("\x03")
    look.until("goes on without you")
    look.ends(130)
    look = terminal(repo, "watch")
    look.until("May A be merged?")
    look.type("approve\n")
    look.until("May phase one land?")
    look.until("your word", 2)
    repo.grace("approve").exits(0)
    look.ends(0)
    assert repo.module("A")["state"] == "done"
    until(lambda: not supervisors(repo))


def test_q_leaves_a_run_that_goes_on(repo, terminal, gate):
    name = repo.grace("run", "plan.yaml", "--yes", "--detach").exits(0).out.strip()
    look = terminal(repo, "watch", name)
    look.until("of e2e")
    until(lambda: not termios.tcgetattr(look.keep)[3] & termios.ICANON)
    look.type("q")
    look.until("goes on without you")
    look.ends(0)
    look = terminal(repo, "watch")
    until(lambda: not termios.tcgetattr(look.keep)[3] & termios.ICANON)
    look.process.send_signal(signal.SIGTERM)
    look.ends(143)
    gate.touch()
    repo.grace("watch", name).exits(0)
    until(lambda: not supervisors(repo))
