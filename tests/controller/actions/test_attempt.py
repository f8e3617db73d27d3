"""One attempt: packet, worker, tree, verdict; kept on refs whatever comes of it."""

import pytest

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def write(path, text, code=0):
    def script(mounts, job):
        (mounts["/repo"] / path).write_text(text)
        return code

    return script


def judged(world):
    return [e["data"] for e in world.events() if e["type"] == "attempt.judged"]


def test_r2_work_of_a_worker_that_failed_is_kept_and_not_merged(world):
    world.scripts["work"] = write("src/a.txt", "good looking\n", 3)
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"], "limits": {"attempts": 1}}})
    world.run("--yes").exits(1)
    assert judged(world)[0]["findings"][0]["code"] == "worker.exit"
    (ref,) = world.refs("refs/grace/rescue")
    assert world.show("src/a.txt", ref) == "good looking"
    assert world.saga() == []


def test_findings_are_fed_back_and_each_attempt_has_its_own_branch(world):
    tries = iter(["README.md", "src/a.txt"])
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / next(tries)).write_text("x") and 0
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    world.run("--yes").exits(0)
    first, second = world.grace("packets", "--json").json["packets"]
    assert first["findings"] == []
    assert [f["code"] for f in second["findings"]][:1] == ["scope.outside"]
    assert first["packet_id"] != second["packet_id"]
    kept = world.refs(f"refs/grace/runs/{world.run_id}/A")
    assert [ref.rpartition("/")[2] for ref in sorted(kept)] == ["attempt-1", "attempt-2"]


def test_the_same_failure_twice_asks_a_person_and_a_yes_is_one_more_attempt(world):
    world.scripts["work"] = write("README.md", "x\n")
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"], "limits": {"attempts": 5}}})
    world.run().exits(4)
    assert world.attempts() == {"A": 2}
    assert world.status()["modules"][0]["waits_for"] == "stuck"
    world.scripts["work"] = write("src/a.txt", "x\n")
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert world.attempts() == {"A": 3}
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.states() == {"A": "done"}


def test_out_of_attempts_fails(world):
    texts = iter("abc")
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / f"src/{next(texts)}.txt").write_text("x") and 0
    world.plan({"A": {"run": "work", "write_scope": ["src/x.txt"], "limits": {"attempts": 2}}})
    world.run("--yes").exits(1)
    assert world.attempts() == {"A": 2}
    assert world.states() == {"A": "failed"}
    assert len(world.refs("refs/grace/rescue")) == 2


def test_a_deadline_is_final(world, monkeypatch):
    from packets.outcome import StopReason
    from sandbox.memory import MemorySandbox
    from sandbox.protocol import Ending

    world.plan(ONE)
    monkeypatch.setattr(MemorySandbox, "wait", lambda self, job, cancelled: Ending(None, StopReason.DEADLINE, 1.0))
    world.run("--yes").exits(1)
    assert world.attempts() == {"A": 1}
    assert judged(world)[0]["final"] == "the deadline was reached"


def test_an_attempt_starts_from_the_integrated_tip_and_hears_what_came_before(world):
    world.plan({**ONE, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}})
    world.run("--yes").exits(0)
    a, b = world.grace("packets", "--json").json["packets"]
    merged = next(e["data"]["commit"] for e in world.events() if e["type"] == "merge.done")
    assert b["base"]["commit"] == merged
    assert any("A delivered: Do A (src/a.txt)" in line for line in b["plan_excerpt"])
    assert a["base"]["commit"] == world.git("rev-parse", f"{merged}~1")


@pytest.mark.parametrize("conflict", [False, True])
def test_a_persons_tree_is_brought_over_to_the_new_base(world, conflict):
    from controller.actions.attempt import _persons
    from sandbox.git import Entry

    world.plan(ONE)
    world.run().exits(4)
    with world.context() as ctx:
        git = ctx.git
        before = ctx.records.attempt("A", 1)
        moved = git.write_tree(before.packet.base.tree, {"src/new.txt": Entry("100644", git.write_blob(b"new\n"))})
        if conflict:
            moved = git.write_tree(moved, {"src/a.txt": Entry("100644", git.write_blob(b"theirs\n"))})
        left = git.write_tree(before.outcome.head_tree, {"src/a.txt": Entry("100644", git.write_blob(b"mine\n"))})
        base = before.packet.base.model_copy(update={"tree": moved})
        packet = before.packet.model_copy(update={"attempt": 2, "base": base})
        outcome = _persons(ctx, packet, left)
        entries = git.entries(outcome.head_tree)
        assert (outcome.exit_code, outcome.engine) == (0, "person")
        assert git.blob(entries["src/a.txt"].blob) == b"mine\n"
        assert "src/new.txt" in entries, "what others did stays"
