"""What people say: it is stored first, counts once, and only for what they saw."""

import json

import pytest

from controller.lock import held
from controller.store.records import Records

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}}}
CHAIN = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}}


def subjects(world):
    return [a["subject"] for a in world.status()["approvals"]]


def answer_all(world, verb="approve", limit=10):
    """Say the same word to everything until the run is over; returns what was asked."""
    asked = []
    for _ in range(limit):
        waiting = subjects(world)
        if not waiting:
            break
        asked += waiting
        for subject in waiting:
            world.grace(verb, world.run_id, subject).exits(0)
        world.grace("resume", world.run_id)
    return asked


@pytest.mark.parametrize(
    ("profile", "asked"),
    [
        ("safe", ["module:A", "module:B", "landing:one"]),
        ("balanced", ["wave:1", "landing:one"]),
        ("fast", ["landing:one"]),
    ],
)
def test_each_profile_asks_as_often_as_it_says(world, profile, asked):
    world.plan(TWO)
    said = world.run("--profile", profile).exits(4)
    assert f"grace approve {world.run_id}" in said.out, "the next command"
    assert sorted(answer_all(world)) == sorted(asked)
    assert world.states() == {"A": "done", "B": "done"}
    world.agrees()
    assert world.leftovers() == []


def test_yes_answers_merges_and_landings(world):
    world.plan(TWO, defaults={"profile": "safe"})
    world.run("--yes").exits(0)
    assert "approval.asked" not in world.types()


def test_nothing_is_merged_before_the_yes_nor_landed_before_its_own(world):
    world.plan(TWO)
    head = world.head
    world.run().exits(4)
    assert world.saga() == []
    assert set(world.states().values()) == {"waiting"}
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert set(world.states().values()) == {"asleep"}
    assert world.head == head
    world.grace("approve", world.run_id, "landing:one").exits(0)
    world.grace("resume").exits(0)
    assert {"src/a.txt", "src/b.txt"} <= world.files("main")


@pytest.mark.parametrize("subject", ["wave:1", "1"])
def test_a_question_is_named_by_its_subject_its_last_part_or_a_module(world, subject):
    world.plan(TWO)
    world.run().exits(4)
    said = world.grace("approve", world.run_id, subject).exits(0)
    assert "approved wave:1" in said.out
    assert f"grace resume {world.run_id}" in said.out, "no controller runs: it says when it counts"


def test_a_yes_to_one_module_is_no_yes_to_the_others_of_its_wave(world):
    world.plan(TWO)
    world.run().exits(4)
    said = world.grace("approve", world.run_id, "A").exits(2)
    assert "A, B together" in said.err
    assert f"grace approve {world.run_id} wave:1" in said.err
    assert subjects(world) == ["wave:1"]
    world.grace("reject", world.run_id, "B", "--final").exits(0)
    world.grace("resume").exits(4)
    assert "approved wave:1" in world.grace("approve", world.run_id, "A").exits(0).out


@pytest.mark.parametrize(
    "command", [("approve", "", "wave:1"), ("cancel", ""), ("clean", "", "--force"), ("status", "")]
)
def test_an_empty_id_is_not_the_newest_run(world, command):
    world.plan(TWO)
    world.run().exits(4)
    assert "is empty" in world.grace(*command).exits(2).err
    assert subjects(world) == ["wave:1"]
    assert world.status()["state"] == "waiting"


def test_a_yes_that_came_in_time_counts_though_the_time_is_over_when_it_is_taken_in(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("approve", world.run_id, "wave:1").exits(0)
    lapse(world)
    assert "wave:1 is answered; it counts when the run goes on" in world.grace("status").exits(0).out
    assert "answered already" in world.grace("approve", world.run_id, "wave:1").exits(2).err
    world.grace("resume").exits(4)
    assert world.types().count("approval.lapsed") == 0
    assert set(world.states().values()) == {"asleep"}


def test_of_two_answers_at_the_same_moment_the_second_is_told_that_it_does_not_count(world, monkeypatch):
    from controller.cli import people

    world.plan(TWO)
    world.run().exits(4)
    find = people._question

    def late(git, store, run, wanted):
        found = find(git, store, run, wanted)
        if not store.unread(run.run_id):
            with monkeypatch.context() as quiet:
                quiet.setattr(people, "_question", find)
                people.approve(run.run_id, "wave:1")
        return found

    monkeypatch.setattr(people, "_question", late)
    refused = world.grace("reject", world.run_id, "A", "--reason", "no").exits(2)
    assert "answered a moment before" in refused.err
    world.grace("resume").exits(4)
    assert set(world.states().values()) == {"asleep"}


def test_the_status_says_that_the_time_of_a_question_is_over(world):
    world.plan(TWO)
    world.run().exits(4)
    assert [question["stands"] for question in world.status()["approvals"]] == ["open"]
    lapse(world)
    assert [question["stands"] for question in world.status()["approvals"]] == ["lapsed"]
    said = world.grace("status").exits(0).out
    assert f"nobody answered wave:1 in time; it asks again: grace resume {world.run_id}" in said
    assert "waits for you" not in said


def test_words_that_are_no_text_are_kept_as_they_can_be(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("say", world.run_id, "A", "b\udcffse\x1b[2J").exits(0)
    world.grace("reject", world.run_id, "B", "--reason", "\udcfe").exits(0)
    shown = world.grace("resume").exits(4).out
    assert "\x1b" not in shown
    assert {"b\\xffse\\x1b[2J", "\\xfe"} <= {line.rpartition(": ")[2] for line in shown.splitlines()}


def test_a_subject_that_is_not_asked_is_refused_with_what_is(world):
    world.plan(TWO)
    world.run().exits(4)
    said = world.grace("approve", world.run_id, "landing:one").exits(2)
    assert "wave:1" in said.err
    assert world.grace("resume", world.run_id).exits(4)


def test_i9_an_approval_while_no_controller_runs_counts_once(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("approve").exits(0)
    again = world.grace("approve").exits(2)
    assert "answered already" in again.err
    refused = world.grace("reject", world.run_id, "A", "--reason", "too late").exits(2)
    assert "answered already" in refused.err
    world.grace("resume").exits(4)
    assert subjects(world) == ["landing:one"], "the yes was for the wave, not for what came after"
    assert world.types().count("approval.granted") == 1


def test_i7_a_yes_to_an_older_tree_is_void(world):
    world.plan(TWO)
    world.run().exits(4)
    old = world.status()["approvals"][0]
    world.grace("reject", world.run_id, "A", "--reason", "again").exits(0)
    world.grace("resume").exits(4)
    new = world.status()["approvals"][0]
    assert (old["subject"], old["key"]) != (new["subject"], new["key"])
    with world.store() as store:
        from packets.events import Event, EventType

        data = {"subject": old["subject"], "key": old["key"]}
        store.post(world.run_id, Event(type=EventType.GRANTED, actor="somebody", data=data))
    world.grace("resume").exits(4)
    assert subjects(world) == ["wave:1"]
    assert world.saga() == []


def test_a_no_with_a_reason_reaches_the_next_packet(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("reject", world.run_id, "A", "--reason", "name it better").exits(0)
    world.grace("resume").exits(4)
    assert world.attempts() == {"A": 2, "B": 1}, "only the one that was named is tried again"
    packets = world.grace("packets", world.run_id, "A", "--json").exits(0).json["packets"]
    assert [f["message"] for f in packets[0]["findings"]] == []
    assert [(f["code"], f["message"]) for f in packets[1]["findings"]] == [("person.rejected", "name it better")]
    answer_all(world)
    assert world.states() == {"A": "done", "B": "done"}


def test_a_final_no_ends_the_module_and_what_needs_it(world):
    world.plan(CHAIN)
    world.run().exits(4)
    world.grace("reject", world.run_id, "A", "--final").exits(0)
    said = world.grace("resume").exits(1)
    assert world.states() == {"A": "failed", "B": "cancelled"}
    assert "failed: A" in said.out
    assert "src/a.txt" not in world.files("main")
    assert world.leftovers() == []


def test_a_no_to_a_landing_ends_the_run(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    head = world.head
    world.grace("reject", world.run_id, "landing:one", "--reason", "not today").exits(0)
    said = world.grace("resume").exits(1)
    assert "landing:one was rejected by" in said.out
    assert world.head == head
    assert set(world.states().values()) == {"asleep"}
    world.agrees()


def lapse(world):
    with world.store() as store, store.db.transaction() as db:
        db.execute("UPDATE approvals SET lapses_at='2000-01-01T00:00:00.000+00:00' WHERE state='open'")


def test_a_lapsed_question_executes_nothing_also_when_no_controller_runs(world):
    world.plan(TWO)
    world.run().exits(4)
    lapse(world)
    said = world.grace("approve").exits(4)
    assert "wave:1" in said.err
    assert f"grace resume {world.run_id}" in said.err
    assert set(world.states().values()) == {"paused"}
    assert world.status()["state"] == "paused"
    assert subjects(world) == []
    assert world.types().count("approval.lapsed") == 1

    world.grace("resume").exits(4)
    assert subjects(world) == ["wave:1"], "one resume asks again"
    assert world.attempts() == {"A": 1, "B": 1}
    answer_all(world)
    assert world.states() == {"A": "done", "B": "done"}


def test_a_resume_after_the_time_is_over_asks_again_at_once(world):
    world.plan(TWO)
    world.run().exits(4)
    lapse(world)
    world.grace("resume").exits(4)
    assert subjects(world) == ["wave:1"]
    assert set(world.states().values()) == {"waiting"}


def test_a_yes_in_time_counts_when_it_is_taken_in_late(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("approve").exits(0)
    lapse(world)
    world.grace("resume").exits(4)
    assert subjects(world) == ["landing:one"]


def test_a_question_lapses_after_the_plans_timeout(world):
    world.plan(TWO, approval_timeout="1h")
    world.run().exits(4)
    asked = world.status()["approvals"][0]
    assert int(asked["lapses_at"][11:13]) == (int(asked["asked_at"][11:13]) + 1) % 24


def test_a_cancelled_run_asks_nothing_any_more(world):
    world.plan(TWO)
    world.run().exits(4)
    world.grace("cancel").exits(0)
    assert subjects(world) == []
    assert world.grace("approve").exits(2)
    assert world.states() == {"A": "cancelled", "B": "cancelled"}
    assert world.leftovers() == []
    assert world.status()["exit"] == 1


@pytest.mark.parametrize("verb", ["pause", "cancel", "approve", "reject"])
def test_a_run_that_is_over_takes_no_word(world, verb):
    world.plan(TWO)
    world.run("--yes").exits(0)
    head = world.head
    world.grace(verb, world.run_id).exits(2)
    assert world.grace("resume").exits(0)
    assert world.head == head


def test_a_run_that_stands_still_is_not_paused_twice(world):
    world.plan(TWO)
    world.run().exits(4)
    assert "stands still" in world.grace("pause").exits(0).out
    world.grace("resume").exits(4)
    assert set(world.states().values()) == {"waiting"}


def test_a_pause_that_came_too_late_does_not_stop_the_next_controller(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx, held(ctx.folder, ctx.run_id):
        assert "pausing" in world.grace("pause").exits(0).out  # read by nobody: the controller ends at this moment
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.states() == {"A": "done", "B": "done"}


def test_cancel_of_a_run_whose_controller_died_before_its_first_event_starts_no_work(world):
    started = []
    world.scripts["work"] = lambda mounts, job: started.append(job.name) or 0
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    from controller.begin import Options, submit
    from sandbox.git import Git

    with Git.discover(world.path) as git:
        submit(git, world.path / "plan.yaml", Options(sandbox="memory"), lambda _text: None)
    world.grace("cancel").exits(0)
    assert started == []
    assert world.states() == {"A": "cancelled"}
    assert world.leftovers() == []


def test_an_edit_by_hand_is_judged_and_asked_about_like_any_attempt(world):
    from packets.events import Event, EventType
    from sandbox.git import Entry, Git

    world.plan(TWO)
    world.run().exits(4)
    question = world.status()["approvals"][0]
    with world.store() as store, Git.discover(world.path) as git:
        last = Records(store, world.run_id).attempts("A")[-1]
        better = git.write_tree(last.outcome.head_tree, {"src/a.txt": Entry("100644", git.write_blob(b"better\n"))})
        data = {"subject": question["subject"], "key": question["key"], "module": "A", "tree": better}
        store.post(world.run_id, Event(type=EventType.EDITED, actor="somebody", data=data))
    world.grace("resume").exits(4)
    assert world.attempts() == {"A": 2, "B": 1}
    assert [a["key"] == question["key"] for a in world.status()["approvals"]] == [False], "the old yes is void"
    review = world.grace("review", world.run_id, "A", "--json").exits(0).json["reviews"][0]
    assert review["outcome"]["engine"] == "person"
    assert review["head_tree"] == better
    answer_all(world)
    assert world.show("src/a.txt", "main") == "better"
    world.agrees()


def test_an_edit_out_of_scope_is_rejected_and_the_next_attempt_is_the_workers(world):
    from packets.events import Event, EventType
    from sandbox.git import Entry, Git

    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run().exits(4)
    question = world.status()["approvals"][0]
    with world.store() as store, Git.discover(world.path) as git:
        last = Records(store, world.run_id).attempts("A")[-1]
        wrong = git.write_tree(last.outcome.head_tree, {"README.md": Entry("100644", git.write_blob(b"mine\n"))})
        data = {"subject": question["subject"], "key": question["key"], "module": "A", "tree": wrong}
        store.post(world.run_id, Event(type=EventType.EDITED, actor="somebody", data=data))
    world.grace("resume").exits(4)
    judged = [e["data"] for e in world.events() if e["type"] == "attempt.judged"]
    assert [j["decision"] for j in judged] == ["accept", "revise", "accept"]
    assert judged[1]["findings"][0]["code"] == "scope.outside"
    answer_all(world)
    assert world.show("README.md", "main") == "a repository"
    assert any("/A/2" in ref for ref in world.refs("refs/grace/rescue")), "what the person wrote is kept"


def test_the_questions_of_two_runs_are_their_own(world):
    world.plan(TWO)
    world.run().exits(4)
    first = world.run_id
    world.run("--new").exits(4)
    second = world.run_id
    assert first != second
    world.grace("approve", second).exits(0)
    world.grace("resume", first).exits(4)
    assert [a["subject"] for a in world.status(first)["approvals"]] == ["wave:1"]
    assert json.dumps(world.status(first)["approvals"])


def test_a_no_that_leads_to_a_fresh_attempt_needs_a_reason(world):
    """Without one the attempt would be the same again, and `grace reject` alone would throw a wave away."""
    world.plan(TWO)
    world.run().exits(4)
    for subject in ([], [world.run_id], [world.run_id, "A"]):
        said = world.grace("reject", *subject).exits(2)
        assert "--reason" in said.err
        assert "--final" in said.err
    assert subjects(world) == ["wave:1"]
    world.grace("approve").exits(0)  # nothing was answered
    world.grace("resume").exits(4)
    world.grace("reject", world.run_id, "landing:one").exits(0)  # no attempt follows
    world.grace("resume").exits(1)


def test_the_end_of_a_waiting_run_names_the_answers_to_each_question(world):
    world.plan(TWO, defaults={"profile": "safe"})
    said = world.run().exits(4).out
    for module in TWO:
        (key,) = [q["key"][:8] for q in world.status()["approvals"] if q["subject"] == f"module:{module}"]
        assert f"grace approve {world.run_id} module:{module}@{key}" in said
        assert f"grace reject {world.run_id} module:{module}@{key} --reason" in said
    assert f"grace resume {world.run_id}" in said


@pytest.mark.parametrize("answers", [[], ["wave:1"], ["wave:1", "wave:2"], ["wave:1", "wave:2", "landing:one"]])
def test_cancel_with_rollback_leaves_nothing_merged_however_far_the_run_came(world, answers):
    world.plan({**CHAIN, "C": {"writes": {"src/c.txt": "c"}, "phase": "two"}})
    before = world.git("rev-parse", "main^{tree}")
    world.run().exits(4)
    for subject in answers:
        world.grace("approve", world.run_id, subject).exits(0)
        world.grace("resume", world.run_id).exits(4)
    world.grace("cancel", world.run_id, "--rollback").exits(0)
    assert world.status()["state"] == "cancelled"
    assert bool(world.saga_done()) is ("landing:one" in answers), "the merges stand, and their reverts beside them"
    assert world.git("rev-parse", "main^{tree}") == before
    assert world.git("rev-parse", f"refs/grace/runs/{world.run_id}/integration^{{tree}}") == before
    world.grace("cancel", world.run_id, "--rollback").exits(0)
    assert world.leftovers() == []
