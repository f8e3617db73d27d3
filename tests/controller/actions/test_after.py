"""What follows a landing: only with the stored yes to this very one, and never twice unasked."""

import subprocess

import pytest

from controller.actions.after import carry_out, idempotency_key
from packets.errors import NotPermitted
from packets.events import Action, ActionKind, Event, EventType

ONE = {"A": {"writes": {"src/a.txt": "a"}}}
TWO = {**ONE, "B": {"writes": {"src/b.txt": "b"}, "phase": "two"}}
HOOK = 'printf "%s %s\\n" "$GRACE_IDEMPOTENCY_KEY" "$GRACE_COMMIT" >> hooked.txt'


@pytest.fixture
def remote(world, tmp_path):
    path = tmp_path / "remote.git"
    world.git("init", "-q", "--bare", str(path))
    world.git("remote", "add", "origin", str(path))
    return path


@pytest.fixture
def hooked(world):
    """What the hooks wrote, line by line."""
    return lambda: (world.path / "hooked.txt").read_text().splitlines() if (world.path / "hooked.txt").exists() else []


def asked(world):
    return [question["subject"] for question in world.status()["approvals"]]


def pushed(remote):
    done = subprocess.run(
        ["git", "-C", remote, "rev-parse", "--verify", "-q", "main"], capture_output=True, check=False
    )
    return done.stdout.decode().strip()


def answer(world, *subjects):
    for subject in subjects:
        world.grace("approve", world.run_id, subject).exits(0)
    return world.grace("resume", world.run_id)


# --- asked, and only then


def test_without_a_yes_nothing_is_pushed_and_nothing_runs_also_under_yes(world, remote, hooked):
    world.plan(ONE, push="origin", on_landed=[HOOK])
    world.run("--yes").exits(4)
    assert set(world.states().values()) == {"done"}, "it has landed, which --yes may say"
    assert asked(world) == ["push:one", "hook:one:1"]
    world.grace("resume", world.run_id).exits(4)
    world.run("--yes").exits(4)
    assert (pushed(remote), hooked()) == ("", [])


def test_with_a_yes_to_each_the_landed_commit_is_pushed_and_the_hook_runs_once(world, remote, hooked):
    world.plan(ONE, push="origin", on_landed=[HOOK])
    world.run("--yes").exits(4)
    answer(world, "push:one").exits(4)
    assert (pushed(remote), hooked()) == (world.head, [])
    answer(world, "hook:one:1").exits(0)
    assert hooked() == [f"{world.run_id}/one/hook/1 {world.head}"]
    world.grace("resume", world.run_id).exits(0)
    assert len(hooked()) == 1
    world.agrees()
    assert world.leftovers() == ["refs/remotes/origin/main"], "which a push of the user's own moves as well"


def test_a_yes_that_names_nothing_is_none_to_what_cannot_be_undone(world, remote):
    world.plan(ONE, push="origin")
    world.run("--yes").exits(4)
    said = world.grace("approve", world.run_id).exits(2)
    assert f"grace approve {world.run_id} push:one" in said.err
    world.grace("resume").exits(4)
    assert pushed(remote) == ""


def test_a_no_leaves_it_and_the_run_goes_on(world, remote, hooked):
    world.plan(TWO, push="origin", on_landed=[HOOK])
    world.run("--yes").exits(4)
    assert asked(world) == ["push:one", "hook:one:1", "push:two", "hook:two:1"]
    for subject in asked(world):
        world.grace("reject", world.run_id, subject).exits(0)
    world.grace("resume", world.run_id).exits(0)
    assert (pushed(remote), hooked()) == ("", [])
    assert set(world.states().values()) == {"done"}


def test_a_yes_to_one_phase_is_none_to_the_next(world, remote, hooked):
    world.plan(TWO, push="origin")
    world.run("--yes").exits(4)
    first = world.status()["approvals"][0]
    answer(world, "push:one").exits(4)
    assert pushed(remote) == first["commit"] != world.head
    assert asked(world) == ["push:two"]


def test_a_forged_word_for_another_key_or_commit_does_nothing(world, remote, hooked):
    world.plan(ONE, push="origin", on_landed=[HOOK])
    world.run("--yes").exits(4)
    questions = {q["subject"]: q["key"] for q in world.status()["approvals"]}
    with world.store() as store:
        for subject, key in (("push:one", "0" * 16), ("push:one", questions["hook:one:1"]), ("push:two", "x")):
            store.post(world.run_id, Event(type=EventType.GRANTED, data={"subject": subject, "key": key}))
    world.grace("resume", world.run_id).exits(4)
    assert asked(world) == ["push:one", "hook:one:1"]
    assert (pushed(remote), hooked()) == ("", [])


@pytest.mark.parametrize("kind", ["push", "hook"])
def test_the_action_itself_does_nothing_without_the_stored_yes(world, remote, hooked, kind):
    world.plan(ONE, push="origin", on_landed=[HOOK])
    world.run("--yes").exits(4)
    question = next(q for q in world.status()["approvals"] if q["kind"] == kind)
    with world.context() as ctx, pytest.raises(NotPermitted):
        carry_out(ctx, action(question), lambda _name, work: work())
    with world.context() as ctx:
        ctx.store.db.rows("UPDATE approvals SET state='granted' WHERE subject='landing:one'")
        with pytest.raises(NotPermitted):
            carry_out(ctx, action(question, key="another"), lambda _name, work: work())
    assert (pushed(remote), hooked()) == ("", [])


def said_last(world):
    return [event["data"]["message"] for event in world.events() if event["type"] == "after.done"][-1]


def action(question, **changes):
    data = {name: question[name] for name in ("subject", "key", "kind", "what", "commit")} | {"tries": 0} | changes
    return Action(id="09999-after", kind=ActionKind.AFTER, data=data)


# --- what is said


def test_the_question_names_the_command_the_remote_and_the_commit(world, remote):
    world.plan(ONE, push="origin", on_landed=["make deploy"])
    world.run("--yes").exits(4)
    for text in (world.grace("status").exits(0).out, world.grace("review").exits(0).out):
        assert f"May {world.head[:12]} be pushed to main of origin?" in text
        assert f"{world.head[:12]} is on main: may `make deploy` run as you" in text


def test_a_hook_is_told_where_it_is_and_has_the_users_environment(world, monkeypatch, tmp_path):
    monkeypatch.setenv("MINE", "my own")
    before = world.head
    world.plan(TWO, on_landed=["env > ../env.txt; pwd >> ../env.txt"])
    start = world.head
    world.run("--yes").exits(4)
    first = world.status()["approvals"][0]["commit"]
    answer(world, "hook:two:1").exits(4)
    told = (tmp_path / "env.txt").read_text().splitlines()
    assert before != start
    for line in (
        "MINE=my own",
        f"GRACE_RUN={world.run_id}",
        "GRACE_PHASE=two",
        f"GRACE_COMMIT={world.head}",
        f"GRACE_BASE={first}",
        "GRACE_BRANCH=main",
        f"GRACE_IDEMPOTENCY_KEY={world.run_id}/two/hook/1",
        str(world.path),
    ):
        assert line in told
    answer(world, "hook:one:1").exits(0)
    assert f"GRACE_BASE={start}" in (tmp_path / "env.txt").read_text().splitlines()


def test_a_hook_that_fails_is_asked_about_again_under_a_key_of_its_own(world, hooked):
    world.plan(ONE, on_landed=[f"{HOOK}; printf 'no such \\033[31mhost\\n' >&2; [ -e ../there ]"])
    world.run("--yes").exits(4)
    answer(world, "hook:one:1").exits(4)
    said = world.grace("status").exits(0).out
    assert "exit code 1: no such \\x1b[31mhost" in said, "a terminal finds no orders in it"
    assert asked(world) == ["hook:one:1"]
    (world.path.parent / "there").touch()
    answer(world, "hook:one:1").exits(0)
    assert [line.split()[0] for line in hooked()] == [f"{world.run_id}/one/hook/1", f"{world.run_id}/one/hook/1/1"]
    log = world.path / f".git/grace/runs/{world.run_id}/logs/one-hook-1.log"
    assert log.read_text() == "no such \x1b[31mhost\n"
    assert log.stat().st_mode & 0o077 == 0, "what a hook says is for its owner"


def test_a_push_that_is_refused_says_so_in_gits_words_and_what_to_do(world, remote):
    world.plan(ONE, push="origin")
    other = world.path.parent / "other"
    world.run("--yes").exits(4)
    world.git("clone", "-q", str(remote), str(other))
    world.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=other)
    world.git("push", "-q", "origin", "HEAD:refs/heads/main", cwd=other)
    theirs = pushed(remote)
    answer(world, "push:one").exits(4)
    said = world.grace("status").exits(0).out
    assert "origin does not take main: [rejected] (non-fast-forward)" in said
    assert f"git push origin {world.head}:refs/heads/main" in said
    assert pushed(remote) == theirs, "never by force"
    world.git("push", "-q", "-f", "origin", "main")
    answer(world, "push:one").exits(0)
    assert f"origin has {world.head[:12]} on main already" in said_last(world)


def test_what_was_taken_back_is_not_given_out(world, remote):
    world.plan(ONE, push="origin")
    before = world.head
    base = world.git("rev-parse", "HEAD")
    world.run("--yes").exits(4)
    world.git("reset", "-q", "--hard", base)
    answer(world, "push:one").exits(4)
    assert pushed(remote) == ""
    assert "main does not hold" in world.grace("status").exits(0).out
    assert before == world.head


# --- cut off


CUT = [("controller.actions.after.run_hook", "before"), ("controller.actions.after.run_hook", "after")]


@pytest.mark.parametrize(("point", "side"), CUT)
def test_a_hook_that_was_cut_off_is_not_repeated_without_a_word(world, cut, hooked, point, side):
    world.plan(ONE, on_landed=[HOOK])
    world.run("--yes").exits(4)
    world.grace("approve", world.run_id, "hook:one:1").exits(0)
    with cut(point, side):
        world.grace("resume", world.run_id)
    ran = len(hooked())
    world.grace("resume", world.run_id).exits(4)
    assert len(hooked()) == ran == (side == "after")
    assert "begun and not seen to end; it may have run" in world.grace("status").exits(0).out
    answer(world, "hook:one:1").exits(0)
    assert len(hooked()) == ran + 1
    world.agrees()


def test_a_hook_that_ended_is_not_run_again_when_its_outcome_was_lost(world, cut, hooked):
    world.plan(ONE, on_landed=[HOOK])
    world.run("--yes").exits(4)
    world.grace("approve", world.run_id, "hook:one:1").exits(0)
    with cut("controller.store.records.Records.end_step", "after"):
        world.grace("resume", world.run_id)
    world.grace("resume", world.run_id).exits(0)
    assert len(hooked()) == 1
    world.agrees()


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_push_that_was_cut_off_is_done_once_more_and_comes_to_the_same(world, cut, remote, side):
    world.plan(ONE, push="origin")
    world.run("--yes").exits(4)
    world.grace("approve", world.run_id, "push:one").exits(0)
    with cut("sandbox.git.Git.push", side):
        world.grace("resume", world.run_id)
    assert pushed(remote) == (world.head if side == "after" else "")
    world.grace("resume", world.run_id).exits(0)
    assert pushed(remote) == world.head
    assert [e["data"]["ok"] for e in world.events() if e["type"] == "after.done"] == [True]


def test_the_key_is_the_run_the_phase_the_hook_and_the_try():
    assert idempotency_key("r1", "hook:one:2", 0) == "r1/one/hook/2"
    assert idempotency_key("r1", "hook:one:2", 3) == "r1/one/hook/2/3"
