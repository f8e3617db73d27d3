"""What people say: heard by the next attempt, in the way of whatever has not heard it, and enough to wake a sleeper."""

from collections.abc import Callable
from typing import Any

import pytest

from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]


def causes(run: Any, module: str) -> list[str]:
    return [f"{t.before} -> {t.after}: {t.cause}" for t in run.transitions if t.module == module]


def merged(start: Start, *waves: list[str], **given: Any) -> Any:
    """A run in which each module of the first phase sleeps, and nothing lands without a yes."""
    run = start(list(waves), **{"profile": "fast"} | given)
    for wave in waves:
        run.accept(*wave)
        run.merge(*wave)
        run.refresh()
    return run


def test_a_running_attempt_that_did_not_hear_is_not_accepted_and_the_next_one_hears(start: Start) -> None:
    run = start([["a"]], attempts=1)
    run.say("a")
    run.accept("a")
    assert run.asked == {}
    action = run.find(K.ATTEMPT)
    assert (action.attempt, action.data["messages"]) == (2, ["w1"])
    assert causes(run, "a")[1] == "working -> queued: a message came that it had not read"
    run.accept("a")
    assert run.asked.keys() == {"wave:1"}


def test_what_was_heard_while_it_worked_is_heard(start: Start) -> None:
    run = start([["a"]])
    run.say("a", "w1")
    run.say("a", "w2")
    run.judge("a", "accept", heard=["w1", "never said"])
    assert run.find(K.ATTEMPT).data["messages"] == ["w1", "w2"]
    run.say("a", "w3")
    run.judge("a", "accept", heard=["w3"])
    assert run.asked.keys() == {"wave:1"}
    assert run.state.at("a").heard == ("w1", "w2", "w3")


@pytest.mark.parametrize("facts", [{"blocked": True}, {"signature": "same"}])
def test_who_has_more_to_hear_is_not_stuck(start: Start, facts: dict[str, Any]) -> None:
    run = start([["a"]], attempts=3)
    run.judge("a", signature="same")
    run.say("a")
    run.judge("a", **facts)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]
    assert run.asked == {}


def test_a_message_buys_one_attempt_and_not_more(start: Start) -> None:
    run = start([["a"]], attempts=1)
    run.say("a", "w1")
    run.say("a", "w2")
    run.judge("a")
    run.judge("a")
    assert run.states() == {"a": "failed"}
    assert run.state.at("a").attempt == 2


def test_a_stopped_attempt_with_more_to_hear_gets_a_new_number_and_packet(start: Start) -> None:
    run = start([["a"]])
    run.say("a")
    run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
    assert (run.find(K.ATTEMPT).attempt, run.find(K.ATTEMPT).data["messages"]) == (2, ["w1"])
    run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
    assert (run.find(K.ATTEMPT).attempt, run.find(K.ATTEMPT).data["messages"]) == (2, ["w1"])


def test_the_same_message_counts_once(start: Start) -> None:
    run = start([["a", "b"]], max_workers=1)
    for _ in range(2):
        run.say("a")
        run.say("b")
        run.say()
    assert [run.state.at(m).unread for m in "ab"] == [("w1",), ("w1",)]
    run.judge("a", "accept", heard=["w1"])
    before = run.state
    run.say("a")
    assert run.state == before


def test_a_word_for_nobody_and_for_the_ended_changes_nothing(start: Start) -> None:
    run = start([["a", "b"]])
    run.judge("a", final="no")
    before = run.state
    run.say("nobody")
    run.say("a")
    assert run.state == before


def test_a_word_for_all_reaches_who_still_works_and_wakes_nobody(start: Start) -> None:
    run = start([["a", "x"], ["b"]], [["c"]], profile="fast", optional=("x",))
    run.judge("x", final="no")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.say()
    assert run.states() == {"a": "asleep", "x": "failed", "b": "working", "c": "queued"}
    assert {m for m, s in run.state.modules.items() if s.unread} == {"b", "c"}


@pytest.mark.parametrize("profile", ["balanced", "safe"])
def test_a_question_about_a_tree_that_has_not_heard_is_void(start: Start, profile: str) -> None:
    run = start([["a", "b"]], profile=profile)
    run.accept("a", "b")
    old = dict(run.state.questions)
    run.say("a")
    assert run.kinds() == ["attempt a"]
    for subject, question in old.items():
        if "a" in question.modules:
            assert subject not in run.state.questions
            run.tell(E.GRANTED, subject=subject, key=question.key)
    run.accept("a")
    assert run.open == {}
    assert {m for q in run.state.questions.values() for m in q.modules} == {"a", "b"}
    assert run.states() == {"a": "waiting", "b": "waiting"}


def test_a_yes_is_void_when_the_tree_has_more_to_hear(start: Start) -> None:
    run = start([["a", "b"]])
    run.accept("a", "b")
    run.grant("wave:1")
    run.say("b")
    run.merge("a")
    assert run.kinds() == ["attempt b"]
    run.accept("b")
    assert run.asked["wave:1"].data["modules"] == ["b"]


def test_who_is_stuck_tries_again_with_what_it_was_told(start: Start) -> None:
    run = start([["a"]], attempts=1)
    run.judge("a", blocked=True)
    run.say("a")
    assert run.state.questions == {}
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]


def test_the_paused_hear_when_the_run_goes_on(start: Start) -> None:
    run = start([["a"]])
    run.accept("a")
    run.lapse("wave:1")
    run.say("a")
    assert (run.states(), run.open) == ({"a": "paused"}, {})
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]


def test_a_sleeper_wakes_when_it_is_named_and_the_landing_is_asked_about_anew(start: Start) -> None:
    run = merged(start, ["a"], ["b"])
    run.refresh()
    old = run.state.questions["landing:p1"]
    run.say("a")
    assert run.states() == {"a": "working", "b": "asleep"}
    assert causes(run, "a")[-2] == "asleep -> queued: woken by a message"
    assert run.state.questions == {}
    run.tell(E.GRANTED, subject=old.subject, key=old.key)
    run.accept("a")
    run.merge("a")
    assert run.find(K.REFRESH).data == {"level": "wave", "wave": 1}
    run.refresh()
    assert run.find(K.REFRESH).data == {"level": "phase", "phase": "p1"}
    run.refresh()
    assert run.open == {}
    assert run.state.questions.keys() == {"landing:p1"}


def test_a_yes_to_a_landing_is_void_when_somebody_woke(start: Start) -> None:
    run = merged(start, ["a"])
    run.refresh()
    run.tell(E.PAUSED)
    run.grant("landing:p1")
    run.say("a")
    run.tell(E.RESUMED)
    run.accept("a")
    run.end(run.find(K.MERGE), E.MERGED, commit="c", tree=run.state.tip)
    run.refresh()
    run.refresh()
    assert run.open == {}
    assert run.state.questions.keys() == {"landing:p1"}


@pytest.mark.parametrize("what", [E.RESUMED, E.PAUSED, E.INTERRUPTED, E.NOTE])
def test_nothing_else_wakes_a_sleeper(start: Start, what: EventType) -> None:
    run = merged(start, ["a"])
    run.refresh()
    run.tell(what)
    assert run.states() == {"a": "asleep"}


def test_what_was_said_in_the_middle_of_a_merge_wakes_it(start: Start) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.say("a")
    assert (run.kinds(), run.states()) == (["merge a"], {"a": "working"})
    run.merge("a")
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]
    assert causes(run, "a")[-2:] == ["asleep -> queued: woken by a message", "queued -> working: attempt 2"]


@pytest.mark.parametrize("outcome", [E.CONFLICT, E.BROKEN])
def test_a_merge_that_was_not_made_leaves_a_tree_that_has_not_heard(start: Start, outcome: EventType) -> None:
    run = start([["a"]], attempts=1)
    run.accept("a")
    run.grant("wave:1")
    run.say("a")
    run.end(run.find(K.MERGE), outcome, message="no space left", paths=["x"])
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]


def test_a_message_in_the_middle_of_a_landing_is_too_late_when_it_lands(start: Start) -> None:
    run = merged(start, ["a"], land="auto")
    run.refresh()
    run.say("a")
    assert run.states() == {"a": "asleep"}
    run.land()
    assert run.finish() == "done"


@pytest.mark.parametrize("outcome", [E.LANDING_BLOCKED, E.LANDING_MOVED, E.BROKEN])
def test_a_message_in_the_middle_of_a_landing_that_fails_wakes(start: Start, outcome: EventType) -> None:
    run = merged(start, ["a"], land="auto")
    run.refresh()
    run.say("a")
    run.end(run.find(K.LAND), outcome, message="dirty", base="theirs")
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]


def test_a_message_in_the_middle_of_a_refresh_puts_the_phase_back(start: Start) -> None:
    run = merged(start, ["a"])
    run.say("a")
    run.refresh(green=False)
    assert (run.state.closing, run.kinds()) == ("", ["attempt a"])
    run.accept("a")
    run.merge("a")
    run.refresh()
    assert run.find(K.REFRESH).data["level"] == "phase"


@pytest.mark.parametrize("green", [True, False])
def test_a_wave_that_turns_red_while_somebody_wakes_is_looked_at_again(start: Start, *, green: bool) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.say("a")
    run.refresh(green=green, culprit="a")
    assert run.kinds() == ["attempt a"]
    run.accept("a")
    run.merge("a")
    assert run.find(K.REFRESH).data["level"] == "wave"


def test_a_culprit_is_undone_though_another_woke_and_nothing_starts_before(start: Start) -> None:
    run = start([["a", "b"]], profile="fast")
    run.accept("a", "b")
    run.merge("a", "b")
    run.tell(E.PAUSED)
    run.refresh(green=False, culprit="b")
    run.say("a")
    run.say("b")
    run.tell(E.RESUMED)
    assert run.kinds() == ["undo b"]
    run.undo("b")
    assert run.kinds() == ["attempt a", "attempt b"]
    assert run.find(K.ATTEMPT, "b").data["messages"] == ["w1"]


def test_a_culprit_hears_what_was_said_while_it_was_undone(start: Start) -> None:
    run = start([["a", "b"]], profile="fast", attempts=1)
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh(green=False, culprit="b")
    run.say("b")
    assert run.states()["b"] == "asleep"
    run.undo("b")
    assert run.find(K.ATTEMPT, "b").data["messages"] == ["w1"]


def test_a_wave_that_was_not_looked_at_when_the_walk_went_back_is_looked_at_then(start: Start) -> None:
    run = start([["a"], ["b", "c"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.accept("b", "c")
    run.say("a")
    assert run.kinds() == ["attempt a", "merge b"]
    run.merge("b")
    run.accept("a")
    run.merge("a")
    assert run.find(K.REFRESH).data["wave"] == 1
    run.refresh()
    run.merge("c")
    assert run.find(K.REFRESH).data["wave"] == 2


def test_waking_goes_back_to_the_earliest_wave_and_stays_there(start: Start) -> None:
    run = merged(start, ["a"], ["b"])
    run.tell(E.PAUSED)
    run.say("a")
    run.say("b")
    run.refresh()
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt a"]


def test_a_message_at_the_end_of_a_run_is_heard_when_a_rollback_opens_it_again(start: Start) -> None:
    run = merged(start, ["a"], ["b"])
    run.refresh(green=False)
    assert run.state.closing == "failed"
    run.say("a")
    assert run.finish() == "failed"
    assert run.states() == {"a": "asleep", "b": "asleep"}
    run.tell(E.ROLLED_BACK, modules=["b"], reverted=[], tip="c", tree="back")
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]
    assert run.find(K.ATTEMPT).module == "a"


def test_a_cancelled_run_wakes_nobody(start: Start) -> None:
    run = merged(start, ["a"])
    run.tell(E.CANCELLED)
    run.say("a")
    run.refresh()
    assert run.finish() == "cancelled"
    assert causes(run, "a")[-1] == "asleep -> cancelled: the run ended"
