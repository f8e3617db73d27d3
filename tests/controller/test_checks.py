"""Checks of a run: once per tree, image and command; only green is used again."""

import pytest

from controller.checks import checked
from packets.errors import Interrupted
from packets.limits import Limits


@pytest.fixture
def ctx(world):
    world.calls = []
    for name, code in (("good", 0), ("bad", 1)):
        world.scripts[name] = lambda mounts, job, code=code: world.calls.append(job.argv[-1]) or code
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        yield ctx


def run(ctx, *commands, tree="", cancelled=lambda: False):
    tree = tree or ctx.git.tree(ctx.tip())
    return checked(ctx, tree, commands, name="c", limits=Limits(), cancelled=cancelled)


def test_results_come_in_order_one_for_each(ctx, world):
    assert [(r.command, r.passed) for r in run(ctx, "bad", "good", "bad")] == [
        ("bad", False),
        ("good", True),
        ("bad", False),
    ]
    assert world.calls == ["bad", "good"]


def test_green_is_used_again_for_the_same_tree_and_red_is_not(ctx, world):
    run(ctx, "good", "bad")
    run(ctx, "good", "bad")
    assert world.calls == ["good", "bad", "bad"]
    run(ctx, "good", tree=ctx.git.tree(ctx.run.base_commit))
    assert world.calls[-1] == "good", "another tree is other evidence"
    ctx.image = "another"
    run(ctx, "good")
    assert world.calls.count("good") == 3


def test_who_is_told_to_stop_says_so_and_leaves_nothing(ctx, world):
    with pytest.raises(Interrupted):
        run(ctx, "good", cancelled=lambda: True)
    assert world.calls == []
    assert not list(ctx.folder.glob("work/*"))


def test_no_command_is_no_result(ctx):
    assert run(ctx) == ()
