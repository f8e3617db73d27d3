"""The loop of one run: order, resuming in every state, interruptions, deadlines, broken machinery."""

import os
import shutil
import signal
import threading
import time
from datetime import datetime, timedelta
from itertools import count

import pytest

from controller.lock import held
from controller.store import store
from packets.errors import EngineLost, MachineLacks

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}}


def test_a_run_from_its_begin_to_its_end(world):
    world.plan(TWO)
    said = world.run("--yes", "--json").exits(0)
    assert said.lines[-1] == {"type": "run.finished", "run_id": world.run_id, "state": "done", "exit": 0, "note": ""}
    assert world.states() == {"A": "done", "B": "done"}
    assert world.types() == [
        "run.started",
        "attempt.started", "attempt.judged", "merge.done", "refresh.done",
        "attempt.started", "attempt.judged", "merge.done", "refresh.done",
        "refresh.done", "landing.done", "run.finished",
    ]  # fmt: skip
    world.agrees()
    assert world.leftovers() == []


def test_events_are_numbered_in_order_and_the_same_as_the_run_printed(world):
    world.plan(TWO)
    printed = world.run("--json", "--profile", "fast").exits(4).lines
    stored = world.events()
    numbers = [e["seq"] for e in stored]
    assert numbers == sorted(set(numbers))
    assert [e["at"] for e in stored] == sorted(e["at"] for e in stored)
    assert [(e["type"], e["module"], e["attempt"], e["data"]) for e in printed[:-1]] == [
        (e["type"], e["module"], e["attempt"], e["data"]) for e in stored
    ]
    asked = [e for e in stored if e["type"] == "approval.asked"]
    assert [e["data"]["subject"] for e in asked] == ["landing:one"]


def test_every_transition_is_stored_with_cause_and_actor(world):
    world.plan(TWO)
    world.run("--yes").exits(0)
    with world.store() as store:
        rows = store.db.rows("SELECT before, after, cause, actor FROM transitions WHERE module='A' ORDER BY seq, rowid")
    assert [(r["before"], r["after"]) for r in rows] == [
        ("queued", "working"),
        ("working", "asleep"),
        ("asleep", "done"),
    ]
    assert all(r["cause"] and r["actor"] for r in rows)


def test_rule_12_what_is_done_is_left_alone(world):
    world.plan(TWO)
    world.run("--yes").exits(0)
    run, before, events = world.run_id, world.refs(), world.events()
    world.grace("resume").exits(0)
    again = world.run("--yes").exits(0)
    assert "is over: done" in again.out
    assert world.run_id == run
    assert (world.refs(), world.events()) == (before, events)


def test_a_failed_run_is_left_alone_by_resume_and_started_anew_by_run(world):
    world.scripts["fail"] = lambda mounts, job: 1
    world.plan({"A": {"run": "fail", "write_scope": ["src/a.txt"], "limits": {"attempts": 1}}})
    world.run("--yes").exits(1)
    first, events = world.run_id, len(world.events())
    world.grace("resume").exits(1)
    assert len(world.events()) == events
    world.run("--yes").exits(1)
    assert world.run_id != first


def test_a_waiting_run_is_taken_up_by_run_too_and_keeps_what_it_began_with(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    run = world.run_id
    said = world.run("--yes").exits(4)
    assert world.run_id == run
    assert "--yes: not taken over" in said.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_worker_works(world, number):
    """The engine sees the wish to stop; nothing counts as an attempt, what was half done hangs on a rescue ref."""
    from packets.outcome import StopReason
    from sandbox.memory import MemorySandbox
    from sandbox.protocol import Ending

    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    calls = count()
    whole = MemorySandbox.wait

    def wait(self, job, cancelled=lambda: False):
        if job.labels.get("grace.kind") != "work" or next(calls):
            return whole(self, job, cancelled)
        mounts = {m.target: m.source for m in job.mounts}
        (mounts["/repo"] / "src/a.txt").write_text("half\n")
        os.kill(os.getpid(), number)
        while not cancelled():
            time.sleep(0.01)
        return Ending(None, StopReason.CANCELLED, 0.1)

    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/a.txt").write_text("whole\n") and 0
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemorySandbox, "wait", wait)
        said = world.run("--yes", "--json").exits(130)
        assert said.lines[-1]["state"] == "interrupted"
        assert said.lines[-1]["exit"] == 130
        assert world.status()["state"] == "interrupted"
        rescued = world.refs("refs/grace/rescue")
        assert [world.show("src/a.txt", ref) for ref in rescued] == ["half"]
        assert [signal.getsignal(each) for each in handlers] == list(handlers.values()), "handlers are put back"
        world.grace("resume").exits(0)
    assert world.attempts() == {"A": 1}, "it costs no attempt"
    assert world.show("src/a.txt", "main") == "whole"
    world.agrees()
    assert world.leftovers() == []


@pytest.mark.parametrize("word", ["pause", "cancel"])
def test_a_live_run_hears_what_people_say(world, word):
    """Posted while it works, as another process does it."""
    from packets.events import Event, EventType

    kind = {"pause": EventType.PAUSED, "cancel": EventType.CANCELLED}[word]

    def work(mounts, job):
        with world.store() as store:
            store.post(store.run(None).run_id, Event(type=kind, actor="somebody"))
        time.sleep(0.5)
        (mounts["/repo"] / "src/a.txt").write_text("x\n")
        return 0

    world.scripts["work"] = work
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}, "B": TWO["B"]})
    world.run("--yes").exits({"pause": 4, "cancel": 1}[word])
    if word == "cancel":
        assert world.states() == {"A": "cancelled", "B": "cancelled"}
        assert "src/a.txt" not in world.files("main")
        assert world.leftovers() == []
        return
    assert world.status()["state"] == "paused"
    assert world.states()["B"] == "paused"
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/a.txt").write_text("x\n") and 0
    world.grace("resume").exits(0)
    assert world.attempts()["A"] == 1
    world.agrees()


@pytest.mark.parametrize("state", ["waiting", "landing", "paused", "blocked"])
def test_cancel_ends_a_run_in_any_state(world, state):
    world.plan(TWO)
    if state == "waiting":
        world.run().exits(4)
    if state == "landing":
        world.run("--profile", "fast").exits(4)
    if state == "paused":
        world.run().exits(4)
        with world.store() as store, store.db.transaction() as db:
            db.execute("UPDATE approvals SET lapses_at='2000' WHERE state='open'")
        world.grace("approve").exits(4)
    if state == "blocked":
        world.write({".git/index.lock": ""})
        world.run("--yes").exits(4)
        (world.path / ".git/index.lock").unlink()
    head = world.head
    world.grace("cancel").exits(0)
    assert set(world.states().values()) == {"cancelled"}
    assert world.status()["state"] == "cancelled"
    assert world.head == head
    assert world.leftovers() == []
    world.grace("resume").exits(1)


def test_the_runs_deadline_counts_working_time_and_is_said(world):
    world.scripts["slow"] = lambda mounts, job: time.sleep(1.4) or 0
    world.plan({"A": {"run": "slow", "write_scope": ["src/a.txt"]}}, limits={"deadline": "1s"})
    said = world.run("--yes").exits(1)
    assert "deadline of 1 s of working time was reached" in said.out
    assert world.status()["state"] == "cancelled"
    assert "deadline" in world.status()["note"]
    assert world.leftovers() == []


def test_time_that_a_run_stands_still_is_no_working_time(world):
    world.plan(TWO, limits={"deadline": "30s"})
    world.run("--profile", "fast").exits(4)
    with world.store() as store, store.db.transaction() as db:
        db.execute("UPDATE events SET at='2001-01-01T00:00:00.000+00:00'")
    world.grace("approve").exits(0)
    world.grace("resume").exits(0)


def test_an_engine_that_comes_back_costs_nothing(world, monkeypatch):
    monkeypatch.setattr("controller.patience._FIRST", 0.01)
    lost = count()

    def work(mounts, job):
        if next(lost) < 2:
            raise EngineLost("the engine went away")
        (mounts["/repo"] / "src/a.txt").write_text("x\n")
        return 0

    world.scripts["work"] = work
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    world.run("--yes").exits(0)
    assert world.attempts() == {"A": 1}


def test_an_engine_that_stays_away_stops_the_run_with_exit_3_and_a_resume_goes_on(world, monkeypatch):
    monkeypatch.setenv("GRACE_PATIENCE", "0.1")

    def lost(mounts, job):
        raise EngineLost("the engine went away", "start it again")

    world.scripts["work"] = lost
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    said = world.run("--yes").exits(3)
    assert "the engine went away (start it again)" in said.out
    assert (world.status()["state"], world.status()["exit"]) == ("blocked", 3)
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/a.txt").write_text("x\n") and 0
    world.grace("resume").exits(0)
    assert world.attempts() == {"A": 1}
    world.agrees()


def test_a_fault_of_our_own_stops_the_run_and_says_where_the_traceback_is(world):
    def broken(mounts, job):
        raise ZeroDivisionError("a bug")

    world.scripts["work"] = broken
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    said = world.run("--yes")
    assert said.code == 1
    assert "ZeroDivisionError: a bug" in said.out
    traces = list(world.path.glob(".git/grace/runs/*/logs/*.traceback"))
    assert len(traces) == 1
    assert str(traces[0]) in said.out
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/a.txt").write_text("x\n") and 0
    world.grace("resume").exits(0)


def test_a_work_folder_that_somebody_removes_under_a_worker_is_made_again(world):
    def robbed(mounts, job):
        (mounts["/repo"] / "src/a.txt").write_text("a")
        if world.attempts() == {"A": 1} and not robbed_before:
            robbed_before.append(1)
            for folder in world.path.glob(".git/grace/runs/*/work"):
                shutil.rmtree(folder)
        return 0

    robbed_before = []
    world.scripts["robbed"] = robbed
    world.plan({"A": {"run": "robbed", "write_scope": ["src/a.txt"]}})
    said = world.run("--yes").exits(3)
    assert "somebody removed" in said.out
    assert f"grace resume {world.run_id}" in said.out
    assert list(world.path.glob(".git/grace/runs/*/logs/*.traceback")) == []
    world.grace("resume").exits(0)
    assert world.attempts() == {"A": 1}
    assert world.show("src/a.txt", "main") == "a"


def test_a_machine_that_lacks_the_engine_is_exit_3_and_the_run_stays_as_it_was(world, monkeypatch):
    import sandbox.choose

    world.plan(TWO)
    world.run("--profile", "fast").exits(4)

    def lacks():
        raise MachineLacks("no engine here", "install one")

    monkeypatch.setitem(sandbox.choose._CHOICES, "memory", lacks)
    said = world.grace("resume", "--json").exits(3)
    assert "no engine here" in said.err
    assert said.lines[-1]["type"] == "run.finished"
    assert said.lines[-1]["exit"] == 3
    assert world.status()["state"] == "waiting"


def test_d6_a_second_controller_is_refused_and_says_who_holds_the_run(world):
    world.plan(TWO)
    world.run("--profile", "fast").exits(4)
    before = world.refs()
    with world.context() as ctx:
        holding = held(ctx.folder, ctx.run_id)
        holding.__enter__()
        done = threading.Timer(1.0, lambda: holding.__exit__(None, None, None))
        done.start()
        said = world.grace("resume")
        done.join()
    assert f"process {os.getpid()}" in said.out
    assert said.code == 4, "it follows the other until that stands still"
    assert world.refs() == before


STEPS = ["_packet", "_work", "_judge", "_judged"]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_h1_a_crash_between_any_two_steps_of_an_attempt(world, cut, step, side):
    ran = []
    world.scripts["work"] = lambda mounts, job: (
        ran.append(job.name) or ((mounts["/repo"] / "src/a.txt").write_text("x\n") and 0)
    )
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    with cut(f"controller.actions.attempt.{step}", side):
        world.run("--yes")
    world.grace("resume").exits(0)
    assert world.attempts() == {"A": 1}
    assert world.types().count("attempt.judged") == 1
    assert len(world.grace("packets", world.run_id, "--json").json["packets"]) == 1
    assert len(ran) == 1, "a worker that ended is not run again"
    assert world.subjects().count("Do A") == 1
    world.agrees()
    assert world.leftovers() == []


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(
    "point",
    ["controller.actions.refresh._refresh", "controller.actions.finish.tidy", "controller.actions.finish.put_away"],
)
def test_h1_a_crash_around_a_refresh_or_the_end(world, cut, point, side):
    world.plan(TWO)
    with cut(point, side):
        world.run("--yes")
    world.grace("resume").exits(0)
    assert world.types().count("run.finished") == 1
    world.agrees()
    assert world.leftovers() == []


def test_h1_a_crash_after_the_end_was_said_and_before_it_was_written_down(world, cut):
    world.plan(TWO)
    with cut("controller.store.store.Store.set_run", "before", 2):
        world.run("--yes")
    assert world.status()["state"] == "stopped"
    world.grace("resume").exits(0)
    assert world.status()["state"] == "done"
    assert world.leftovers() == []


def test_h1_a_crash_before_the_first_event(world, cut):
    world.plan(TWO)
    with cut("controller.store.store.Store.record", "before"):
        world.run("--yes")
    world.run("--yes").exits(0)
    with world.store() as store:
        assert len(store.runs()) == 1
    world.agrees()


def test_a_wall_clock_that_jumps_ends_no_run(world, monkeypatch):
    """Hours pass on the wall between two events of one life; the run has worked for seconds."""
    steps = count()

    def jumped():
        at = datetime.fromisoformat("2030-01-01T00:00:00.000+00:00") + timedelta(hours=2 * next(steps))
        return at.isoformat(timespec="milliseconds")

    monkeypatch.setattr(store, "now", jumped)
    world.plan({"A": {"writes": {"src/a.txt": "a"}}}, limits={"deadline": "1h"}, approval_timeout="365d")
    world.run().exits(4)
    for subject in ("wave:1", "landing:one"):
        world.grace("approve", world.run_id, subject).exits(0)
        assert "deadline" not in world.grace("resume", world.run_id).out
    assert world.states() == {"A": "done"}
