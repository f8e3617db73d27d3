"""A supervisor starts a dead controller again, with a bound, waits for people, and ends with the run."""

import logging
import signal

import pytest

from controller import supervise
from controller.lock import SUPERVISOR, held
from controller.supervise import Supervisor, hold_still
from packets.events import Event, EventType

ONE = {"A": {"writes": {"src/a.txt": "a"}}}


class Dead:
    """A controller that ended at once."""

    pid = 7

    def __init__(self, code=1):
        self.code = code

    def ended(self):
        return self.code


class Life(Dead):
    """A controller that does what it is for, in this process."""

    def __init__(self, world, run):
        super().__init__(world.grace("resume", run).code)


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(supervise, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(supervise, "_LOOK", 0.001)


@pytest.fixture
def waiting(world):
    """A run that waits for a person, its tools, and a maker of supervisors."""
    world.plan(ONE)
    world.run("--profile", "fast").exits(4)
    logging.getLogger("dbos").handlers.clear()  # they write to the stderr of the set-up
    with world.context() as ctx:
        yield ctx


def steps(supervisor, count):
    return [supervisor._step() for _ in range(count)]


def test_it_starts_what_died_and_gives_up_with_a_notice(world, waiting):
    started = []

    def start():
        started.append(1)
        return Dead(-signal.SIGKILL)

    waiting.store.set_run(waiting.run_id, "running", None)
    Supervisor(waiting.folder, waiting.store, waiting.run_id, start).go()
    assert len(started) == 3
    status = world.status()
    assert (status["state"], status["exit"]) == ("blocked", 4)
    assert "died 3 times without getting anything done (killed by signal 9)" in status["note"]
    assert "supervisor.log" in status["note"]
    assert world.grace("resume").code == 4, "a person can go on from there"


def test_a_run_that_waits_is_carried_on_when_somebody_answers(world, waiting):
    started = []

    def start():
        started.append(1)
        return Life(world, waiting.run_id)

    supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, start)
    assert steps(supervisor, 4) == [True] * 4
    assert len(started) == 1, "it was called to carry it on, and then waits"
    world.grace("approve").exits(0)
    supervisor.go()
    assert len(started) == 2
    assert world.states() == {"A": "done"}


def test_it_starts_nothing_beside_a_carrier(world, waiting):
    with held(waiting.folder, waiting.run_id):
        supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, Dead)
        assert steps(supervisor, 3) == [True] * 3
        assert supervisor._life is None


@pytest.mark.parametrize("state", ["done", "failed", "cancelled", "paused", "interrupted", "blocked"])
def test_it_ends_with_the_run(world, waiting, state):
    supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, lambda: Dead(0))
    supervisor._fresh = False
    waiting.store.set_run(waiting.run_id, state, 1)
    supervisor.go()


def test_an_approval_that_lapses_meanwhile_pauses_the_run(world, waiting):
    supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, Dead)
    supervisor._fresh = False
    with waiting.store.db.transaction() as db:
        db.execute("UPDATE approvals SET lapses_at='2020'")
    supervisor.go()
    assert world.status()["state"] == "paused"


def test_a_pause_counts_between_two_controllers(world, waiting):
    pause = Event(type=EventType.PAUSED, actor="somebody")
    waiting.store.set_run(waiting.run_id, "running", None)
    waiting.store.post(waiting.run_id, pause)  # and then the controller died
    supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, Dead)
    supervisor._fresh = False
    supervisor.go()
    assert world.status()["state"] == "paused"
    assert waiting.store.unread(waiting.run_id) == []
    waiting.store.set_run(waiting.run_id, "running", None)
    hold_still(waiting.folder, waiting.store, waiting.run_id, pause)
    assert world.status()["state"] == "paused"


def test_pause_reaches_a_run_that_waits_in_the_background_and_no_other(world, waiting):
    assert "stands still" in world.grace("pause").exits(0).out
    with held(waiting.folder, waiting.run_id, SUPERVISOR):
        assert "in the background: its supervisor is process" in world.grace("status").exits(0).out
        assert "pausing" in world.grace("pause").exits(0).out
    assert world.status()["state"] == "paused"


def test_a_run_that_was_dropped_ends_it(world, waiting):
    supervisor = Supervisor(waiting.folder, waiting.store, waiting.run_id, Dead)
    supervisor._fresh = False
    world.grace("clean", waiting.run_id, "--force").exits(0)
    supervisor.go()
