"""A watch looks at what would be on the branch if all came together, and again when something of it moved."""

import pytest

from controller.refreshing.demand import Scope
from controller.refreshing.watching import Watch, place, view

A, B = "def f():\n    return 1\n", "y = 1\n"


@pytest.fixture
def done(world):
    """A run that has landed."""
    world.plan({"A": {"writes": {"src/a.py": A}}})
    world.run("--yes").exits(0)
    return world


@pytest.fixture
def waiting(world):
    """A run that asks before it lands: its work is on the integration branch only."""
    world.plan({"A": {"writes": {"src/a.py": A}}})
    world.run("--profile", "fast").exits(4)
    return world


def looks(watch):
    """Look until nothing moves any more; what it said."""
    return [seen for seen in (watch.look(), watch.look(), watch.look()) if seen is not None]


def kinds(found):
    return [(str(drift.kind), drift.path) for drift in found]


def test_it_looks_again_only_when_something_moved_and_says_what_came_and_went(done):
    with done.context() as ctx:
        watch = Watch(ctx, Scope(full=True), checks=False, no_cache=False)
        (first,) = looks(watch)
        assert (first.view.tree, first.came) == (done.tree(), ())
        assert looks(watch) == []
        done.write({"untracked.py": B})
        assert looks(watch) == []
        done.write({"src/old.txt": "edited\n"})
        (edited,) = looks(watch)
        assert kinds(edited.came) == [("unplanned_file", "src/old.txt")]
        assert edited.view.of == "main with your edits"
        (done.path / "src/old.txt").touch()
        assert looks(watch) == [], "touched, and the same"
        done.commit(message="committed now")
        (committed,) = looks(watch)
        assert (kinds(committed.came), committed.went) == ([("unplanned_file", "untracked.py")], ())
        done.git("revert", "-n", "HEAD")
        (undone,) = looks(watch)
        assert kinds(undone.went) == [("unplanned_file", "src/old.txt"), ("unplanned_file", "untracked.py")]


def test_what_is_still_moving_is_waited_for(done):
    with done.context() as ctx:
        watch = Watch(ctx, Scope(full=True), checks=False, no_cache=False)
        looks(watch)
        for n in range(3):
            done.write({"src/old.txt": f"{n}" * (n + 1)})
            assert watch.look() is None
        assert watch.look() is not None


def test_the_run_and_the_checkout_are_looked_at_together(waiting):
    with waiting.context() as ctx:
        merged = ctx.git.tree(ctx.tip())
        assert view(ctx, place(ctx)) == (merged, "the run", "")
        waiting.write({"src/old.txt": "edited\n"})
        both = view(ctx, place(ctx))
        assert waiting.show("src/old.txt", both.tree) == "edited"
        assert waiting.show("src/a.py", both.tree) == A.strip()
        waiting.commit({"src/mine.py": B}, "mine")
        waiting.write({"src/mine.py": "y = 2\n"})
        three = view(ctx, place(ctx))
        assert waiting.show("src/mine.py", three.tree) == "y = 2"
        assert waiting.show("src/a.py", three.tree) == A.strip()
        assert three.left_out == ""


def test_a_checkout_that_conflicts_or_shows_another_branch_is_left_out_and_said_to_be(waiting):
    with waiting.context() as ctx:
        merged = ctx.git.tree(ctx.tip())
        waiting.write({"src/a.py": "other = 1\n"})
        waiting.git("add", "-N", "src/a.py")
        waiting.git("add", "src/a.py")
        tree, _, said = view(ctx, place(ctx))
        assert (tree, said) == (merged, "your edits conflict with the run in src/a.py")
        waiting.git("commit", "-q", "-m", "mine")
        assert view(ctx, place(ctx)).left_out == "the run and main conflict in src/a.py"
        waiting.git("switch", "-q", "-c", "elsewhere")
        assert "shows elsewhere, not main" in view(ctx, place(ctx)).left_out
        waiting.git("switch", "-q", "--detach")
        assert "shows no branch" in view(ctx, place(ctx)).left_out


def test_nothing_of_the_checkout_is_changed(done):
    done.write({"src/old.txt": "edited\n"})
    before = done.git("status", "--porcelain"), done.git("ls-files", "-s"), done.refs()
    with done.context() as ctx:
        looks(Watch(ctx, Scope(full=True), checks=False, no_cache=False))
    assert (done.git("status", "--porcelain"), done.git("ls-files", "-s"), done.refs()) == before
