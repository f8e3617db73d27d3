"""grace run and resume: what they attach to, and what a dry run prints."""

import json
import threading

import pytest
import yaml

from controller.cli import run as command
from controller.lock import held
from controller.screen import Jsons
from sandbox.git import Git

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}}


def test_a_dry_run_prints_the_packets_that_a_run_would_issue_and_creates_nothing(world):
    world.plan(TWO)
    before = world.refs()
    said = world.grace("run", "plan.yaml", "--sandbox", "memory", "--dry-run").exits(0)
    assert not (world.path / ".git/grace/state.db").exists()
    assert not (world.path / ".grace").exists()
    assert world.refs() == before
    packet = next(d for d in said.out.split("---\n") if d.startswith("execution_packet"))
    wanted = yaml.safe_load(packet)["execution_packet"]
    assert wanted["module_id"] == "A"
    assert json.loads(said.out.partition("# limits\n")[2])["A"]["attempts"] == 3
    world.run("--profile", "fast").exits(4)
    issued = world.grace("packets", world.run_id, "A", "--json").json["packets"][0]
    assert issued["packet_id"] == wanted["packet_id"], "the very same packet"


@pytest.mark.parametrize("ended", [True, False])
def test_who_is_attached_sees_everything_and_ends_as_the_run_did(world, capsys, ended):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        holding = held(ctx.folder, ctx.run_id)
        holding.__enter__()
        if not ended:
            ctx.store.set_run(ctx.run_id, "running", None)
        threading.Timer(0.5, lambda: holding.__exit__(None, None, None)).start()
        with Git.discover(world.path) as git:
            capsys.readouterr()
            code = command.attach(git, ctx.store, ctx.store.run(None), Jsons())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert next(line["type"] for line in lines) == "run.started"
    assert lines[-1]["state"] == ("waiting" if ended else "stopped")
    assert code == lines[-1]["exit"] == 4
    if not ended:
        assert "its controller is gone" in lines[-1]["note"]


def test_resume_without_a_run_says_how_to_start_one(world):
    assert "grace run plan.yaml" in world.grace("resume").exits(2).err


def test_a_dry_run_as_json_says_the_same_in_one_object(world):
    world.plan(TWO)
    words = world.run("--dry-run").exits(0).out
    said = world.run("--dry-run", "--json", "--profile", "safe").exits(0).json
    assert said["plan"]["sandbox"] == "memory"
    assert said["plan"]["profile"] == "safe"
    assert [p["module_id"] for p in said["packets"]] == ["A"]
    assert said["packets"][0]["packet_id"] in words
    assert said["limits"]["A"]["attempts"] == 3
    assert not (world.path / ".git/grace/state.db").exists()
