"""What people say to modules: the next attempt hears it, sleepers wake, and nothing unheard is accepted."""

import json
import time

import pytest

A = {"A": {"run": "a", "write_scope": ["src/a.txt"]}}
PAIR = {**A, "B": {"run": "b", "write_scope": ["src/b.txt"], "depends_on": ["A"]}}


def writes(world, name, seen):
    """An agent that writes down how many messages its packet holds."""

    def agent(mounts, job):
        packet = json.loads((mounts["/grace"] / "packet.json").read_text())["execution_packet"]
        said = [f["message"] for f in packet["findings"] if f["code"] == "person.said"]
        seen.append(said)
        (mounts["/repo"] / "src").mkdir(exist_ok=True)
        (mounts["/repo"] / f"src/{name}.txt").write_text(f"{len(said)} said\n")
        return 0

    world.scripts[name] = agent


@pytest.fixture
def talk(world):
    seen = {"a": [], "b": []}
    for name, heard in seen.items():
        writes(world, name, heard)
    return seen


def test_a_message_wakes_a_sleeper_into_an_attempt_that_hears_it(world, talk):
    world.plan(PAIR)
    world.run().exits(4)
    world.grace("approve", world.run_id, "wave:1").exits(0)
    world.grace("resume", world.run_id).exits(4)
    assert world.states() == {"A": "asleep", "B": "waiting"}
    said = world.grace("say", world.run_id, "A", "write more").exits(0)
    assert "wakes" in said.out
    assert "resume" in said.out
    world.grace("resume", world.run_id).exits(4)
    assert talk["a"] == [[], ["write more"]]
    assert world.attempts() == {"A": 2, "B": 1}
    while world.status()["approvals"]:
        world.grace("approve", world.run_id, world.status()["approvals"][0]["subject"]).exits(0)
        world.grace("resume", world.run_id)
    assert world.states() == {"A": "done", "B": "done"}
    assert world.git("show", "main:src/a.txt").strip() == "1 said"
    assert [m for k, m in world.saga_done() if k == "merge"] == ["A", "A", "B"]
    assert world.leftovers() == []


def test_a_message_to_what_waits_for_a_yes_voids_the_question(world, talk):
    world.plan(A)
    world.run().exits(4)
    (asked,) = world.status()["approvals"]
    world.grace("say", world.run_id, "A", "not yet").exits(0)
    world.grace("approve", world.run_id, "wave:1").exits(0)  # too late: it was said before
    world.grace("resume", world.run_id).exits(4)
    assert talk["a"] == [[], ["not yet"]]
    (again,) = world.status()["approvals"]
    assert (again["subject"], again["key"] != asked["key"]) == ("wave:1", True)
    assert world.saga_done() == []


def test_a_yes_that_names_what_was_looked_at_is_no_yes_to_what_came_since(world, talk):
    world.plan(A)
    said = world.run().exits(4)
    (asked,) = world.status()["approvals"]
    named = f"wave:1@{asked['key'][:8]}"
    assert f"grace approve {world.run_id} {named}" in said.out
    assert f"grace approve {world.run_id} {named}" in world.grace("status").exits(0).out
    world.grace("say", world.run_id, "A", "not yet").exits(0)
    world.grace("resume", world.run_id).exits(4)
    refused = world.grace("approve", world.run_id, named).exits(2)
    assert "asks about something else by now" in refused.err
    world.grace("reject", world.run_id, named, "--reason", "no").exits(2)
    assert world.saga_done() == []
    (again,) = world.status()["approvals"]
    world.grace("approve", world.run_id, f"wave:1@{again['key'][:8]}").exits(0)
    world.grace("resume", world.run_id).exits(4)
    assert world.states() == {"A": "asleep"}


def test_a_message_to_all_wakes_nobody(world, talk):
    world.plan(PAIR)
    world.run().exits(4)
    world.grace("approve", world.run_id, "wave:1").exits(0)
    world.grace("resume", world.run_id).exits(4)
    world.grace("say", world.run_id, "be short").exits(0)
    world.grace("resume", world.run_id).exits(4)
    assert (talk["a"], talk["b"]) == ([[]], [[], ["be short"]])


def test_a_worker_that_listens_hears_it_while_it_works(world):
    def listens(mounts, job):
        if not list((mounts["/grace"] / "in").glob("message-*")):
            world.grace("say", world.run_id, "A", "now").exits(0)
        until = time.monotonic() + 60
        while not (came := list((mounts["/grace"] / "in").glob("message-*"))) and time.monotonic() < until:
            time.sleep(0.02)
        (mounts["/repo"] / "src").mkdir(exist_ok=True)
        (mounts["/repo"] / "src/a.txt").write_text(came[0].read_text())
        report = {"heard": [came[0].name.removeprefix("message-")]}
        (mounts["/grace"] / "out/report.json").write_text(json.dumps(report))
        return 0

    world.scripts["a"] = listens
    world.plan(A)
    world.run("--yes").exits(0)
    assert world.attempts() == {"A": 1}
    assert world.git("show", "main:src/a.txt").strip() == "now"


def test_a_worker_that_does_not_listen_is_not_accepted(world, talk):
    plain = world.scripts["a"]

    def told(mounts, job):
        if not talk["a"]:
            world.grace("say", world.run_id, "A", "too late for this one").exits(0)
        return plain(mounts, job)

    world.scripts["a"] = told
    world.plan(A, defaults={"limits": {"attempts": 1}})
    world.run("--yes").exits(0)
    assert talk["a"] == [[], ["too late for this one"]]
    assert world.attempts() == {"A": 2}, "a person's word is worth an attempt"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["A", ""], "an empty message"),
        (["C", "hello"], "'C' is no module"),
        (["A", "x" * 4001], "4001 characters"),
        (["A", "two", "words"], "in quotes"),
    ],
)
def test_what_nobody_would_hear_is_refused(world, talk, words, message):
    world.plan(A)
    world.run().exits(4)
    said = world.grace("say", world.run_id, *words).exits(2)
    assert message in said.err
    with world.store() as store:
        assert store.unread(world.run_id) == []


def test_a_run_that_is_over_hears_nothing(world, talk):
    world.plan(A)
    world.run("--yes").exits(0)
    assert "is over: done" in world.grace("say", world.run_id, "A", "more").exits(2).err


EXPECTING = {
    "A": {
        "run": "a",
        "write_scope": ["src/a.py", "tests/test_a.py"],
        "depends_on": ["Base"],
        "expected_deltas": {"graph": ["A -> Base"]},
    }
}


@pytest.mark.parametrize("busy", [True, False], ids=["changes-its-own-test", "changes-nothing"])
def test_a_sleeper_that_wakes_is_judged_together_with_what_it_has_merged(world, busy):
    def agent(mounts, job):
        packet = json.loads((mounts["/grace"] / "packet.json").read_text())["execution_packet"]
        told = {f["code"] for f in packet["findings"]}
        if told and not busy:
            assert told == {"base.own_work", "person.said"}
            return 0
        repo = mounts["/repo"]
        (repo / "tests").mkdir(exist_ok=True)
        (repo / "src/a.py").write_text("from src import base\n\n\ndef one():\n    return base.value()\n")
        extra = "    assert a.one() > 0\n    assert a.one() < 2\n" if told else "    assert a.one() == 1\n"
        (repo / "tests/test_a.py").write_text(f"from src import a\n\n\ndef test_one_is_one():\n{extra}")
        return 0

    world.scripts["a"] = agent
    world.commit({"src/__init__.py": "\n", "src/base.py": "def value():\n    return 1\n"})
    world.plan(EXPECTING, modules_map={"Base": ["src/base.py"]})
    world.run("--profile", "fast").exits(4)
    assert world.states() == {"A": "asleep"}
    world.grace("say", world.run_id, "A", "thank you").exits(0)
    world.grace("resume", world.run_id).exits(4)
    assert (world.states(), world.attempts()) == ({"A": "asleep"}, {"A": 2})
    world.grace("approve", world.run_id).exits(0)
    world.grace("resume", world.run_id).exits(0)
    assert world.states() == {"A": "done"}
    assert ("> 0" in world.show("tests/test_a.py", "main")) == busy


def test_a_patch_that_is_merged_cannot_be_made_anew(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    world.grace("say", world.run_id, "A", "thank you").exits(0)
    world.grace("resume", world.run_id).exits(4)
    assert (world.states(), world.attempts()) == ({"A": "asleep"}, {"A": 2})


def test_a_sleeper_that_wakes_must_leave_what_others_use_by_now(world):
    names = iter(["old", "new"])

    def agent(mounts, job):
        (mounts["/repo"] / "src/a.py").write_text(f"def {next(names)}():\n    return 1\n")
        return 0

    world.scripts["a"] = agent
    world.scripts["b"] = lambda mounts, job: (
        (mounts["/repo"] / "src/b.py").write_text("from src import a\n\n\ndef two():\n    return a.old()\n") and 0
    )
    world.commit({"src/__init__.py": "\n"})
    plan = {
        "A": {"run": "a", "write_scope": ["src/a.py"], "limits": {"attempts": 1}},
        "B": {"run": "b", "write_scope": ["src/b.py"], "depends_on": ["A"]},
    }
    world.plan(plan)
    world.run("--profile", "fast").exits(4)
    world.grace("say", world.run_id, "A", "call it new").exits(0)
    world.grace("resume", world.run_id).exits(1)
    codes = [f["code"] for f in world.status()["modules"][0]["findings"]]
    assert "graph.surface_in_use" in codes


def test_a_module_that_the_plan_does_not_have_is_refused_before_the_run_has_begun(world, talk):
    from controller.begin import Options, submit
    from sandbox.git import Git

    world.plan(PAIR)
    with Git.discover(world.path) as git:
        submit(git, world.path / "plan.yaml", Options(sandbox="memory"), lambda _text: None)
    assert "its modules: A, B" in world.grace("say", world.run_id, "C", "hear me").exits(2).err
    world.grace("say", world.run_id, "A", "hear me").exits(0)
    world.grace("resume").exits(4)
    assert talk["a"][-1] == ["hear me"]


def test_a_module_alone_is_no_message_to_all(world, talk):
    world.plan(PAIR)
    world.run().exits(4)
    said = world.grace("say", world.run_id, "A").exits(2)
    assert "nothing is said to A" in said.err
    with world.store() as store:
        assert store.unread(world.run_id) == []
