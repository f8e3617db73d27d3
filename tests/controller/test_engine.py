"""The port of the durable engine: an outcome for each action, once recorded given again, cut off work done again."""

import json
import queue
import threading
import time

import pytest

from controller.engine import Engine
from packets.events import Action, ActionKind, Event, EventType

ACTION = Action(id="00001-merge", kind=ActionKind.MERGE, module="A", attempt=1)


@pytest.fixture
def launch(tmp_path):
    import logging

    engines = []

    def make(carry_out):
        engine = Engine(tmp_path / "run" / "engine.db", "r1", carry_out, 4)
        engine.launch()
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()
    logging.getLogger("dbos").handlers.clear()


def done(action, **data):
    return Event(type=EventType.MERGED, module=action.module, action=action.id, data=data)


def test_the_outcome_comes_back_and_steps_are_recorded(launch):
    ran = []

    def carry_out(action, step):
        first = step("first", lambda: ran.append("first") or {"n": 1})
        return done(action, n=first["n"], again=step("second", lambda: [1, None, "ü"]))

    engine = launch(carry_out)
    engine.start(ACTION)
    event = engine.outcomes.get(timeout=10)
    assert event == done(ACTION, n=1, again=[1, None, "ü"])
    engine.close()

    again = launch(carry_out)
    again.start(ACTION)
    assert again.outcomes.get(timeout=10) == event
    assert ran == ["first"], "what ended is not done again"


def test_starting_twice_does_it_once(launch):
    ran, go = [], threading.Event()

    def carry_out(action, step):
        step("x", lambda: ran.append(1) or go.wait(5))
        return done(action)

    engine = launch(carry_out)
    engine.start(ACTION)
    engine.start(ACTION)
    go.set()
    engine.outcomes.get(timeout=10)
    assert ran == [1]


class Killed(BaseException):
    """A thread that dies as the process would."""


def test_what_was_cut_off_is_taken_up_after_its_last_recorded_step(launch):
    ran = []

    def dies(action, step):
        step("first", lambda: ran.append("first") or 1)
        raise Killed

    engine = launch(dies)
    engine.start(ACTION)
    until = time.monotonic() + 10
    while not ran and time.monotonic() < until:
        time.sleep(0.01)
    with pytest.raises(queue.Empty):
        engine.outcomes.get(timeout=0.3)
    engine.close()

    def goes_on(action, step):
        step("first", lambda: ran.append("first again") or 1)
        return done(action, second=step("second", lambda: ran.append("second") or 2))

    again = launch(goes_on)
    again.start(ACTION)
    assert again.outcomes.get(timeout=10).data == {"second": 2}
    assert ran == ["first", "second"]


def test_an_action_that_the_engine_gave_up_is_an_outcome_too(launch, tmp_path):
    import sqlite3

    engine = launch(lambda action, step: done(action))
    engine.start(ACTION)
    engine.outcomes.get(timeout=10)
    engine.close()
    with sqlite3.connect(tmp_path / "run" / "engine.db") as db:
        db.execute("UPDATE workflow_status SET status='MAX_RECOVERY_ATTEMPTS_EXCEEDED'")
    db.close()
    again = launch(lambda action, step: done(action))
    again.start(ACTION)
    event = again.outcomes.get(timeout=5)
    assert event.type is EventType.BROKEN
    assert event.action == ACTION.id
    assert "MAX_RECOVERY" in json.dumps(event.data)


def test_closing_waits_for_what_stops(launch):
    stopped, leaving = [], threading.Event()

    def carry_out(action, step):
        step("x", lambda: leaving.wait(5))
        time.sleep(0.2)
        stopped.append(1)
        return done(action)

    engine = launch(carry_out)
    engine.start(ACTION)
    time.sleep(0.1)
    leaving.set()
    engine.close()
    assert stopped == [1]


def test_it_must_be_launched(tmp_path):
    with pytest.raises(RuntimeError):
        Engine(tmp_path / "engine.db", "r1", lambda a, s: done(a), 1).start(ACTION)
