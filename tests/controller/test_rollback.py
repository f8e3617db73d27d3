"""Undoing: all of it or nothing, before and after a landing, and over any crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from controller.copies import MARK
from controller.store.records import Records
from sandbox.git import Git

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
    from controller.lock import held

    merged(world)
    with world.context() as ctx, held(ctx.folder, ctx.run_id):
        said = rollback(world, "--to", "start").exits(2)
    assert str(os.getpid()) in said.err
    assert f"grace pause {world.run_id}" in said.err
    assert world.states()["A"] == "asleep"


def test_a_rollback_of_a_run_that_has_not_begun_says_so(world):
    from controller.begin import Options, submit

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


def test_everything_speaks_of_the_tree_after_it(world):
    """Status, review, packets, the copies, the refresh, and what the next worker is told."""
    merged(world)
    run = world.run_id
    rollback(world, "--module", "A").exits(0)
    assert {m["id"]: m["undone"] for m in world.status()["modules"]} == {"A": True, "B": False, "C": True}
    reviews = world.grace("review", run, "--json").exits(0).json["reviews"]
    assert {r["module"]: r["undone"] for r in reviews} == {"A": True, "B": False, "C": True}
    assert "A  attempt 1 (undone)" in world.grace("review", run, "A").exits(0).out
    marks = world.grace("packets", run, "--json").exits(0).json["undone"]
    assert marks == [{"module": "A", "attempt": 1}, {"module": "C", "attempt": 1}]
    assert world.grace("packets", run, "A").exits(0).out.startswith(f"---\n{MARK}\n")
    copies = world.path / ".grace/runs" / run
    assert {p.name for p in copies.glob("packets/*") if p.read_text().startswith(MARK)} == {"A--1.yaml", "C--1.yaml"}
    said = {p.name for p in copies.glob("reviews/*") if json.loads(p.read_text()).get("undone")}
    assert said == {"A--1.json", "C--1.json"}
    report = world.grace("refresh", run, "--full", "--json").exits(0).json
    assert not [d for d in report["drift"] if d["path"] in {"src/a.txt", "src/c.txt"}]

    tree = world.tree(integration(world))
    world.grace("resume").exits(4)
    packets = world.grace("packets", run, "--json").exits(0).json["packets"]
    second = {p["module_id"]: p for p in packets if p["attempt"] == 2}
    assert second["A"]["base"]["tree"] == tree
    assert not any(m["undone"] for m in world.status()["modules"])


def test_what_was_reverted_is_no_part_of_what_a_next_worker_gets(world):
    """A landed and was reverted; C, on top of it, is made anew: from the tree without A, and nobody delivered A."""
    world.plan(PHASES | {"C": {"writes": {"src/c.txt": "c"}, "phase": "second", "depends_on": ["A"]}})
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert rollback(world, "--to", "start").exits(0).json["reverted"] == ["A", "B"]
    assert not {"src/a.txt", "src/b.txt"} & world.files(integration(world))
    world.agrees()
    world.grace("resume").exits(4)
    (packet,) = [p for p in world.grace("packets", world.run_id, "C", "--json").json["packets"] if p["attempt"] == 2]
    assert world.files(packet["base"]["commit"]) & {"src/a.txt", "src/b.txt"} == set()
    assert not [text for text in packet["plan_excerpt"] if "delivered" in text]
    world.agrees()


def test_a_dry_run_says_what_would_be_undone_in_its_order_and_changes_nothing(world):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    before = half_done(world)
    said = rollback(world, "--to", "start", "--dry-run").exits(0).json
    assert [s["module"] for s in said["steps"]] == ["C", "B", "A"]
    assert "rescue" in said["steps"][0]["compensation"]
    assert said["steps"][1]["compensation"] == "a revert commit on main"
    assert (said["modules"], said["reverted"], said["left"]) == (["C"], ["A", "B"], [])
    text = world.grace("rollback", world.run_id, "--to", "start", "--dry-run").exits(0).out
    assert [line.split()[2] for line in text.splitlines()] == ["C", "B", "A"]
    assert half_done(world) == before
    world.commit({"src/a.txt": "mine\n"})
    said = rollback(world, "--to", "start", "--dry-run").exits(0).json
    assert list(left(said)) == ["A"]


def test_one_that_others_who_stay_were_built_on_stays_too(world):
    """A moves a folder, B adds a file at its new place: without A, B has no place to be."""
    world.commit({"old/one.txt": "one\n" * 9, "old/two.txt": "two\n" * 9})
    move = "".join(
        f"diff --git a/old/{n}.txt b/new/{n}.txt\nsimilarity index 100%\nrename from old/{n}.txt\n"
        f"rename to new/{n}.txt\n"
        for n in ("one", "two")
    )
    scope = [f"{folder}/{n}.txt" for folder in ("old", "new") for n in ("one", "two")]
    world.plan(
        {
            "A": {"patch": move, "write_scope": scope},
            "B": {"writes": {"new/b.txt": "b"}},
            "C": {"writes": {"src/c.txt": "c"}},
        }
    )
    world.run("--profile", "fast").exits(4)
    run = world.run_id
    said = rollback(world, "--module", "A").exits(1).json
    assert said["modules"] == []
    assert left(said)["A"]["commands"] == [f"grace rollback {run} --module B", f"grace rollback {run} --module A"]
    assert {"new/one.txt", "new/b.txt"} <= world.files(integration(world))
    assert set(world.states().values()) == {"asleep"}
    world.agrees()
    by_hand(world, left(said)["A"]["commands"])
    assert rollback(world, "--module", "A").exits(0).json["left"] == []
    assert world.states() == {"A": "queued", "B": "queued", "C": "asleep"}
    assert "old/one.txt" in world.files(integration(world))
    world.agrees()


def landed(world, modules):
    world.plan(modules)
    world.run("--yes").exits(0)
    return world.run_id


def test_files_that_the_user_moved_are_found(world):
    landed(world, {"A": {"writes": {"src/a.txt": "a"}}})
    world.git("mv", "src/a.txt", "elsewhere.txt")
    world.commit()
    assert rollback(world, "--to", "start").exits(0).json["reverted"] == ["A"]
    assert not {"src/a.txt", "elsewhere.txt"} & world.files("main")
    assert world.git("status", "--porcelain", "-uno") == ""


@pytest.mark.parametrize("how", ["changed", "moved and changed", "deleted", "elsewhere", "odd names"])
def test_the_commands_that_are_printed_finish_it(world, how):
    """Whatever the user did since, on whatever branch they are, in a file of whatever name."""
    name = {"odd names": "src/a b'[1].txt"}.get(how, "src/old.txt")
    world.commit({name: "old\nline\n" * 5})
    changed = "new\n" + "old\nline\n" * 5
    world.scripts["edit"] = lambda mounts, job: (mounts["/repo"] / name).write_text(changed) and 0
    landed(world, {"A": {"run": "edit", "write_scope": [name.replace("[", "\\[")]}})
    if how == "moved and changed":
        world.git("mv", name, "moved.txt")
        world.commit({"moved.txt": changed.replace("new", "newer")})
    elif how == "deleted":
        world.git("rm", "-q", name)
        world.commit()
    else:
        world.commit({name: changed.replace("new", "newer")})
    if how == "elsewhere":
        world.git("checkout", "-q", "-b", "elsewhere")
    said = rollback(world, "--to", "start").exits(1).json
    by_hand(world, left(said)["A"]["commands"])
    assert rollback(world, "--to", "start").exits(0).json["left"] == []
    assert world.status()["modules"][0]["reverted"]
    now = "moved.txt" if how == "moved and changed" else name
    if how == "deleted":
        assert name not in world.files("main")
    else:
        assert world.show(now, "main") == ("old\nline\n" * 5).strip()
    assert world.git("status", "--porcelain", "-uno") == ""
    assert world.git("worktree", "list").count("\n") == 0
    assert world.leftovers() == [] or how == "elsewhere"


def test_who_reverted_it_in_their_own_way_has_reverted_it(world):
    """The user keeps lines that the commands would take: the word of their commit counts, until it is reverted."""
    landed(world, {"A": {"writes": {"src/a.txt": "a"}}})
    world.commit({"src/a.txt": "mine\n"})
    said = rollback(world, "--to", "start").exits(1).json
    commit = left(said)["A"]["commit"]
    world.commit({"src/a.txt": "mine, without theirs\n"}, f"Revert A\n\nThis reverts commit {commit}.")
    mine = world.head
    world.commit({"src/a.txt": "mine again\n"}, f"Back\n\nThis reverts commit {mine}.")
    assert list(left(rollback(world, "--to", "start").exits(1).json)) == ["A"]
    world.commit({"src/a.txt": "mine, without theirs\n"}, f"Revert A\n\nThis reverts commit {commit}.")
    assert rollback(world, "--to", "start").exits(0).json["reverted"] == ["A"]
    assert world.show("src/a.txt", "main") == "mine, without theirs"


@pytest.mark.usefixtures("hasty")
def test_a_base_branch_that_cannot_be_moved_keeps_what_landed_and_the_rest_goes(world):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    (world.path / ".git/refs/heads/main.lock").touch()
    said = rollback(world, "--to", "start").exits(1).json
    assert (said["modules"], said["reverted"], list(left(said))) == (["C"], [], ["B", "A"])
    assert world.git("status", "--porcelain", "-uno") == "", "its checkout is as it was"
    assert {"src/a.txt", "src/b.txt"} <= world.files("main")
    world.agrees()
    by_hand(world, [command for one in said["left"] for command in one["commands"]])
    assert not {"src/a.txt", "src/b.txt"} & world.files("main")
    assert rollback(world, "--to", "start").exits(0).json["left"] == []


@pytest.mark.usefixtures("hasty")
def test_an_integration_branch_that_cannot_be_moved_keeps_what_is_on_it(world):
    merged(world)
    run = world.run_id
    lock = world.path / f".git/refs/heads/grace/{run}/integration.lock"
    lock.touch()
    said = rollback(world, "--module", "A").exits(1).json
    assert (said["modules"], list(left(said))) == ([], ["C", "A"])
    assert set(world.states().values()) == {"asleep"}
    world.agrees()
    lock.unlink()
    assert rollback(world, "--module", "A").exits(0).json["modules"] == ["A", "C"]
    world.agrees()


def test_an_integration_branch_that_somebody_moved_is_refused_with_nothing_changed(world):
    world.plan(PHASES)
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.git("update-ref", f"refs/heads/grace/{world.run_id}/integration", world.commit({"mine.txt": "mine\n"}))
    head, saga = world.head, world.saga_done()
    assert "put it back" in rollback(world, "--to", "start").err
    assert (world.head, world.saga_done()) == (head, saga)


def test_a_plan_that_lets_nobody_but_its_user_land_leaves_the_reverts_to_them(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}}, permissions={"land": "deny"})
    world.run("--profile", "fast").exits(4)
    world.git("merge", "-q", "--ff-only", f"grace/{world.run_id}/integration")
    world.grace("resume").exits(0)
    said = rollback(world, "--to", "start").exits(1).json
    assert "src/a.txt" in world.files("main")
    by_hand(world, left(said)["A"]["commands"])
    assert "src/a.txt" not in world.files("main")
    assert world.status()["modules"][0]["reverted"], "what a person reverted is shown as reverted"
    assert rollback(world, "--to", "start").exits(0).json["left"] == []


@pytest.mark.parametrize("first", [("sandbox.git.Git.update_ref", 1), ("controller.store.records.Records.leave", 1)])
@pytest.mark.parametrize(
    "second", ["controller.store.records.Records.replace_saga", "controller.store.store.Store.record"]
)
def test_crashes_in_a_row_in_the_middle_of_several_modules_come_to_the_same_end(world, cut, first, second):
    """One stuck, one held by it, one reverted, two unlanded: cut twice, then finished."""
    world.plan(
        {
            "A": {"writes": {"src/a.txt": "a"}, "phase": "first"},
            "B": {"writes": {"src/b.txt": "b"}, "phase": "first", "depends_on": ["A"]},
            "C": {"writes": {"src/c.txt": "c"}, "phase": "first"},
            "D": {"writes": {"src/d.txt": "d"}, "phase": "second"},
            "E": {"writes": {"src/e.txt": "e"}, "phase": "second", "depends_on": ["D"]},
        }
    )
    world.run("--profile", "fast").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    world.commit({"src/b.txt": "mine\n"})
    with cut(first[0], "after", first[1]):
        rollback(world, "--to", "start")
    with cut(second, "before"):
        rollback(world, "--to", "start")
    said = rollback(world, "--to", "start").exits(1).json
    assert list(left(said)) == ["B", "A"]
    assert world.states() == {"A": "done", "B": "done", "C": "done", "D": "queued", "E": "queued"}
    assert {m["id"] for m in world.status()["modules"] if m["reverted"]} == {"C"}
    assert len([s for s in world.subjects() if s.startswith("Revert ")]) == 1
    names = {f"src/{m}.txt" for m in "abcde"}
    assert world.files("main") & names == world.files(integration(world)) & names == {"src/a.txt", "src/b.txt"}
    assert world.git("status", "--porcelain", "-uno") == ""
    assert [s["module"] for s in world.status()["saga"] if s["state"] == "stuck"] == ["B", "A"]
    world.agrees()


def test_a_commit_of_the_user_at_the_same_moment_is_built_upon(world, monkeypatch):
    """It comes between the checkout and the branch: the branch is looked at anew, never moved over it."""
    landed(world, {"A": {"writes": {"src/a.txt": "a"}}})
    whole, mine = Git.update_ref, []

    def meanwhile(git, ref, new, old):
        if ref == "refs/heads/main" and not mine:
            mine.append(world.git("commit-tree", "-p", "main", "-m", "mine", "main^{tree}"))
            world.git("update-ref", ref, mine[0])
        whole(git, ref, new, old)

    monkeypatch.setattr(Git, "update_ref", meanwhile)
    assert rollback(world, "--to", "start").exits(0).json["reverted"] == ["A"]
    assert world.git("log", "--format=%s", "-2", "main").splitlines() == ["Revert A", "mine"]
    assert world.git("status", "--porcelain", "-uno") == ""
    assert "src/a.txt" not in world.files("main")
