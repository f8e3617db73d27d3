"""The end of a run: branches put away, nothing left, and what must stay stays."""

from controller.actions.finish import bring_back, put_away, tidy

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def test_branches_go_and_come_back_as_they_were(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    before = world.refs()
    with world.context() as ctx:
        for _ in range(2):
            put_away(ctx)
            assert world.refs("refs/heads/grace") == {}
        for _ in range(2):
            bring_back(ctx.git, ctx.run_id)
            assert world.refs() == before


def test_another_runs_branches_are_not_touched(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    first = world.run_id
    live = world.refs(f"refs/heads/grace/{first}")
    world.run("--new", "--yes").exits(0)
    assert world.refs("refs/heads/grace") == live


def test_sandboxes_and_work_folders_go_whatever_was_done_to_them(world):
    from sandbox.protocol import Job

    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        ctx.sandbox.start(Job(run_id=ctx.run_id, name="stray", argv=("true",), log=ctx.folder / "log"))
        ctx.sandbox.start(Job(run_id="another", name="foreign", argv=("true",), log=ctx.folder / "log"))
        locked = ctx.folder / "work" / "x" / "locked"
        locked.mkdir(parents=True)
        (locked / "file").touch()
        locked.chmod(0)
        assert tidy(ctx)
        assert ctx.sandbox.remaining(ctx.run_id) == ()
        assert ctx.sandbox.remaining("another") == ("foreign",)
        assert not (ctx.folder / "work").exists()
        assert tidy(ctx), "again is fine"


def test_a_cache_that_cannot_be_pruned_keeps_no_run_from_ending(world, monkeypatch):
    def fails(*_args):
        raise PermissionError

    monkeypatch.setattr("controller.actions.finish.prune_cache", fails)
    world.plan(ONE)
    world.run("--yes").exits(0)
