"""Cleaning: what landed may go; what exists nowhere else stays unless its run is named by force."""

import os
import subprocess
import time

import pytest

from controller.lock import held

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def gone(world, run):
    assert not [ref for ref in world.refs() if run in ref]
    assert not (world.path / ".git/grace/runs" / run).exists()
    assert not (world.path / ".grace/runs" / run).exists()
    assert world.grace("status", run).code == 2


def test_a_finished_run_goes_with_all_that_carries_its_id(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    run, head = world.run_id, world.head
    assert f"dropped {run}" in world.grace("clean", run).exits(0).out
    gone(world, run)
    assert world.head == head
    world.grace("clean", run).exits(2)


@pytest.mark.parametrize("state", ["waiting", "stopped"])
def test_a_run_that_stands_still_stays_unless_forced(world, cut, state):
    world.plan(ONE)
    if state == "waiting":
        world.run().exits(4)
    else:
        with cut("controller.actions.merge._merge", "before"):
            world.run("--yes")
    run, before = world.run_id, world.refs()
    said = world.grace("clean", run).exits(0)
    assert f"kept {run}: it is {state}" in said.out
    assert world.refs() == before
    world.grace("clean", run, "--force").exits(0)
    gone(world, run)


def test_a2_what_nobody_accepted_stays_and_is_named(world):
    world.scripts["bad"] = lambda mounts, job: ((mounts["/repo"] / "src/a.txt").write_text("precious\n") and 3) or 3
    world.plan({"A": {"run": "bad", "write_scope": ["src/a.txt"], "limits": {"attempts": 1}}})
    world.run("--yes").exits(1)
    run = world.run_id
    (ref,) = world.refs("refs/grace/rescue")
    for command in (["clean", run], ["clean"]):
        said = world.grace(*command).exits(0)
        assert ref in said.out
        assert world.show("src/a.txt", ref) == "precious"
    world.grace("clean", "--force").exits(2)
    assert ref in world.refs()
    world.grace("clean", run, "--force").exits(0)
    gone(world, run)


@pytest.mark.parametrize("how", ["phase", "cancelled"])
def test_what_was_accepted_and_never_landed_stays_and_is_named(world, how):
    world.scripts["red"] = lambda mounts, job: 1
    world.plan(ONE, checks=["red"] if how == "phase" else [])
    if how == "phase":
        world.run("--yes").exits(1)
    else:
        world.run("--profile", "fast").exits(4)
        world.grace("cancel").exits(0)
    run = world.run_id
    said = world.grace("clean", run).exits(0)
    assert f"kept {run}" in said.out
    assert f"refs/grace/runs/{run}/integration" in said.out
    assert world.show("src/a.txt", f"refs/grace/runs/{run}/integration") == "a"
    world.grace("clean", run, "--force").exits(0)
    gone(world, run)


def test_a3_a_live_run_is_refused_by_name_and_passed_over_in_all(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    first = world.run_id
    world.run("--new", "--profile", "fast").exits(4)
    second = world.run_id
    with world.context() as ctx, held(ctx.folder, second):
        refused = world.grace("clean", second, "--force").exits(2)
        assert str(os.getpid()) in refused.err
        said = world.grace("clean").exits(0)
    assert f"dropped {first}" in said.out
    assert f"kept {second}: it is live" in said.out
    assert world.status(second)["state"] == "waiting"


def test_shared_checkouts_go_when_no_run_used_them_for_long(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    trees = world.path / ".git/grace/cache/trees"
    used = {p.name for p in trees.iterdir()}
    assert used
    old = trees / ("0" * 40)
    old.mkdir()
    os.utime(old, (time.time() - 3 * 86400,) * 2)
    world.grace("clean").exits(0)
    assert {p.name for p in trees.iterdir()} == used


def test_a_live_run_with_a_long_deadline_keeps_what_it_uses(world):
    world.plan(ONE, defaults={"limits": {"deadline": "100h"}})
    world.run("--profile", "fast").exits(4)
    world.plan({"B": {"writes": {"src/b.txt": "b"}}})
    trees = world.path / ".git/grace/cache/trees"
    old = trees / ("0" * 40)
    old.mkdir(parents=True)
    os.utime(old, (time.time() - 150 * 3600,) * 2)
    world.run("--yes").exits(0)
    assert old.is_dir(), "150 h is less than twice 100 h"
    os.utime(old, (time.time() - 250 * 3600,) * 2)
    world.plan({"C": {"writes": {"src/c.txt": "c"}}})
    world.run("--yes").exits(0)
    assert not old.exists()


@pytest.mark.usefixtures("hasty")
def test_what_cannot_be_dropped_is_named_with_the_commands_and_the_rest_goes(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    run = world.run_id
    spot = world.path / f".git/grace/runs/{run}/logs/busy"
    spot.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", spot], check=True)
    try:
        branch = f"refs/heads/grace/{run}/integration"
        (world.path / f".git/{branch}.lock").touch()
        said = world.grace("clean", run, "--force").exits(1).out
        assert [ref for ref in world.refs() if run in ref] == [branch]
        assert not (world.path / ".grace/runs" / run).exists()
        assert world.status()["state"] == "cancelled", "half of it is gone: nobody takes it up again"
        world.grace("resume", run).exits(1)
        commands = [line.strip() for line in said.splitlines() if line.startswith("  ")]
        for command in commands:
            subprocess.run(["sh", "-c", command], cwd=world.path, check=True)
    finally:
        subprocess.run(["umount", spot], check=False, capture_output=True)
    assert said.splitlines()[-1] == f"then: grace clean {run} --force"
    world.grace("clean", run, "--force").exits(0)
    gone(world, run)
