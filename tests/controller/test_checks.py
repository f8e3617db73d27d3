"""Checks of a run: once per tree, image and command; only green is used again."""

import time

import pytest

from controller.checks import _key, checked
from controller.store.said import remember
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


def run(ctx, *commands, tree="", cancelled=lambda: False, blames=False, limits=None):
    tree = tree or ctx.git.tree(ctx.tip())
    return checked(ctx, tree, commands, name="c", limits=limits or Limits(), cancelled=cancelled, blames=blames)


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


@pytest.fixture
def told(world, ctx):
    """Make a check that says what it is given, one word after the other, and the last one for ever."""

    def make(name, *codes):
        left = list(codes)

        def script(mounts, job):
            world.calls.append(name)
            return left.pop(0) if len(left) > 1 else left[0]

        ctx.sandbox._scripts[name] = script

    return make


def seen(results):
    return [(r.passed, r.flaky) for r in results]


def test_a_red_check_is_not_run_again_where_nothing_speaks_for_it(ctx, told, world):
    told("first", 1, 0)
    assert seen(run(ctx, "first")) == [(False, "")]
    assert world.calls == ["first"]


def test_green_after_red_on_one_tree_is_flaky_and_stays_so_when_the_evidence_is_used_again(ctx, told, world):
    told("once", 1, 0)
    run(ctx, "once")
    assert seen(run(ctx, "once")) == [(True, "failed, passed")]
    assert seen(run(ctx, "once")) == [(True, "failed, passed")]
    assert world.calls == ["once", "once"]


def test_red_where_it_was_green_is_run_once_more(ctx, told, world):
    """Two modules ask at once: one is told green and the other red, of the same tree."""
    for codes, expected in (((1, 0), (True, "passed, failed, passed")), ((1, 1), (False, "passed, failed, failed"))):
        name = f"both{codes}"
        told(name, *codes)
        tree = ctx.git.tree(ctx.tip())
        remember(ctx.store.db, _key(ctx, tree, name), "another-run", tree, name, passed=True)
        assert seen(run(ctx, name)) == [expected]
        assert world.calls.count(name) == 2


def test_before_anybody_is_blamed_a_red_check_is_run_once_more_and_red_twice_is_red(ctx, told, world):
    told("turns", 1, 0)
    told("stays", 1, 1, 0)
    assert seen(run(ctx, "turns", "stays", "good", blames=True)) == [(True, "failed, passed"), (False, ""), (True, "")]
    assert world.calls == ["turns", "stays", "good", "turns", "stays"]


def test_another_tree_is_another_matter(ctx, told):
    told("tree", 1, 0)
    run(ctx, "tree")
    assert seen(run(ctx, "tree", tree=ctx.git.tree(ctx.run.base_commit))) == [(True, "")]


def test_a_deadline_is_final(ctx, told, world):
    def slow(mounts, job):
        world.calls.append("slow")
        time.sleep(0.05)
        return 0

    ctx.sandbox._scripts["slow"] = slow
    limits = Limits.model_construct(**{**Limits().model_dump(), "deadline": 0.01})
    (result,) = run(ctx, "slow", blames=True, limits=limits)
    assert result.reason == "deadline"
    assert world.calls == ["slow"]


def test_who_is_told_to_stop_says_so_and_leaves_nothing(ctx, world):
    with pytest.raises(Interrupted):
        run(ctx, "good", cancelled=lambda: True)
    assert world.calls == []
    assert not list(ctx.folder.glob("work/*"))


def test_no_command_is_no_result(ctx):
    assert run(ctx) == ()
