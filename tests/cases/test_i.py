"""Rows I: people. An answer belongs to one run and one tree."""

import time

from controller.store.store import Store
from packets.events import Event, EventType

ONE = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}
TWO = {"B": {"shell": "echo y > src/b.txt", "write_scope": ["src/b.txt"]}}


def post(repo, run, subject, key):
    """Leave a yes as `grace approve` does, whatever is asked now."""
    store = Store(repo.path / ".git" / "grace" / "state.db")
    store.post(run, Event(type=EventType.GRANTED, actor="somebody", data={"subject": subject, "key": key}))
    store.close()


def asked(repo, run):
    (question,) = repo.status(run)["approvals"]
    return question["subject"], question["key"]


def test_i6_a_yes_belongs_to_one_run(repo):
    repo.plan(ONE)
    repo.plan(TWO, name="two.yaml")
    repo.grace("run", "plan.yaml").exits(4)
    first = repo.status()["run_id"]
    repo.grace("run", "two.yaml").exits(4)
    second = repo.status()["run_id"]
    assert first != second
    assert asked(repo, first)[0] == asked(repo, second)[0] == "wave:1"

    refused = repo.grace("approve").exits(2).err
    assert first in refused, "two runs ask, and none was named"
    assert second in refused
    assert repo.grace("reject").exits(2).err == refused

    repo.grace("approve", first).exits(0)
    repo.grace("resume", second).exits(4)
    assert repo.module("B", second)["state"] == "waiting", "the other's yes is no yes"
    post(repo, second, *asked(repo, first))
    repo.grace("resume", second).exits(4)
    assert repo.module("B", second)["state"] == "waiting", "nor is one with the other's key"
    repo.grace("resume", first).exits(4)
    assert repo.module("A", first)["state"] == "asleep"


def test_i7_a_yes_to_a_tree_that_was_worked_over_is_void(repo):
    shell = 'echo "$GRACE_ATTEMPT" > src/a.txt'
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 3}})
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    old = asked(repo, run)
    repo.grace("reject", run, "--reason", "once more").exits(0)
    post(repo, run, *old)
    repo.grace("resume", run).exits(4)
    new = asked(repo, run)
    assert new != old
    post(repo, run, *old)
    repo.grace("resume", run).exits(4)
    module = repo.module("A", run)
    assert (module["state"], module["attempt"]) == ("waiting", 2), "the old yes was to the old tree"
    assert asked(repo, run) == new
    assert "once more" in repo.grace("packets", run).exits(0).out
    repo.grace("approve", run).exits(0)
    repo.grace("resume", run).exits(4)
    assert repo.module("A", run)["state"] == "asleep"


def test_i7_a_yes_to_a_landing_is_void_when_the_base_moved(repo):
    repo.plan(ONE, defaults={"profile": "fast"}, checks=["test -f src/a.txt"])
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    old = asked(repo, run)
    repo.grace("approve", run).exits(0)
    moved = repo.commit("meanwhile", {"meanwhile.txt": "mine\n"})
    repo.grace("resume", run).exits(4)
    assert repo.head == moved
    assert asked(repo, run) != old
    post(repo, run, *old)
    repo.grace("resume", run).exits(4)
    assert repo.head == moved, "what was approved was another tree"
    repo.grace("approve", run).exits(0)
    repo.grace("resume", run).exits(0)
    assert repo.is_ancestor(moved, "main")
    assert repo.show("src/a.txt") == "x"


def test_i9_a_yes_that_nobody_hears_counts_at_the_next_resume(repo):
    repo.plan(ONE)
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    said = repo.grace("approve", run).exits(0).out
    assert f"grace resume {run}" in said
    assert repo.grace("approve", run).code in {0, 2}, "twice is once"
    repo.grace("resume", run).exits(4)
    assert repo.module("A")["state"] == "asleep"
    assert asked(repo, run)[0] == "landing:one"
    repo.grace("approve", run).exits(0)
    repo.grace("resume", run).exits(0)
    assert repo.show("src/a.txt") == "x"


def test_i9_a_no_that_nobody_hears_counts_too(repo):
    repo.plan(ONE)
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    repo.grace("reject", run, "--final").exits(0)
    repo.grace("resume", run).exits(1)
    assert repo.module("A")["state"] == "failed"
    assert "src/a.txt" not in repo.files()


def test_i9_a_yes_that_comes_too_late_counts_for_nothing(repo):
    repo.plan(ONE, approval_timeout="1s")
    head = repo.head
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    time.sleep(1.1)
    refused = repo.grace("approve", run).exits(4).err
    assert "over" in refused
    assert f"grace resume {run}" in refused
    repo.grace("resume", run).exits(4)
    assert repo.head == head
    assert repo.module("A")["state"] in {"waiting", "paused"}
