"""grace watch: every event once, the end with its exit code, and what nobody carries is said."""

import threading

from controller.lock import SUPERVISOR, held

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


def test_a_run_that_is_over_is_shown_with_its_end(world):
    world.plan(ONE)
    world.run("--yes").exits(0)
    said = world.grace("watch", "--json").exits(0).lines
    assert (said[0]["type"], said[-1]["type"], said[-1]["state"]) == ("run.started", "run.finished", "done")
    assert "nobody carries" not in world.grace("watch").exits(0).out


def test_a_run_that_nobody_carries_is_shown_as_it_stands(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    said = world.grace("watch").exits(4).out
    assert f"nobody carries run {world.run_id} now" in said
    assert "grace approve" in said


def test_who_watches_a_run_in_the_background_stays_while_its_controller_is_started_again(world):
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx:
        ctx.store.set_run(ctx.run_id, "running", None)  # as a controller left it that was killed
        with held(ctx.folder, ctx.run_id, SUPERVISOR):
            ended = threading.Timer(0.7, lambda: ctx.store.set_run(ctx.run_id, "paused", 4, "by somebody"))
            ended.start()
            said = world.grace("watch", "--json").exits(4).lines
            ended.join()
    assert (said[-1]["state"], said[-1]["note"]) == ("paused", "by somebody")
