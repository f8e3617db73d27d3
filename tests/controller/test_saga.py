"""Undoing merges: the branch without them, the rest put on again in order, what goes on rescue refs."""

import pytest

from controller.saga import put_in_place, rebuilt, without
from packets.errors import GraceError
from sandbox.git import Entry

ABC = {m: {"writes": {f"src/{m.lower()}.txt": m}} for m in "ABC"}


@pytest.fixture
def ctx(world):
    world.plan(ABC)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        yield ctx


@pytest.mark.parametrize(
    ("gone", "left"), [("A", "bc"), ("B", "ac"), ("C", "ab"), ("AC", "b"), ("ABC", ""), ("", "abc")]
)
def test_the_innocent_stay_and_keep_their_words(ctx, gone, left):
    before = {c.message: c.date for c in ctx.git.log(ctx.run.base_commit, ctx.tip())}
    made = without(ctx, set(gone))
    files = ctx.git.entries(made["tree"])
    assert {m for m in "abc" if f"src/{m}.txt" in files} == set(left)
    assert made["tip"] == ctx.tip() == ctx.expected_tip()
    after = ctx.git.log(ctx.run.base_commit, made["tip"])
    assert {c.message: c.date for c in after}.items() <= before.items()
    assert set(made["commits"]) == {m.upper() for m in left}
    assert {c.sha for c in after} == set(made["commits"].values())
    assert without(ctx, set(gone)) == made, "again changes nothing"


def test_nothing_moves_before_it_is_put_in_place(ctx):
    tip, saga, refs = ctx.tip(), ctx.records.saga(), ctx.git.refs("refs/")
    made = rebuilt(ctx, {"B"})
    assert (ctx.tip(), ctx.records.saga(), ctx.git.refs("refs/")) == (tip, saga, refs)
    assert rebuilt(ctx, {"B"}) == made, "the same commits, whoever makes them"
    put_in_place(ctx, made)
    assert ctx.tip() == made.tip


def test_what_was_undone_hangs_on_a_ref(ctx):
    step = next(s for s in ctx.records.saga() if s.module == "B")
    without(ctx, {"B"})
    assert step.after in ctx.git.refs(f"refs/grace/rescue/{ctx.run_id}").values()


def test_one_that_was_built_on_what_goes_is_named_and_nothing_moves(ctx):
    """Two merges of one file without a dependency between them: no plan allows it, a merged base can bring it."""
    git, tip = ctx.git, ctx.tip()
    tree = git.write_tree(git.tree(tip), {"src/a.txt": Entry("100644", git.write_blob(b"A and more\n"))})
    later = git.commit(tree, [tip], f"more\n\nGrace-Run: {ctx.run_id}\n")
    ctx.move_tip(later, tip)
    ctx.records.add_step("sync", "", wave=0, phase="", before=tip, after=later)
    saga = ctx.records.saga()
    with pytest.raises(GraceError, match=r"cannot stay without what is undone: both changed src/a\.txt"):
        without(ctx, {"A"})
    assert (ctx.tip(), ctx.records.saga()) == (later, saga)
