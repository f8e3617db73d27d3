"""Carrying: under the lock from the first look to the last word."""

from controller import carry as carrying
from controller.lock import holder
from controller.screen import Jsons
from sandbox.git import Git

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def test_one_that_another_process_ended_meanwhile_is_left_as_it_is(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    with world.store() as store:
        stale = store.run(None)
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    before = world.refs()
    with world.store() as store, Git.discover(world.path) as git:
        assert carrying.carry(git, store, stale, Jsons()) == ("done", 0)
    assert world.refs() == before, "its branches are not brought back"
    assert world.leftovers() == []


def test_the_end_is_written_down_before_the_lock_is_free(world, monkeypatch):
    """Who is attached reads state and exit code as soon as nobody holds the run."""
    from controller.store.store import Store

    world.plan(ONE)
    held = []
    whole = Store.set_run

    def watched(store, run_id, state, *rest):
        held.append((state, holder(world.path / ".git/grace/runs" / run_id) is not None))
        whole(store, run_id, state, *rest)

    monkeypatch.setattr(Store, "set_run", watched)
    world.run("--yes").exits(0)
    assert held == [("running", True), ("done", True)]


def test_branches_exist_while_a_run_lives_and_are_put_away_at_its_end(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    run = world.run_id
    live = world.refs(f"refs/heads/grace/{run}")
    assert {ref.rpartition(run + "/")[2] for ref in live} == {"integration", "A/attempt-1"}
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)
    assert world.refs("refs/heads/grace") == {}
    kept = world.refs(f"refs/grace/runs/{run}")
    assert {ref.rpartition(run + "/")[2]: c for ref, c in kept.items()} == {
        ref.rpartition(run + "/")[2]: c for ref, c in live.items()
    }


def test_readable_copies_that_are_gone_are_written_again(world):
    import shutil

    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    copies = {p.relative_to(world.path): p.read_bytes() for p in (world.path / ".grace").rglob("*") if p.is_file()}
    assert {p.parent.name for p in copies} == {"packets", "reviews"}
    shutil.rmtree(world.path / ".grace")
    world.grace("resume").exits(4)
    assert {
        p.relative_to(world.path): p.read_bytes() for p in (world.path / ".grace").rglob("*") if p.is_file()
    } == copies
    assert ".grace" not in world.git("status", "--porcelain")
