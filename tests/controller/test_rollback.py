"""Undoing: all of it or nothing, before and after a landing, and over any crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from controller.store.records import Records

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

CHAIN = {
    "A": {"writes": {"src/a.txt": "a"}},
    "B": {"writes": {"src/b.txt": "b"}},
    "C": {"writes": {"src/c.txt": "c"}, "depends_on": ["A"]},
}
PHASES = {
    "A": {"writes": {"src/a.txt": "a"}, "phase": "first"},
    "B": {"writes": {"src/b.txt": "b"}, "phase": "first"},
    "C": {"writes": {"src/c.txt": "c"}, "phase": "second"},
}


def merged(world):
    """Leave CHAIN merged and not landed: only the landing is asked."""
    world.plan(CHAIN)
    world.run("--profile", "fast").exits(4)
    assert set(world.states().values()) == {"asleep"}


def rollback(world, *args):
    return world.grace("rollback", world.run_id, *args, "--json")


def integration(world):
    refs = {**world.refs("refs/grace/runs"), **world.refs("refs/heads/grace")}
    return next(commit for ref, commit in refs.items() if ref.endswith("/integration"))


@pytest.mark.parametrize(
    ("target", "undone"),
    [
        (("--to", "start"), ["A", "B", "C"]),
        (("--to", "phase:one"), ["A", "B", "C"]),
        (("--to", "wave:2"), ["C"]),
        (("--module", "A"), ["A", "C"]),
        (("--module", "B"), ["B"]),
    ],
)
def test_before_a_landing_what_is_meant_goes_and_the_rest_stays(world, target, undone):
    merged(world)
    head = world.head
    said = rollback(world, *target).exits(0).json
    assert said["modules"] == undone
    assert said["reverted"] == []
    states = world.states()
    assert {m for m, s in states.items() if s == "queued"} == set(undone)
    gone = {f"src/{m.lower()}.txt" for m in undone}
    assert world.files(integration(world)) & {"src/a.txt", "src/b.txt", "src/c.txt"} == {
        "src/a.txt", "src/b.txt", "src/c.txt"
    } - gone  # fmt: skip
    rescued = world.refs("refs/grace/rescue")
    assert all(any(f"/{m}/1" in ref for ref in rescued) for m in undone), "what was undone hangs on a ref"
    assert world.head == head
    world.agrees()

    again = rollback(world, *target).exits(0).json
    assert again["modules"] == []
    world.agrees()

    world.grace("resume").exits(4)
    world.grace("approve", world.run_id, "landing:one").exits(0)
    world.grace("resume").exits(0)
    assert set(world.states().values()) == {"done"}
    assert {"src/a.txt", "src/b.txt", "src/c.txt"} <= world.files("main")
    world.agrees()
    assert world.leftovers() == []


@pytest.mark.parametrize(
    ("target", "gone"), [(("--to", "start"), "abc"), (("--module", "A"), "ac"), (("--to", "wave:2"), "c")]
)
def test_after_a_landing_by_revert_commits_and_a_mark(world, target, gone):
    world.plan(CHAIN)
    world.run("--yes").exits(0)
    landed = world.head
    said = rollback(world, *target).exits(0).json
    assert said["reverted"] == [m.upper() for m in gone]
    assert set(world.states().values()) == {"done"}, "it invents no transition"
    assert {m["id"] for m in world.status()["modules"] if m["reverted"]} == {m.upper() for m in gone}
    assert world.git("merge-base", landed, "main") == landed, "the branch is never rewritten"
    assert world.files("main") & {"src/a.txt", "src/b.txt", "src/c.txt"} == {
        f"src/{m}.txt" for m in set("abc") - set(gone)
    }
    assert world.git("status", "--porcelain", "-uno") == ""
    reverts = [s for s in world.subjects() if s.startswith("Revert ")]
    assert len(reverts) == len(gone)
    world.agrees()
    assert world.leftovers() == []

    head = world.head
    assert rollback(world, *target).exits(0).json["reverted"] == []
    assert world.head == head
    world.grace("resume").exits(0)
    assert world.head == head, "what is over stays over"


def test_a_rolled_back_plan_can_be_run_again(world):
    world.plan(CHAIN)
    world.run("--yes").exits(0)
    first = world.run_id
    rollback(world, "--to", "start").exits(0)
    world.run("--yes").exits(0)
    assert world.run_id != first
    assert {"src/a.txt", "src/b.txt", "src/c.txt"} <= world.files("main")


def test_partly_landed_undoes_both_kinds_and_a_resume_lands_the_rest(world):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert world.states() == {"A": "done", "B": "done", "C": "asleep"}
    said = rollback(world, "--to", "start").exits(0).json
    assert (said["modules"], said["reverted"]) == (["C"], ["A", "B"])
    assert world.states() == {"A": "done", "B": "done", "C": "queued"}
    assert not {"src/a.txt", "src/b.txt"} & world.files("main")
    world.agrees()

    world.grace("resume").exits(4)
    world.grace("approve", world.run_id, "landing:second").exits(0)
    world.grace("resume")
    while world.status()["approvals"]:
        world.grace("approve").exits(0)
        world.grace("resume")
    assert world.states()["C"] == "done"
    assert world.files("main") & {"src/a.txt", "src/b.txt", "src/c.txt"} == {"src/c.txt"}, "what was reverted stays so"
    world.agrees()
    assert world.leftovers() == []


def half_done(world):
    """Return all that a refused rollback may not touch."""
    status = world.status()
    return {**world.refs("refs/"), "saga": world.saga_done(), "states": world.states(), "reverted": [
        m["reverted"] for m in status["modules"]]}  # fmt: skip


def left(said):
    return {one["module"]: one for one in said["left"]}


def by_hand(world, commands):
    """Carry out what was printed, word for word."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=world.path, env={**os.environ, **QUIET, "PATH": path}, check=False)


def test_a_conflict_with_later_edits_of_the_user_keeps_that_step_and_what_it_needs(world):
    """C was built on A, and the user went on with C: both stay; B, which has nothing to do with them, goes."""
    world.plan(CHAIN)
    world.run("--yes").exits(0)
    run = world.run_id
    mine = world.commit({"src/c.txt": "changed since\n"}, "mine")
    said = rollback(world, "--to", "start").exits(1).json
    assert (said["modules"], said["reverted"]) == ([], ["B"])
    assert list(left(said)) == ["C", "A"], "the last merged first"
    assert left(said)["C"]["reason"] == "src/c.txt changed since it landed"
    assert left(said)["A"]["reason"] == "C, which depends on it, stays"
    assert world.git("merge-base", mine, "main") == mine
    assert {"src/a.txt", "src/b.txt", "src/c.txt"} & world.files("main") == {"src/a.txt", "src/c.txt"}
    assert (world.path / "src/c.txt").read_text() == "changed since\n"
    stuck = [s for s in world.status()["saga"] if s["state"] == "stuck"]
    assert [(s["kind"], s["module"]) for s in stuck] == [("undo", "C"), ("undo", "A")]
    assert [s["commands"] for s in stuck] == [one["commands"] for one in said["left"]]
    told = world.grace("status", run).exits(0).out
    assert all(command in told for one in said["left"] for command in one["commands"])
    world.agrees()
    saga, head = world.saga_done(), world.head
    assert left(rollback(world, "--to", "start").exits(1).json) == left(said), "again changes nothing"
    assert (world.saga_done(), world.head) == (saga, head)

    by_hand(world, [command for one in said["left"] for command in one["commands"]])
    assert not {"src/a.txt", "src/b.txt", "src/c.txt"} & world.files("main")
    assert world.git("status", "--porcelain", "-uno") == ""
    assert world.git("merge-base", mine, "main") == mine, "what the user made stays in the history"
    again = rollback(world, "--to", "start").exits(0).json
    assert (again["modules"], again["reverted"], again["left"]) == ([], [], [])
    assert all(m["reverted"] for m in world.status()["modules"])
    assert "stuck" not in {s["state"] for s in world.status()["saga"]}
    assert world.leftovers() == []


def test_unsaved_edits_in_the_way_leave_nothing_half_done(world):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.write({"src/b.txt": "unsaved\n"})
    before = half_done(world)
    said = rollback(world, "--to", "start").exits(4)
    assert "src/b.txt" in said.err
    assert "the rollback again" in said.err
    assert half_done(world) == before
    world.git("checkout", "--", "src/b.txt")
    assert rollback(world, "--to", "start").exits(0).json["reverted"] == ["A", "B"]
    world.agrees()


def test_who_depends_on_what_goes_goes_too(world):
    world.plan(
        {
            "A": {"changes": {"src/old.txt": ("old\n", "new\n")}},
            "B": {"changes": {"src/old.txt": ("new\n", "newer\n")}, "depends_on": ["A"]},
            "C": {"writes": {"src/c.txt": "c"}, "phase": "two"},
        }
    )
    world.run("--profile", "fast").exits(4)
    assert rollback(world, "--module", "A").exits(0).json["modules"] == ["A", "B"], "who depends goes too"
    world.agrees()


def test_a_base_that_is_gone_is_said(world):
    world.plan(CHAIN)
    world.run("--yes").exits(0)
    world.git("checkout", "-q", "-b", "elsewhere")
    world.git("branch", "-q", "-D", "main")
    said = rollback(world, "--to", "start")
    assert said.code == 1
    assert "refs/heads/main is gone" in said.err


@pytest.mark.parametrize(
    "target", [("--to", "wave:9"), ("--to", "phase:x"), ("--to", "yesterday"), ("--module", "Z"), ()]
)
def test_a_place_that_does_not_exist_is_wrong_usage(world, target):
    merged(world)
    before = half_done(world)
    rollback(world, *target).exits(2)
    assert half_done(world) == before


def test_a_run_that_a_process_carries_is_refused_and_says_who(world):
    import os

    from controller.lock import held

    merged(world)
    with world.context() as ctx, held(ctx.folder, ctx.run_id):
        said = rollback(world, "--to", "start").exits(2)
    assert str(os.getpid()) in said.err
    assert world.states()["A"] == "asleep"


def test_a_rollback_of_a_run_that_has_not_begun_says_so(world):
    from controller.begin import Options, submit
    from sandbox.git import Git

    world.plan(CHAIN)
    with Git.discover(world.path) as git:
        submit(git, world.path / "plan.yaml", Options(sandbox="memory"), lambda _text: None)
    assert "has not begun" in rollback(world, "--to", "start").exits(2).err


POINTS = [
    ("controller.store.records.Records.intend", "after"),
    ("sandbox.git.Git.update_worktree", "after"),
    ("sandbox.git.Git.update_ref", "before"),
    ("sandbox.git.Git.update_ref", "after"),
    ("controller.context.Context.move_tip", "before"),
    ("controller.context.Context.move_tip", "after"),
    ("controller.store.records.Records.replace_saga", "before"),
    ("controller.store.records.Records.replace_saga", "after"),
    ("controller.store.store.Store.record", "before"),
    ("controller.store.store.Store.record", "after"),
    ("controller.store.records.Records.settle_step", "after"),
]


@pytest.mark.parametrize(
    ("point", "side", "then"), [(*at, ["rollback", "resume"][n % 2]) for n, at in enumerate(POINTS)]
)
def test_a_crash_in_the_middle_is_finished_by_whoever_comes_next(world, cut, point, side, then):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    with cut(point, side):
        rollback(world, "--to", "start")
    if then == "rollback":
        rollback(world, "--to", "start").exits(0)
        assert world.states()["C"] == "queued"
    else:
        world.grace("resume").exits(4)
    world.agrees()
    assert not {"src/a.txt", "src/b.txt"} & world.files("main")
    assert {m["id"] for m in world.status()["modules"] if m["reverted"]} == {"A", "B"}
    assert len([s for s in world.subjects() if s.startswith("Revert ")]) == 2, "reverted once"
    assert world.git("status", "--porcelain", "-uno") == ""
    with world.store() as store:
        steps = Records(store, world.run_id).saga()
    assert next(s.state for s in steps if s.kind == "rollback") == "done"
