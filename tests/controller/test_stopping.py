"""The mark that stops workers at once: seen while it is held, by however many, and by nobody afterwards."""

import threading
import time

from controller.lock import held
from controller.stopping import _marked, told_to_stop
from packets.events import Event, EventType


def looking(folder, seen, ended):
    while not ended.is_set():
        seen.append(told_to_stop(folder))


def test_however_many_look_nobody_sees_a_mark_that_nobody_holds(tmp_path):
    with _marked(tmp_path):
        assert told_to_stop(tmp_path)
    seen, ended = [], threading.Event()
    threads = [threading.Thread(target=looking, args=(tmp_path, seen, ended)) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    assert not any(seen)
    with _marked(tmp_path), _marked(tmp_path):  # the second one has nothing to add
        assert told_to_stop(tmp_path)
    ended.set()
    for thread in threads:
        thread.join()
    assert not told_to_stop(tmp_path)


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    assert not told_to_stop(tmp_path / "gone")
    with _marked(tmp_path / "gone"):
        assert not told_to_stop(tmp_path / "gone")


def test_who_says_it_waits_a_moment_for_it_to_be_taken_in(world):
    from controller.stopping import stop

    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--profile", "fast").exits(4)
    with world.context() as ctx, held(ctx.folder, ctx.run_id):
        threading.Timer(0.2, lambda: _take_in(ctx)).start()
        stop(ctx.folder, ctx.store, ctx.run_id, Event(type=EventType.PAUSED))
        assert ctx.store.unread(ctx.run_id) == []
    assert not told_to_stop(ctx.folder)


def _take_in(ctx):
    with ctx.store.db.transaction() as db:
        db.execute("UPDATE inbox SET seq=1")
