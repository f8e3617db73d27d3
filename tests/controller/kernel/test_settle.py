"""How outcomes change the state: once, and only while their action is under way."""

from collections.abc import Callable
from typing import Any

import pytest

from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]


def test_an_outcome_counts_once(start: Start) -> None:
    run = start([["a"]])
    first = run.find(K.ATTEMPT)
    run.judge("a")
    before = run.state
    assert run.end(first, E.ATTEMPT_JUDGED, decision="accept", head_tree="late", commit="c") == ()
    assert run.state == before
    assert run.state.at("a").attempt == 2


def test_what_is_no_outcome_ends_no_action(start: Start) -> None:
    run = start([["a"]])
    action = run.find(K.ATTEMPT)
    run.tell(E.ATTEMPT_STARTED, module="a", action=action.id)
    run.tell(E.NOTE, action=action.id)
    assert run.state.inflight == {action.id}


@pytest.mark.parametrize("word", ["merge.done", "refresh.done", "landing.done", "undo.done", "attempt.judged"])
def test_an_outcome_without_an_action_is_nobodys(start: Start, word: str) -> None:
    run = start([["a"]], yes=True)
    before = run.state
    facts = {"commit": "c", "tree": "t", "level": "phase", "green": True, "decision": "accept", "head_tree": "h"}
    run.tell(EventType(word), module="a", **facts)
    assert run.state == before


def test_rejected_attempts_end_at_the_allowed_number_and_cancel_what_needs_them(start: Start) -> None:
    run = start([["a", "x"], ["b"], ["c", "d"]], needs="b>a c>b d>x", attempts=2)
    run.judge("a", signature="one")
    assert run.find(K.ATTEMPT, "a").attempt == 2
    run.judge("a", signature="two")
    assert run.states() == {"a": "failed", "x": "working", "b": "cancelled", "c": "cancelled", "d": "queued"}


@pytest.mark.parametrize("facts", [{"final": "the deadline was reached"}, {"decision": "reject"}])
def test_some_rejections_are_final(start: Start, facts: dict[str, str]) -> None:
    run = start([["a", "b"]])
    run.judge("a", **facts)
    assert run.states()["a"] == "failed"
    assert run.transitions[-1].cause in {"the deadline was reached", "rejected for good"}


def test_another_failure_in_between_is_no_repetition(start: Start) -> None:
    run = start([["a"]], attempts=9)
    for signature in ("one", "two", "one", "", ""):
        run.judge("a", signature=signature)
    assert run.states() == {"a": "working"}
    run.judge("a", signature="three")
    run.judge("a", signature="three")
    assert run.states() == {"a": "waiting"}


def test_blocked_asks_even_after_the_last_attempt_and_yes_gives_one_more(start: Start) -> None:
    run = start([["a"]], attempts=1)
    run.judge("a", blocked=True)
    assert run.state.at("a").waits_for == "blocked"
    run.grant("module:a")
    assert (run.state.at("a").attempt, run.state.at("a").allowed) == (2, 2)
    run.judge("a")
    assert run.states() == {"a": "failed"}


def test_under_yes_nobody_is_asked_and_stuck_fails(start: Start) -> None:
    run = start([["a"], ["b"]], yes=True, needs="b>a")
    run.judge("a", blocked=True)
    assert run.states() == {"a": "failed", "b": "cancelled"}
    assert run.finish() == "failed"


def test_a_conflict_is_a_fresh_attempt_and_costs_one(start: Start) -> None:
    run = start([["a"]], profile="fast", attempts=2)
    run.accept("a")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    assert run.find(K.ATTEMPT).attempt == 2
    run.accept("a")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    assert run.states() == {"a": "failed"}


def test_a_culprit_without_attempts_left_fails_and_the_tree_is_checked_once_more(start: Start) -> None:
    run = start([["a", "b"], ["c"]], needs="c>b", profile="fast", attempts=1)
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh(green=False, culprit="b")
    run.end(run.find(K.UNDO), E.UNDONE, tip="c", tree="start+a")
    assert run.states() == {"a": "asleep", "b": "failed", "c": "cancelled"}
    assert run.state.tip == "start+a"
    assert run.kinds() == ["refresh"]


@pytest.mark.parametrize("culprit", ["", "before", "x", "nobody"])
def test_red_without_a_culprit_of_this_wave_ends_the_run(start: Start, culprit: str) -> None:
    run = start([["before"], ["a", "x"]], profile="fast")
    run.accept("before")
    run.merge("before")
    run.refresh()
    run.judge("x", final="no")
    run.accept("a")
    run.merge("a")
    run.refresh(green=False, culprit=culprit)
    assert run.finish() == "failed"
    assert run.states() == {"before": "asleep", "a": "asleep", "x": "failed"}


def test_a_broken_action_halts_and_is_done_again_on_resume(start: Start) -> None:
    run = start([["a"]], yes=True)
    for kind in (K.ATTEMPT, K.MERGE, K.REFRESH, K.REFRESH, K.LAND, K.FINISH):
        action = run.find(kind)
        run.end(action, E.BROKEN, message="no space left")
        assert (run.state.halt, run.open) == ("blocked", {})
        run.tell(E.RESUMED)
        again = run.find(kind)
        assert (again.module, again.attempt, again.data) == (action.module, action.attempt, action.data)
        assert again.id != action.id
        match kind:
            case K.ATTEMPT:
                run.accept("a")
            case K.MERGE:
                run.merge("a")
            case K.REFRESH:
                run.refresh()
            case K.LAND:
                run.land()
    assert run.finish() == "done"


def test_a_machine_that_breaks_before_any_action_halts(start: Start) -> None:
    run = start([["a"]])
    run.tell(E.BROKEN, message="no image")
    assert run.state.halt == "blocked"


def test_a_halt_by_a_person_is_not_overwritten_by_what_breaks_then(start: Start) -> None:
    run = start([["a"]])
    run.tell(E.INTERRUPTED)
    run.end(run.find(K.ATTEMPT), E.BROKEN, message="killed")
    assert run.state.halt == "interrupted"


def test_nothing_but_a_rollback_wakes_a_finished_run(start: Start) -> None:
    run = start([["a"]])
    run.judge("a", final="no")
    run.finish()
    before = run.state
    for type_ in (E.RESUMED, E.PAUSED, E.CANCELLED, E.INTERRUPTED):
        assert run.tell(type_) == ()
        assert run.state == before


def test_finishing_clears_a_halt(start: Start) -> None:
    run = start([["a"]])
    run.judge("a", final="no")
    run.tell(E.INTERRUPTED)
    assert run.finish() == "failed"
    assert run.state.halt == ""


def test_a_green_wave_has_no_culprit(start: Start) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh(culprit="a")
    assert run.find(K.REFRESH).data["level"] == "phase"


@pytest.mark.parametrize(("type_", "data"), [(E.ATTEMPT_STOPPED, {"reason": ""}), (E.BROKEN, {"message": ""})])
def test_no_transition_is_without_a_cause(start: Start, type_: EventType, data: dict[str, str]) -> None:
    run = start([["a"]])
    run.tell(E.PAUSED)
    run.end(run.find(K.ATTEMPT), type_, **data)
    (last,) = run.transitions[1:]
    assert (last.after, last.cause) == (
        "paused",
        f"{'stopped' if 'reason' in data else 'broken'}, as the run is paused",
    )


def test_a_failure_after_an_accepted_tree_is_no_repetition(start: Start) -> None:
    run = start([["a"]], profile="fast", attempts=9)
    run.judge("a", signature="same")
    run.accept("a")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    run.judge("a", signature="same")
    assert run.kinds() == ["attempt a"]
