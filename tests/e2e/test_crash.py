"""kill -9 of the controller, anywhere: `grace resume` comes to the same tree, and nothing is left over."""

import json
import os
import shutil
import signal
import time

import pytest

POINTS = 10


def until(process, seen_enough):
    """Read events until one is enough, then kill -9 the controller; without such a one it ends by itself."""
    seen = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if seen_enough(seen):
            os.kill(process.pid, signal.SIGKILL)
            break
    process.stdout.read()
    process.wait()
    return seen


def working(process):
    """Read events until the first attempt has begun."""
    for line in process.stdout:
        if json.loads(line).get("attempt") == 1:
            return


def first_attempt(seen):
    return seen[-1].get("attempt") == 1


@pytest.fixture(scope="module")
def undisturbed():
    """What a run that nobody kills comes to; the first test fills it."""
    return {}


@pytest.mark.parametrize("point", range(POINTS))
def test_h1_killed_and_resumed(new_shop, undisturbed, point):
    if not undisturbed:
        calm = new_shop("calm")
        events = until(calm.start("run", "plan.yaml", "--yes", "--json"), lambda _: False)
        attempts = {m["id"]: m["attempt"] for m in calm.status()["modules"]}
        undisturbed.update(events=len(events), tree=calm.tree(), attempts=attempts)
    shop = new_shop("shop")
    count = 1 + point * (undisturbed["events"] - 2) // (POINTS - 1)

    until(shop.start("run", "plan.yaml", "--yes", "--json"), lambda seen: len(seen) == count)
    run = shop.status()["run_id"]
    resumed = shop.grace("resume", run, "--json").exits(0)

    assert resumed.events[-1]["type"] == "run.finished"
    assert shop.tree() == undisturbed["tree"]
    status = shop.status()
    assert {m["id"]: m["attempt"] for m in status["modules"]} == undisturbed["attempts"], "a crash costs no attempt"
    assert {m["state"] for m in status["modules"]} == {"done"}
    merged = shop.git("log", "--format=%(trailers:key=Grace-Module,valueonly,separator=%x2C)", "main").split()
    assert sorted(merged) == sorted(undisturbed["attempts"]), "each module is merged once"
    assert status["leftovers"] == []
    assert shop.leftovers() == []
    shop.grace("resume", run).exits(0)  # what is done stays done


def test_h2_a_crash_in_the_second_attempt_of_three(repo):
    shell = (
        'grep -q scope[.]outside "$GRACE_PACKET_JSON" || { echo x > src/b.txt; exit 0; }; sleep 4; echo x > src/a.txt'
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 3}})
    until(repo.start("run", "plan.yaml", "--yes", "--json"), lambda seen: seen[-1].get("attempt") == 2)
    repo.grace("resume", repo.status()["run_id"]).exits(0)
    assert repo.module("A")["attempt"] == 2
    assert repo.show("src/a.txt") == "x"


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"], indirect=True)
def test_a1_unfinished_bytes_are_kept(repo, engine):
    shell = "echo precious > src/a.txt; sleep 60"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, sandbox=engine)
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    work = repo.path / ".git" / "grace" / "runs"
    patience = time.monotonic() + 60
    while not any(path.read_text() == "precious\n" for path in work.rglob("a.txt")):
        assert time.monotonic() < patience, "the worker never wrote"
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    run = repo.status()["run_id"]
    repo.grace("cancel", run).exits(0)
    rescued = [ref for ref in repo.refs() if ref.startswith("refs/grace/rescue/")]
    assert rescued
    assert repo.show("src/a.txt", rescued[-1]) == "precious"
    assert rescued[-1] in repo.grace("status", run).said
    assert repo.leftovers() == []


def test_b7_a_deleted_work_folder_is_made_again(repo):
    repo.plan({"A": {"shell": "sleep 3; echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    until(repo.start("run", "plan.yaml", "--yes", "--json"), first_attempt)
    for folder in repo.path.glob(".git/grace/runs/*/work/*"):
        shutil.rmtree(folder)
    head = repo.head
    repo.grace("resume", repo.status()["run_id"]).exits(0)
    assert repo.show("src/a.txt") == "x"
    assert repo.is_ancestor(head, "main")


def test_d6_a_second_controller_on_one_run_is_refused(repo):
    repo.plan({"A": {"shell": "sleep 5; echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    working(process)
    run = repo.status()["run_id"]
    second = repo.grace("resume", run)
    assert second.code in {0, 2}, second.said
    assert str(process.pid) in second.said, "it says who holds the run"
    process.stdout.read()
    assert process.wait(timeout=60) == 0


def test_d5_cancel_while_it_runs(repo):
    repo.plan({"A": {"shell": "sleep 60; echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    head = repo.head
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    working(process)
    repo.grace("cancel", repo.status()["run_id"]).exits(0)
    process.stdout.read()
    assert process.wait(timeout=30) == 1
    assert repo.module("A")["state"] == "cancelled"
    assert repo.head == head
    assert repo.leftovers() == []


def test_interrupted_by_the_user_exits_130_and_resumes(repo):
    repo.plan({"A": {"shell": "sleep 3; echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    working(process)
    os.kill(process.pid, signal.SIGINT)
    said = process.stdout.read()
    assert process.wait(timeout=30) == 130, said
    assert "Traceback" not in repo.errors.read_text()
    repo.grace("resume", repo.status()["run_id"]).exits(0)
    assert repo.show("src/a.txt") == "x"
    assert repo.leftovers() == []
