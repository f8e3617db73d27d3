"""The end of a run: branches put away, nothing left, and what must stay stays."""

import shlex
import subprocess
from pathlib import Path

import pytest

import sandbox.choose
from controller.actions.finish import bring_back, put_away, tidy
from packets.errors import EngineLost
from sandbox.choose import Choice
from sandbox.memory import MemorySandbox

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def test_branches_go_and_come_back_as_they_were(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    before = world.refs()
    with world.context() as ctx:
        for _ in range(2):
            put_away(ctx)
            assert world.refs("refs/heads/grace") == {}
        for _ in range(2):
            bring_back(ctx.git, ctx.run_id)
            assert world.refs() == before


def test_another_runs_branches_are_not_touched(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    first = world.run_id
    live = world.refs(f"refs/heads/grace/{first}")
    world.run("--new", "--yes").exits(0)
    assert world.refs("refs/heads/grace") == live


def test_sandboxes_and_work_folders_go_whatever_was_done_to_them(world):
    from sandbox.protocol import Job

    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        ctx.sandbox.start(Job(run_id=ctx.run_id, name="stray", argv=("true",), log=ctx.folder / "log"))
        ctx.sandbox.start(Job(run_id="another", name="foreign", argv=("true",), log=ctx.folder / "log"))
        locked = ctx.folder / "work" / "x" / "locked"
        locked.mkdir(parents=True)
        (locked / "file").touch()
        locked.chmod(0)
        assert tidy(ctx) == []
        assert ctx.sandbox.remaining(ctx.run_id) == ()
        assert ctx.sandbox.remaining("another") == ("foreign",)
        assert not (ctx.folder / "work").exists()
        assert tidy(ctx) == [], "again is fine"


def test_a_cache_that_cannot_be_pruned_keeps_no_run_from_ending(world, monkeypatch):
    def fails(*_args):
        raise PermissionError

    monkeypatch.setattr("controller.actions.finish.prune_cache", fails)
    world.plan(ONE)
    world.run("--yes").exits(0)


@pytest.fixture
def mounted(world):
    """Something that no removal removes: a file system of its own in the run's work folder."""
    spots = []

    def mount(run):
        spot = world.path / f".git/grace/runs/{run}/work/x y/busy"
        spot.mkdir(parents=True)
        (spot.parent.parent / "another").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", spot], check=True)
        spots.append(spot)
        return spot

    yield mount
    for spot in spots:
        for held in [spot, *spot.parent.parent.glob("*/busy"), *spot.parent.parent.glob(".*/busy")]:
            subprocess.run(["umount", held], check=False, capture_output=True)


@pytest.mark.usefixtures("hasty")
def test_what_cannot_be_removed_is_named_with_the_commands_and_the_run_ends(world, mounted):
    """A mounted folder and a branch that somebody looks at: the landing, the end and everything else go on."""
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    run = world.run_id
    mounted(run)
    branch = f"refs/heads/grace/{run}/A/attempt-1"
    world.git("worktree", "add", "-q", str(world.path.parent / "looks at"), branch.removeprefix("refs/heads/"))
    world.grace("approve").exits(0)
    said = world.grace("resume").exits(0)
    status = world.status()
    assert status["state"] == "done"
    assert status["leftovers"][0] == branch
    assert "busy" not in status["leftovers"][0]
    assert [Path(spot).name.startswith(".x y.") for spot in status["leftovers"][1:]] == [True], "only what is held"
    assert set(world.refs("refs/heads/grace")) == {branch}, "the other branches are away"
    assert {one["kind"] for one in status["by_hand"]} == {"folder", "ref"}
    told = world.grace("status").exits(0).out
    for one in status["by_hand"]:
        assert f"left over: {one['what']}" in said.out + said.err
        for command in one["commands"]:
            assert command in told
            subprocess.run(["sh", "-c", command], cwd=world.path, check=True)
    status = world.status()
    assert (status["leftovers"], status["by_hand"]) == ([], [])
    assert world.leftovers() == []
    assert f"refs/grace/runs/{run}/A/attempt-1" in world.refs()


class Silent(MemorySandbox):
    """An engine that lists what it has and answers nothing else."""

    name = "docker"
    lost = True

    def remaining(self, run_id):
        return ("grace-stray",) if self.lost else ()

    def remove(self, name):
        raise EngineLost("the engine went away")


def test_a_sandbox_that_an_engine_does_not_remove_is_named(world, monkeypatch):
    monkeypatch.setenv("GRACE_PATIENCE", "0.2")
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        ctx.sandbox = Silent({})
        (left,) = tidy(ctx)
    assert (left["kind"], left["what"], left["why"]) == ("sandbox", "grace-stray", "the engine went away")
    assert left["commands"] == ("docker rm -f grace-stray",)


def test_status_asks_the_engine_about_what_could_not_be_removed(world, monkeypatch):
    monkeypatch.setenv("GRACE_PATIENCE", "0.2")
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    engine = Silent({})
    engine.name = "memory"
    monkeypatch.setitem(sandbox.choose._CHOICES, "memory", lambda: Choice(engine, "memory: silent"))
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    run = world.run_id
    assert world.status()["leftovers"] == ["grace-stray"]
    assert world.status()["by_hand"][0]["commands"] == [f"grace clean {run}"]
    said = world.grace("clean", run).exits(1).out
    assert "grace-stray" in said
    engine.lost = False
    assert world.status()["leftovers"] == world.status()["by_hand"] == []
    world.grace("clean", run).exits(0)


def test_a_branch_that_somebody_has_checked_out_stays_and_is_named(world):
    """To delete it would leave them on a branch without a commit, with every file as new."""
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    branch = f"grace/{world.run_id}/integration"
    world.git("switch", "-q", branch)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.git("log", "--format=%s", "-1") == "Do A"
    assert world.git("status", "--porcelain") == ""
    assert world.show("src/a.txt", "main") == "a"
    (left,) = world.status()["by_hand"]
    assert (left["what"], left["why"]) == (f"refs/heads/{branch}", f"it is checked out at {world.path}")
    for command in left["commands"]:
        world.git(*shlex.split(command)[1:])
    assert world.status()["by_hand"] == []
    assert world.leftovers() == []
    world.agrees()
