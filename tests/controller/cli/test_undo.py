"""grace rollback and clean as commands: what they print and refuse."""

import pytest

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def test_words_and_json_say_the_same(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    run = world.run_id
    said = world.grace("rollback", run, "--to", "start").exits(0).out
    assert said.strip().endswith("main: A")
    again = world.grace("rollback", run, "--to", "start", "--json").exits(0).json
    assert (again["run_id"], again["modules"], again["reverted"]) == (run, [], [])


@pytest.mark.parametrize("args", [(), ("--to", "start", "--module", "A")])
def test_exactly_one_target(world, args):
    world.plan(ONE)
    world.run("--yes").exits(0)
    head = world.head
    world.grace("rollback", world.run_id, *args).exits(2)
    assert world.head == head


def test_force_needs_the_runs_id(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    assert "needs the run's id" in world.grace("clean", "--force").exits(2).err
    assert world.status()["state"] == "done"


def test_rollback_needs_the_runs_id(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    world.grace("rollback", "--to", "start").exits(2)
