"""Runs in the background: started, killed, answered, paused, taken back; and readers that go away."""

import json
import os
import signal
import time

import pytest

PATIENCE = 90.0
QUICK = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}


def until(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def kill(pid):
    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def gate(repo, tmp_path):
    """A plan whose worker waits for a file, on the engine that shows the disk; returns the file."""
    path = tmp_path / "go"
    shell = f"until test -e {path}; do sleep 0.1; done; echo x > src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox="host")
    return path


def detached(repo, *args):
    """Send a run off, and wait until its worker is at work; returns its id."""
    run = repo.grace("run", "plan.yaml", "--detach", *args).exits(0).out.strip()
    until(lambda: repo.status(run)["holder"] and standing(repo, run).get("A") == "working")
    return run


def standing(repo, run):
    """Where each module stands; there is none before the first event."""
    return {m["id"]: m["state"] for m in repo.status(run)["modules"]}


@pytest.fixture(autouse=True)
def _nothing_lives_on(repo):
    """A test that fails leaves nobody in the background."""
    yield
    for folder in repo.path.glob(".git/grace/runs/*"):
        for process in ("supervisor", "holder"):
            if found := repo.status(folder.name)[process]:
                kill(found["pid"])


def test_a_dead_controller_is_started_again_and_a_dead_supervisor_loses_nothing(repo, gate):
    run = detached(repo, "--yes")
    first = repo.status(run)["holder"]["pid"]
    kill(first)
    second = until(lambda: (h := repo.status(run)["holder"]) and h["pid"] != first and h["pid"])
    kill(repo.status(run)["supervisor"]["pid"])
    until(lambda: repo.status(run)["supervisor"] is None)
    assert repo.status(run)["holder"]["pid"] == second, "its controller lives on"
    kill(second)
    until(lambda: repo.status(run)["state"] == "stopped")
    gate.touch()
    repo.grace("resume", run).exits(0)
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)
    assert repo.leftovers() == []


def test_there_is_one_supervisor_a_run_and_a_plan_or_machine_at_fault_is_said_at_once(repo, gate, tmp_path):
    run = detached(repo, "--yes")
    pid = repo.status(run)["supervisor"]["pid"]
    again = repo.grace("resume", run, "--detach", "--json").exits(0).json
    assert (again["run_id"], again["supervisor"]) == (run, pid)
    (repo.path / "bad.yaml").write_text("version: 1\n")
    assert repo.grace("run", "bad.yaml", "--detach").exits(2).out == ""
    gate.touch()
    repo.grace("watch", run).exits(0)
    until(lambda: repo.status(run)["supervisor"] is None)
    over = repo.grace("resume", run, "--detach", "--json").exits(0).json
    assert (over["how"], over["supervisor"]) == ("done", None)


def test_what_waits_in_the_background_goes_on_when_it_is_answered(repo):
    repo.plan(QUICK)
    run = repo.grace("run", "plan.yaml", "--detach").exits(0).out.strip()
    assert repo.grace("watch", run, "--json").exits(4).events[-1]["state"] == "waiting"
    said = repo.grace("approve", run, "wave:1").exits(0).out
    assert "resume" not in said
    until(lambda: [a["subject"] for a in repo.status(run)["approvals"]] == ["landing:one"])
    repo.grace("approve", run, "landing:one").exits(0)
    until(lambda: repo.status(run)["state"] == "done")
    until(lambda: repo.status(run)["supervisor"] is None)
    assert repo.leftovers() == []


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_a_word_from_elsewhere_counts_within_moments(repo, gate, verb):
    run = detached(repo, "--yes")
    repo.grace(verb, run).exits(0)
    until(lambda: repo.status(run)["state"] in {"paused", "cancelled"})
    until(lambda: repo.status(run)["supervisor"] is None)
    if verb == "pause":
        gate.touch()
        repo.grace("resume", run).exits(0)
        assert repo.module("A")["attempt"] == 1


def test_cancel_takes_back_what_was_merged_and_landed_when_asked_to(repo, tmp_path):
    late = f"until test -e {tmp_path}/go; do sleep 0.1; done"
    repo.plan({**QUICK, "B": {"shell": late, "write_scope": ["src/b.txt"], "depends_on": ["A"]}}, sandbox="host")
    before = repo.tree()
    run = repo.grace("run", "plan.yaml", "--yes", "--detach").exits(0).out.strip()
    until(lambda: standing(repo, run) == {"A": "asleep", "B": "working"})
    repo.grace("cancel", run, "--rollback").exits(0)
    assert repo.status(run)["state"] == "cancelled"
    assert repo.tree() == before
    repo.grace("cancel", run, "--rollback").exits(0)
    assert "over" in repo.grace("cancel", run).exits(2).err
    assert repo.leftovers() == []


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_reader_that_goes_away_stops_nothing(repo, form):
    repo.plan(QUICK)
    process = repo.start("run", "plan.yaml", "--yes", *form)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert repo.module("A")["state"] == "done"
    assert "Traceback" not in (repo.errors.read_text() if repo.errors.exists() else "")


def test_watch_of_a_run_that_nobody_carries_says_so(repo, gate):
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    for line in process.stdout:
        if json.loads(line)["type"] == "attempt.started":
            break
    process.kill()
    process.communicate()
    said = repo.grace("watch").exits(4).out
    assert "nobody carries run" in said
    assert "grace resume" in said
