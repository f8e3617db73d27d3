"""Rows D: many at once."""

import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from controller.stopping import told_to_stop

SLOW = {"A": {"shell": "printf there > src/a.txt; sleep 600", "write_scope": ["src/a.txt"]}}


def test_d1_eight_workers_end_at_the_same_moment(repo):
    shell = "while [ $(date +%s) -lt {0} ]; do sleep 0.02; done; echo {1} > src/{1}.txt"
    moment = int(subprocess.run(["date", "+%s"], capture_output=True, text=True, check=True).stdout) + 12
    repo.plan(
        {f"M{n}": {"shell": shell.format(moment, n), "write_scope": [f"src/{n}.txt"]} for n in range(8)},
        checks=["test $(ls src | wc -l) = 9"],
    )
    repo.grace("run", "plan.yaml", "--yes", "--max-workers", "8").exits(0)
    assert all(repo.show(f"src/{n}.txt") == str(n) for n in range(8))
    merged = repo.git("log", "--format=%(trailers:key=Grace-Module,valueonly,separator=%x2C)", "main").split()
    assert sorted(merged) == [f"M{n}" for n in range(8)]
    assert {(m["state"], m["attempt"]) for m in repo.status()["modules"]} == {("done", 1)}
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    with sqlite3.connect(repo.path / ".git" / "grace" / "state.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    db.close()
    assert repo.leftovers() == []


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_d2_whoever_reads_does_not_wait_for_whoever_writes(repo, lock):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    shutil.rmtree(repo.path / ".grace")
    writers = []
    for path in repo.path.glob(".git/grace/**/*.db"):
        writers.append(sqlite3.connect(path, isolation_level=None))
        writers[-1].execute(f"BEGIN {lock}")
    assert writers
    reads = ["status", "packets", "review", "events"]
    try:
        for command in [*([r] for r in reads), *([r, run, "--json"] for r in reads), ["plan", "check", "plan.yaml"]]:
            result = repo.grace(*command, timeout=20).exits(0)
            assert "is locked" not in result.said
        assert "is locked" not in repo.grace("refresh", run, "--full", timeout=25).exits(0).said
    finally:
        for writer in writers:
            writer.close()


def test_d3_a_stale_lock_of_the_index_is_named_and_left(repo):
    """Whether a lock is stale only its owner knows: the run is built to the end, and says what to remove."""
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    lock = repo.path / ".git" / "index.lock"
    lock.write_bytes(b"DIRC half an index")
    result = repo.grace("run", "plan.yaml", "--yes").exits(4)
    assert str(lock) in result.said
    assert lock.read_bytes() == b"DIRC half an index"
    assert repo.module("A")["state"] == "asleep"
    lock.unlink()
    repo.grace("resume").exits(0)
    assert repo.module("A")["state"] == "done"
    assert repo.git("status", "--porcelain") == ""


def test_d5_a_cancel_counts_while_the_state_is_being_written(repo, do):
    repo.plan(SLOW)
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    run = repo.status()["run_id"]
    writer = sqlite3.connect(repo.path / ".git" / "grace" / "state.db", isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    later = threading.Timer(3, writer.execute, ["ROLLBACK"])
    later.start()
    try:
        repo.grace("cancel", run).exits(0)
    finally:
        later.join()
        writer.close()
    process.stdout.read()
    assert process.wait(timeout=60) == 1
    assert repo.module("A")["state"] == "cancelled"
    assert repo.leftovers() == []


def test_d5_two_cancels_at_once_and_one_too_many(repo, do):
    repo.plan(SLOW)
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    run = repo.status()["run_id"]
    both = [repo.start("cancel", run) for _ in range(2)]
    said = [one.communicate(timeout=60)[0] for one in both]
    assert all(one.returncode in {0, 2} for one in both), said
    process.stdout.read()
    assert process.wait(timeout=60) == 1
    assert "over" in repo.grace("cancel", run).exits(2).err
    assert repo.module("A")["state"] == "cancelled"
    assert repo.leftovers() == []


def test_d6_only_one_carries_a_run_that_was_killed(repo, do):
    """Resume, resume, and whatever else writes, at the same moment: one carries on, the others say who holds it."""
    repo.plan({"A": {"shell": "printf there > src/a.txt; sleep 6; echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    do.kill(process)
    run = repo.status()["run_id"]
    both = [repo.start("resume", run) for _ in range(2)]
    while repo.status(run)["state"] != "running":
        time.sleep(0.05)
    for command in (["rollback", run, "--to", "start"], ["clean", run], ["clean", run, "--force"]):
        refused = repo.grace(*command).exits(2).err
        assert any(str(one.pid) in refused for one in both), refused
    said = [one.communicate(timeout=120)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert sum("attached" in words for words in said) == 1, said
    assert repo.show("src/a.txt") == "x"
    assert len(repo.git("log", "--format=%H", "--grep", "Grace-Module: A", "main").split()) == 1
    assert repo.leftovers() == []


def test_d5_workers_are_stopped_while_the_state_is_locked_and_the_pause_counts_when_it_is_free(repo, tmp_path):
    """What stops them is no row: it does not wait for whoever writes."""
    shell = f"echo $$ > {tmp_path}/pid; sleep 600"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox="host")
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    worker = Path("/proc") / (tmp_path / "pid").read_text().strip()
    run = repo.status()["run_id"]
    writer = sqlite3.connect(repo.path / ".git" / "grace" / "state.db", isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        pausing = repo.start("pause", run)
        eventually(lambda: not worker.exists())
        assert pausing.poll() is None, "its word is not stored yet"
        writer.execute("ROLLBACK")
    finally:
        writer.close()
    assert "pausing" in pausing.communicate(timeout=60)[0]
    process.stdout.read()
    assert process.wait(timeout=60) == 4
    assert repo.status()["state"] == "paused"
    assert repo.module("A")["attempt"] == 1
    assert not worker.exists()


def test_d5_a_cancel_that_was_killed_half_way_stops_nobody_for_good(repo, tmp_path):
    shell = f"echo x >> {tmp_path}/lives; until test -e {tmp_path}/go; do sleep 0.1; done; echo x > src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox="host")
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    lives = tmp_path / "lives"
    eventually(lambda: lives.exists() and lives.read_text())
    run = repo.status()["run_id"]
    writer = sqlite3.connect(repo.path / ".git" / "grace" / "state.db", isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        cancelling = repo.start("cancel", run)
        eventually(lambda: told_to_stop(repo.path / ".git" / "grace" / "runs" / run))
        cancelling.kill()
        cancelling.communicate()
        writer.execute("ROLLBACK")
    finally:
        writer.close()
    (tmp_path / "go").touch()
    process.stdout.read()
    assert process.wait(timeout=90) == 0
    assert (repo.module("A")["state"], repo.module("A")["attempt"]) == ("done", 1)


def test_d6_a_holder_that_was_stopped_is_named_with_what_helps(repo, do):
    repo.plan(SLOW)
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    run = repo.status()["run_id"]
    process.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: repo.status(run)["holder"]["stopped"])
        said = repo.grace("rollback", run, "--to", "start").exits(2).err
        assert f"kill -CONT {process.pid}" in said
    finally:
        process.send_signal(signal.SIGCONT)
    do.kill(process)
    assert repo.status(run)["holder"] is None
    repo.grace("cancel", run).exits(0)
    assert repo.leftovers() == []


def eventually(condition):
    until = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.05)
    return found
