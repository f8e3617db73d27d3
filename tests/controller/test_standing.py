"""How a run stands: state, exit code, and a line that says why."""

import getpass

import pytest

from controller.standing import actor, lapse, refolded, standing
from packets.errors import UsageError

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}}}


def test_who_acts_is_the_user_of_the_system(monkeypatch):
    assert actor() == getpass.getuser()

    def nobody():
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert actor().startswith("uid ")


@pytest.mark.parametrize(
    ("args", "expected"),
    [(("--yes",), ("done", 0, "")), ((), ("waiting", 4, "waits for a person: wave:1"))],
)
def test_it_is_the_same_that_was_stored(world, args, expected):
    world.plan(TWO)
    world.run(*args)
    with world.store() as store:
        run = store.run(None)
        assert standing(refolded(store, run.run_id), store, run.run_id) == (run.state, run.exit, run.note) == expected


def test_what_stopped_the_last_life_is_said_not_what_stopped_one_before(world):
    world.plan({"A": {"changes": {"src/old.txt": ("old\n", "new\n")}}})
    world.write({".git/index.lock": ""})
    world.run("--yes").exits(4)
    assert "locked" in world.status()["note"]
    (world.path / ".git/index.lock").unlink()
    world.write({"src/old.txt": "mine\n"})
    world.grace("resume").exits(4)
    assert "src/old.txt" in world.status()["note"]
    assert "locked" not in world.status()["note"]


def test_a_run_without_events_has_no_state(world):
    world.plan(TWO)
    world.run().exits(4)
    with world.store() as store, pytest.raises(UsageError, match="has not begun"):
        refolded(store, "nothing")


def test_nothing_lapses_before_its_time_nor_twice(world):
    world.plan(TWO)
    world.run().exits(4)
    with world.context() as ctx:
        assert lapse(ctx.folder, ctx.store, ctx.run_id) == []
        with ctx.store.db.transaction() as db:
            db.execute("UPDATE approvals SET lapses_at='2000'")
        assert lapse(ctx.folder, ctx.store, ctx.run_id) == ["wave:1"]
        assert lapse(ctx.folder, ctx.store, ctx.run_id) == []
    assert world.types().count("approval.lapsed") == 1


def test_a_live_controller_stores_its_lapses_itself(world):
    from controller.lock import held

    world.plan(TWO)
    world.run().exits(4)
    with world.context() as ctx, held(ctx.folder, ctx.run_id):
        with ctx.store.db.transaction() as db:
            db.execute("UPDATE approvals SET lapses_at='2000'")
        assert lapse(ctx.folder, ctx.store, ctx.run_id) == ["wave:1"]
    assert "approval.lapsed" not in world.types()
