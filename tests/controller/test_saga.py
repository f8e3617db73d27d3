"""Undoing merges: the branch without them, the rest put on again in order, what goes on rescue refs."""

import pytest

from controller.actions.land import take_in
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


def built_on(ctx, files, kind, module=""):
    """Put a step on the branch that changes these files; no plan allows it without a dependency."""
    git, tip = ctx.git, ctx.tip()
    tree = git.write_tree(git.tree(tip), {p: Entry("100644", git.write_blob(t.encode())) for p, t in files.items()})
    later = git.commit(tree, [tip], f"more\n\nGrace-Run: {ctx.run_id}\n")
    ctx.move_tip(later, tip)
    ctx.records.add_step(kind, module, wave=1, phase="one", before=tip, after=later)
    return later


def test_one_that_was_built_on_what_goes_is_named_and_nothing_moves(ctx):
    later = built_on(ctx, {"src/a.txt": "A and more\n"}, "merge", "Late")
    saga = ctx.records.saga()
    with pytest.raises(GraceError, match=r"Late, which stays, was built on it: both changed src/a\.txt") as raised:
        without(ctx, {"A"})
    assert raised.value.hint == f"first: grace rollback {ctx.run_id} --module Late"
    assert (ctx.tip(), ctx.records.saga()) == (later, saga)


def test_as_many_as_can_go_go(ctx):
    built_on(ctx, {"src/a.txt": "A and more\n"}, "merge", "Late")
    made = rebuilt(ctx, {"A", "B", "C"})
    assert [s.module for s in made.undone] == ["B", "C"]
    assert [(one.module, one.commands[-1]) for one in made.left] == [("A", f"grace rollback {ctx.run_id} --module A")]
    put_in_place(ctx, made)
    assert {"src/a.txt", "src/b.txt", "src/c.txt"} & set(ctx.git.entries(ctx.git.tree(ctx.tip()))) == {"src/a.txt"}
    again = rebuilt(ctx, {"A", "B", "C"})
    assert (again.tip, again.undone, again.left[0].reason) == (made.tip, (), made.left[0].reason)


def test_a_base_that_was_merged_in_and_no_longer_merges_goes_and_comes_again(ctx):
    built_on(ctx, {"src/a.txt": "A and more\n"}, "sync")
    made = rebuilt(ctx, {"A"})
    assert [(s.kind, s.module) for s in made.undone] == [("merge", "A"), ("sync", "")]
    assert made.left == ()


def test_a_base_that_brings_the_same_keeps_it(ctx):
    """Taken as a difference, a base that was merged in brings nothing of what a module brought before it."""
    git, tip = ctx.git, ctx.tip()
    same = git.write_tree(git.tree(ctx.run.base_commit), {"src/a.txt": git.entries(git.tree(tip))["src/a.txt"]})
    base = git.commit(same, [ctx.run.base_commit], "mine")
    assert "tip" in take_in(ctx, base)
    made = without(ctx, {"A"})
    assert "src/a.txt" in git.entries(made["tree"])
    assert git.is_ancestor(base, made["tip"])


def test_both_merges_of_a_module_go(ctx):
    built_on(ctx, {"src/a.txt": "A, once more\n"}, "merge", "A")
    assert len([s for s in ctx.records.saga() if s.module == "A"]) == 2
    made = without(ctx, {"A"})
    assert set(made["commits"]) == {"B", "C"}
    assert "src/a.txt" not in ctx.git.entries(made["tree"])
    assert [s.state for s in ctx.records.saga() if s.module == "A"] == ["undone", "undone"]
    assert len(ctx.git.refs(f"refs/grace/rescue/{ctx.run_id}/A")) == 2, "each hangs on a ref of its own"
