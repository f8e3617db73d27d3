"""Rows H: crashes. The controller is killed -9 for real, between every two things that outlive it."""

import os
import shutil
import signal

import pytest

PLAN = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}


def test_h1_killed_at_boundaries(repo, do, lives, tmp_path):
    """One run each: every one comes to the same tree, nothing is done twice, and nothing is left over.

    `GRACE_CRASH=all` kills at every boundary, else at every third; test_crash_everywhere.py kills at each named point.
    """
    repo.plan(PLAN, checks=["test -f src/a.txt"])
    repo.path.rename(tmp_path / "fresh")

    def again():
        shutil.rmtree(repo.path, ignore_errors=True)
        shutil.copytree(tmp_path / "fresh", repo.path, symlinks=True)

    again()
    code, count, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    tree, wrong = repo.tree(), {}
    assert count > 30
    for at in range(1, count + 1, 1 if os.environ.get("GRACE_CRASH") == "all" else 3):
        again()
        code, _, said = lives(repo, "run", "plan.yaml", "--yes", at=at)
        if code != -signal.SIGKILL:
            wrong[at] = said
            continue
        code, _, said = lives(repo, "run", "plan.yaml", "--yes")
        merges = repo.git("log", "--format=%H", "--grep", "Grace-Module: A", "main").split()
        left = repo.leftovers()
        if code or repo.tree() != tree or len(merges) != 1 or left or "Traceback" in said:
            wrong[at] = (code, merges, left, said[-2000:])
    assert not wrong, wrong


@pytest.mark.parametrize("last", [2, 3])
def test_h2_a_crash_in_any_attempt_costs_none(repo, lives, last):
    """Attempt N of 3 is killed as soon as it has its packet; it goes on as attempt N of 3, with the same packet."""
    shell = f'test "$GRACE_ATTEMPT" = {last} && echo x > src/a.txt || echo $GRACE_ATTEMPT > src/no$GRACE_ATTEMPT.txt'
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 3}})
    for number in range(1, last + 1):
        code, _, said = lives(repo, "run", "plan.yaml", "--yes", at=f"attempts A {number}")
        assert code == -signal.SIGKILL, said
    packets = repo.grace("packets", "--json").exits(0).json["packets"]
    assert [p["attempt"] for p in packets] == list(range(1, last + 1))
    code, _, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    assert repo.module("A")["attempt"] == last
    again = repo.grace("packets", "--json").exits(0).json["packets"]
    assert [p["packet_id"] for p in again] == [p["packet_id"] for p in packets]


def test_h3_a_worker_that_ends_while_nobody_is_there_is_not_run_again(repo, do):
    """A container outlives its controller; what it made in the meantime counts, and it is made once."""
    shell = "printf there > src/a.txt; sleep 5; od -An -N8 -tx8 /dev/urandom >> src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox="docker")
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    do.kill(process)
    run = repo.status()["run_id"]
    (name,) = do.containers(run)
    do.docker("wait", name)
    (made,) = repo.path.glob(".git/grace/runs/*/work/*/layers/*/**/a.txt")
    text = made.read_text()
    repo.grace("resume", run).exits(0)
    assert repo.show("src/a.txt") == text.strip("\n")
    assert repo.module("A")["attempt"] == 1
    assert not do.rescued(repo, run, "A")
    assert repo.leftovers() == []


def test_h3_a_verdict_that_is_known_is_not_asked_for_again(repo, lives):
    """A check that ran is evidence: a crash after it does not run it, or the worker, once more."""
    shell = "od -An -N8 -tx8 /dev/urandom > src/a.txt"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, checks=["test -f src/a.txt"])
    code, _, said = lives(repo, "run", "plan.yaml", "--yes", at="work work")
    assert code == -signal.SIGKILL, said
    run = repo.status()["run_id"]
    made = repo.show("src/a.txt", f"grace/{run}/A/attempt-1")
    code, _, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    assert repo.show("src/a.txt") == made
