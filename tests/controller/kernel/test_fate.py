"""What becomes of an attempt that did not come to its end."""

from collections.abc import Callable
from typing import Any

from controller.kernel.fate import PATIENCE
from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]


def test_an_engine_that_drops_every_attempt_is_a_matter_for_a_person(start: Start) -> None:
    run = start([["a"]], attempts=1)
    for _ in range(2):
        for _ in range(PATIENCE):
            assert run.state.halt == ""
            action = run.find(K.ATTEMPT)
            assert action.attempt == 1
            run.end(action, E.ATTEMPT_STOPPED, reason="the engine was lost")
        assert (run.state.halt, run.open) == ("blocked", {})
        run.tell(E.RESUMED)


def test_stops_count_only_in_a_row_and_only_when_nobody_wished_them(start: Start) -> None:
    run = start([["a"]], attempts=99)
    for round_ in range(PATIENCE * 3):
        if round_ % 3 == 0:
            run.judge("a", signature=str(round_))
        elif round_ % 3 == 1:
            run.tell(E.INTERRUPTED)
            run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
            run.tell(E.RESUMED)
        else:
            run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
        assert run.state.halt == ""


def test_an_attempt_that_came_to_its_end_starts_the_count_anew(start: Start) -> None:
    run = start([["a"]])
    for _ in range(2):
        for _ in range(PATIENCE - 1):
            run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
        assert run.state.halt == ""
        run.judge("a")


def test_a_failure_reaches_all_who_need_it_over_phases(start: Start) -> None:
    run = start([["a", "x"]], [["b"], ["c", "y"]], needs="b>a c>b y>x", optional=("a", "b", "c"))
    run.judge("a", final="the deadline was reached")
    assert run.states() == {"a": "failed", "x": "working", "b": "cancelled", "c": "cancelled", "y": "queued"}
    assert [(t.module, t.cause) for t in run.transitions if t.after == "cancelled"] == [
        ("b", "a failed"),
        ("c", "a failed"),
    ]
