"""Landing: the only step that touches the user's branch and checkout."""

import pytest

ONE = {"A": {"changes": {"src/old.txt": ("old\n", "new\n")}}}


def approved(world, *args):
    """Go to the landing question, say yes, and stop before anybody takes it in."""
    world.run("--profile", "fast", *args).exits(4)
    world.grace("approve", world.run_id).exits(0)


def test_the_branch_is_fast_forwarded_and_the_checkout_follows(world):
    world.plan(ONE)
    before = world.head
    world.run("--yes").exits(0)
    assert world.git("merge-base", before, "main") == before
    assert (world.path / "src/old.txt").read_text() == "new\n"
    assert world.git("status", "--porcelain", "-uno") == ""
    message = world.git("log", "-1", "--format=%B", "main")
    packet = world.grace("packets", world.run_id, "A", "--json").json["packets"][0]["packet_id"]
    for trailer in (
        f"Grace-Run: {world.run_id}",
        "Grace-Module: A",
        f"Grace-Packet: {packet}",
        "Grace-Verdict: accept",
    ):
        assert trailer in message


@pytest.mark.parametrize("how", ["edit", "staged", "untracked", "lock"])
def test_what_is_in_the_way_stops_the_landing_and_a_resume_lands(world, how):
    world.plan(ONE | {"B": {"writes": {"src/new.txt": "b"}}})
    head = world.head
    if how in {"edit", "staged"}:
        world.write({"src/old.txt": "my own\n"})
    if how == "staged":
        world.git("add", "src/old.txt")
    if how == "untracked":
        world.write({"src/new.txt": "my own\n"})
    if how == "lock":
        world.write({".git/index.lock": ""})
    said = world.run("--yes").exits(4)
    status = world.status()
    assert (status["state"], status["exit"]) == ("blocked", 4)
    assert "grace resume" in said.out
    assert {"edit": "src/old.txt", "staged": "src/old.txt", "untracked": "src/new.txt", "lock": "locked"}[
        how
    ] in said.out
    assert world.head == head
    assert world.grace("resume").exits(4), "it is still in the way"
    assert world.head == head

    if how in {"edit", "staged"}:
        world.git("checkout", "-q", "HEAD", "--", "src/old.txt")
    (world.path / (".git/index.lock" if how == "lock" else "src/new.txt")).unlink(missing_ok=True)
    world.grace("resume").exits(0)
    assert (world.path / "src/old.txt").read_text() == "new\n"
    assert world.git("status", "--porcelain", "-uno") == ""
    world.agrees()
    assert world.leftovers() == []


def test_a_base_that_moved_is_merged_checked_and_asked_again(world, exists):
    seen = []
    world.scripts["both"] = lambda mounts, job: (
        seen.append(sorted(p.name for p in (mounts["/repo"] / "src").iterdir())) or 0
    )
    world.plan(ONE, checks=["both"])
    approved(world)
    first = world.status()["approvals"][0]["key"]
    moved = world.commit({"src/theirs.txt": "mine\n"}, "meanwhile")
    world.grace("resume").exits(4)
    again = world.status()["approvals"][0]
    assert again["subject"] == "landing:one"
    assert again["key"] != first, "the yes was for another tree"
    assert seen == [["old.txt"], ["old.txt", "theirs.txt"]], "the phase's checks ran again on what is to land"
    assert world.head == moved
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.git("merge-base", moved, "main") == moved
    assert world.show("src/old.txt", "main") == "new"
    assert world.show("src/theirs.txt", "main") == "mine"
    assert [k for k, _ in world.saga_done()] == ["merge", "sync", "land"]
    world.agrees()


def test_a_base_that_moved_and_turns_the_checks_red_does_not_land(world):
    world.scripts["no-theirs"] = lambda mounts, job: int((mounts["/repo"] / "src/theirs.txt").exists())
    world.plan(ONE, checks=["no-theirs"])
    approved(world)
    moved = world.commit({"src/theirs.txt": "mine\n"}, "meanwhile")
    said = world.grace("resume").exits(1)
    assert "no-theirs" in said.out
    assert world.head == moved
    assert set(world.states().values()) == {"asleep"}


def test_a_base_that_moved_into_a_conflict_waits_and_goes_on_when_it_is_put_right(world):
    world.plan(ONE)
    approved(world)
    moved = world.commit({"src/old.txt": "theirs\n"}, "meanwhile")
    said = world.grace("resume").exits(4)
    assert "src/old.txt" in said.out
    assert f"grace resume {world.run_id}" in said.out
    assert world.status()["state"] == "blocked"
    assert world.head == moved
    assert world.grace("resume").exits(4), "the same again"
    world.agrees()

    world.commit({"src/old.txt": "old\n", "src/more.txt": "more\n"}, "put right")
    world.grace("resume").exits(4)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.show("src/old.txt", "main") == "new"
    world.agrees()
    assert world.leftovers() == []


def test_a_base_that_was_rewound_lands_all_the_same(world):
    world.plan(ONE)
    approved(world)
    world.git("checkout", "-q", "--detach")
    world.git("update-ref", "refs/heads/main", "HEAD~1")
    world.grace("resume").exits(0)
    assert world.show("src/old.txt", "main") == "new"


def test_a_base_that_is_gone_is_not_made_again_by_itself(world):
    world.plan(ONE)
    approved(world)
    world.git("branch", "-m", "main", "trunk")
    said = world.grace("resume").exits(4)
    assert "main, where the run lands, is gone" in said.out
    assert "git branch main" in said.out
    assert "refs/heads/main" not in world.refs()
    world.git("branch", "main", "trunk")
    world.grace("resume").exits(0)
    assert world.show("src/old.txt", "main") == "new"
    assert (world.path / "src/old.txt").read_text() == "old\n", "trunk is checked out, and nobody asked to move it"


def test_land_on_a_branch_of_its_own(world):
    world.plan({**ONE, "B": {"writes": {"src/b.txt": "b"}, "phase": "two"}}, land={"branch": "built"})
    head = world.head
    world.run("--yes").exits(0)
    assert world.head == head
    assert (world.path / "src/old.txt").read_text() == "old\n"
    assert world.show("src/old.txt", "built") == "new"
    assert world.show("src/b.txt", "built") == "b"
    assert set(world.states().values()) == {"done"}
    world.agrees()


def test_a_branch_to_land_on_that_exists_is_taken_in(world):
    world.git("checkout", "-q", "-b", "built")
    there = world.commit({"src/there.txt": "there\n"}, "there before")
    world.git("checkout", "-q", "main")
    world.plan(ONE, land={"branch": "built"})
    world.run("--yes").exits(0)
    assert world.git("merge-base", there, "built") == there
    assert world.show("src/old.txt", "built") == "new"
    assert world.show("src/there.txt", "built") == "there"


def test_an_integration_branch_that_somebody_moved_does_not_land(world):
    world.plan(ONE)
    approved(world)
    ref = next(ref for ref in world.refs("refs/heads/grace") if ref.endswith("/integration"))
    right = world.refs()[ref]
    foreign = world.git("commit-tree", f"{right}^{{tree}}", "-p", right, "-m", "not of grace")
    head = world.head
    world.git("update-ref", ref, foreign)
    said = world.grace("resume").exits(1)
    assert "somebody moved the integration branch" in said.out
    assert f"git update-ref {ref} {right}" in said.out
    assert world.head == head
    world.git("update-ref", ref, right)
    world.grace("resume").exits(0)
    world.agrees()


def test_an_integration_branch_that_is_gone_is_said_and_can_be_put_back(world):
    world.plan(ONE)
    approved(world)
    ref = next(ref for ref in world.refs("refs/heads/grace") if ref.endswith("/integration"))
    right = world.refs()[ref]
    world.git("update-ref", "-d", ref)
    said = world.grace("resume").exits(1)
    assert "is gone" in said.out
    assert f"git update-ref {ref} {right}" in said.out
    assert {m["verified"] for m in world.status()["modules"]} == {False}, "status says what git shows"
    world.git("update-ref", ref, right)
    world.grace("resume").exits(0)
    assert world.show("src/old.txt", "main") == "new"


CRASHES = [
    ("sandbox.git.Git.update_worktree", "after", 1),
    ("controller.actions.land._move", "before", 1),
    ("controller.actions.land._move", "after", 1),
    ("controller.actions.land._land", "after", 1),
]


@pytest.mark.parametrize(("point", "side", "nth"), CRASHES)
def test_a_crash_while_landing_is_finished_and_lands_once(world, cut, point, side, nth):
    world.plan(ONE)
    approved(world)
    with cut(point, side, nth):
        world.grace("resume")
    world.grace("resume").exits(0)
    assert world.saga_done() == [("merge", "A"), ("land", "")]
    assert world.types().count("landing.done") == 1
    assert (world.path / "src/old.txt").read_text() == "new\n"
    assert world.git("status", "--porcelain", "-uno") == ""
    assert world.subjects().count("Do A") == 1
    world.agrees()
    assert world.leftovers() == []


@pytest.mark.parametrize("point", ["controller.context.Context.move_tip", "controller.actions.land.take_in"])
def test_a_crash_while_a_moved_base_is_taken_in_keeps_the_saga_whole(world, cut, point):
    world.plan(ONE)
    approved(world)
    world.commit({"src/theirs.txt": "mine\n"}, "meanwhile")
    with cut(point, "after"):
        world.grace("resume")
    world.grace("resume").exits(4)
    assert [k for k, _ in world.saga_done()] == ["merge", "sync"]
    world.agrees()
    world.grace("rollback", world.run_id, "--module", "A").exits(0)
    assert [k for k, _ in world.saga_done()] == ["sync"], "what came from the base stays"
    world.agrees()
    world.grace("resume")
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert {"src/theirs.txt"} <= world.files("main")
    assert world.show("src/old.txt", "main") == "new"


# --- what the plan permits


def test_land_auto_lands_without_a_question(world):
    world.plan(ONE, permissions={"land": "auto"})
    world.run("--profile", "fast").exits(0)
    assert world.show("src/old.txt", "main") == "new"


@pytest.mark.parametrize("by_hand", ["--ff-only", "--no-ff"])
def test_land_deny_leaves_it_to_a_person_and_takes_it_as_landed_when_they_did(world, by_hand):
    world.plan({**ONE, "B": {"writes": {"src/b.txt": "b"}, "phase": "two"}}, permissions={"land": "deny"})
    head = world.head
    for _ in range(2):
        said = (world.grace("resume") if _ else world.run("--yes")).exits(4)
        assert "`land: deny`" in said.out + said.err
        assert world.head == head, "also under --yes"
    note = world.status()["note"]
    tip = world.git("rev-parse", f"grace/{world.run_id}/integration")
    assert f"git switch main && git merge --ff-only {tip[:12]}" in note
    assert f"grace resume {world.run_id}" in note
    assert set(world.states().values()) == {"asleep", "queued"}

    world.git("merge", "-q", by_hand, "-m", "by hand", tip)
    mine = world.commit({"src/mine.txt": "mine"}, "and on")
    world.grace("resume").exits(4)
    assert world.states() == {"A": "done", "B": "asleep"}
    assert world.head == mine
    world.git("merge", "-q", "-m", "by hand", world.git("rev-parse", f"grace/{world.run_id}/integration"))
    world.grace("resume").exits(0)
    assert set(world.states().values()) == {"done"}
    world.agrees()
    assert world.leftovers() == []


def test_land_deny_on_a_branch_that_is_to_be_made(world):
    world.plan(ONE, permissions={"land": "deny"}, land={"branch": "built"})
    said = world.run("--yes").exits(4)
    tip = world.git("rev-parse", f"grace/{world.run_id}/integration")
    assert f"git branch built {tip[:12]}" in said.out + said.err
    world.git("branch", "built", tip)
    world.grace("resume").exits(0)
    assert world.states() == {"A": "done"}


def test_write_ask_asks_for_that_module_whatever_the_profile(world):
    world.plan({"A": {**ONE["A"], "permissions": {"write": "ask"}}, "B": {"writes": {"src/b.txt": "b"}}})
    world.run("--profile", "fast").exits(4)
    assert [q["modules"] for q in world.status()["approvals"]] == [["A"]]
    world.grace("approve").exits(0)
    world.grace("resume").exits(4)
    assert [q["subject"] for q in world.status()["approvals"]] == ["landing:one"]
