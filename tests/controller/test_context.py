"""The integration branch as an action sees it: what grace put there, or an error that says how to put it back."""

import pytest

from controller import refnames
from packets.errors import GraceError


@pytest.fixture
def ctx(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        yield ctx


def test_the_tip_is_what_the_record_says(ctx):
    assert ctx.tip() == ctx.expected_tip() == ctx.raw_tip() == ctx.records.saga()[-1].after


def test_one_commit_of_ours_ahead_is_a_crash_and_fine(ctx):
    tip = ctx.tip()
    ours = ctx.git.commit(ctx.git.tree(tip), [tip], f"x\n\nGrace-Run: {ctx.run_id}\n")
    ctx.move_tip(ours, tip)
    assert ctx.tip() == ours


@pytest.mark.parametrize("how", ["another's", "another run's", "two ahead", "back"])
def test_what_somebody_else_put_there_is_refused_with_how_to_put_it_back(ctx, how):
    git, tip = ctx.git, ctx.tip()
    words = {"another's": "x\n", "another run's": "x\n\nGrace-Run: other\n"}.get(how, f"x\n\nGrace-Run: {ctx.run_id}\n")
    foreign = git.commit(git.tree(tip), [tip], words)
    if how == "two ahead":
        foreign = git.commit(git.tree(tip), [foreign], words)
    git.update_ref(refnames.integration(ctx.run_id), ctx.run.base_commit if how == "back" else foreign, tip)
    with pytest.raises(GraceError, match="somebody moved") as caught:
        ctx.tip()
    assert tip in caught.value.hint


def test_a_swap_that_comes_too_late_is_refused(ctx):
    tip = ctx.tip()
    with pytest.raises(GraceError, match="somebody moved"):
        ctx.move_tip(tip, ctx.run.base_commit)
    assert ctx.raw_tip() == tip


def test_a_note_is_said_to_the_loop(ctx):
    heard = []
    ctx.say = heard.append
    ctx.note("words", "A", 2, level="module")
    assert (heard[0].module, heard[0].attempt, heard[0].data) == ("A", 2, {"message": "words", "level": "module"})
