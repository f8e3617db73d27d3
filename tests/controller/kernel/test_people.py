"""What people do to a run, at the worst moments."""

from collections.abc import Callable
from typing import Any

import pytest

from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]


def test_an_answer_to_an_old_question_is_no_answer(start: Start) -> None:
    run = start([["a"]])
    run.accept("a")
    old = run.state.questions["wave:1"]
    run.reject("wave:1")
    run.accept("a")
    for type_ in (E.GRANTED, E.REJECTED, E.LAPSED):
        before = run.state
        run.tell(type_, subject="wave:1", key=old.key)
        run.tell(type_, subject="wave:9", key=old.key)
        assert run.state == before
    run.grant("wave:1")
    assert run.kinds() == ["merge a"]


def test_a_rejected_module_works_again_and_the_others_are_asked_about_anew(start: Start) -> None:
    run = start([["a", "b"]])
    run.accept("a", "b")
    run.reject("wave:1", module="a", reason="no")
    assert run.states() == {"a": "working", "b": "working"}
    assert run.kinds() == ["attempt a"]
    run.accept("a")
    assert run.asked["wave:1"].data["modules"] == ["a", "b"]
    assert run.open == {}


def test_a_rejection_that_names_a_stranger_changes_nothing(start: Start) -> None:
    run = start([["a"], ["b"]])
    run.accept("a")
    before = run.state
    run.reject("wave:1", module="b")
    assert run.state == before


def test_a_final_no_fails_all_that_it_names_and_what_needs_them(start: Start) -> None:
    run = start([["a", "b"], ["c"]], needs="c>a")
    run.accept("a", "b")
    run.reject("wave:1", module="a", final=True)
    assert run.states() == {"a": "failed", "b": "waiting", "c": "cancelled"}


def test_a_no_to_another_try_fails(start: Start) -> None:
    run = start([["a"]])
    run.judge("a", blocked=True)
    run.reject("module:a")
    assert run.states() == {"a": "failed"}


def test_a_no_to_a_landing_ends_the_run_with_its_work_kept(start: Start) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.reject("landing:p1")
    assert run.finish() == "failed"
    assert run.states() == {"a": "asleep"}


def test_a_tree_left_by_a_person_is_judged_like_any_other(start: Start) -> None:
    run = start([["a", "b"]], attempts=1)
    run.accept("a", "b")
    old = run.state.questions["wave:1"]
    run.edit("wave:1", "a", "mine")
    assert run.states() == {"a": "working", "b": "working"}
    action = run.find(K.ATTEMPT)
    assert (action.module, action.attempt, action.data["by_hand"]) == ("a", 2, "mine")
    assert run.state.at("a").allowed == 2
    run.tell(E.GRANTED, subject=old.subject, key=old.key)
    run.end(action, E.ATTEMPT_STOPPED)
    assert run.find(K.ATTEMPT).data["by_hand"] == "mine"
    run.accept("a", head="mine")
    assert run.asked["wave:1"].data["modules"] == ["a", "b"]
    assert run.open == {}
    run.reject("wave:1", module="b")
    assert run.states() == {"a": "waiting", "b": "failed"}


def test_a_tree_for_a_stranger_or_an_old_question_is_no_candidate(start: Start) -> None:
    run = start([["a"], ["b"]])
    run.accept("a")
    before = run.state
    run.edit("wave:1", "b", "mine")
    assert run.state == before


@pytest.mark.parametrize("profile", ["safe", "balanced"])
def test_a_tree_of_a_person_does_not_outlive_the_base_it_was_made_on(start: Start, profile: str) -> None:
    run = start([["a"], ["b"]], needs="b>a", profile=profile)
    run.accept("a")
    run.grant(next(iter(run.state.questions)))
    run.merge("a")
    run.refresh()
    run.accept("b")
    run.edit(next(iter(run.state.questions)), "b", "mine")
    rolled_back(run, "a")
    assert run.state.at("b").by_hand == ""


@pytest.mark.parametrize("profile", ["safe", "balanced"])
def test_a_lapsed_approval_executes_nothing_and_a_resume_asks_again(start: Start, profile: str) -> None:
    run = start([["a"]], profile=profile)
    run.accept("a")
    (subject,) = run.state.questions
    question = run.state.questions[subject]
    run.lapse(subject)
    assert (run.states(), run.state.halt, run.open) == ({"a": "paused"}, "paused", {})
    run.tell(E.GRANTED, subject=subject, key=question.key)
    assert run.open == {}
    run.tell(E.RESUMED)
    assert run.state.questions == {subject: question}
    assert (run.states(), run.state.at("a").attempt) == ({"a": "waiting"}, 1)
    run.grant(subject)
    assert run.kinds() == ["merge a"]


def test_a_lapsed_matter_is_asked_again_and_is_no_free_attempt(start: Start) -> None:
    run = start([["a"]])
    run.judge("a", blocked=True)
    run.lapse("module:a")
    run.tell(E.RESUMED)
    assert run.open == {}
    assert run.state.questions.keys() == {"module:a"}


def test_a_lapsed_landing_is_asked_again(start: Start) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.lapse("landing:p1")
    assert run.state.halt == "paused"
    run.tell(E.RESUMED)
    assert run.state.questions.keys() == {"landing:p1"}


def test_a_pause_keeps_an_attempt_that_ended_meanwhile(start: Start) -> None:
    run = start([["a", "b", "c"]], max_workers=2)
    run.tell(E.PAUSED, actor="anna")
    assert run.states() == {"a": "working", "b": "working", "c": "paused"}
    run.accept("a")
    run.end(run.find(K.ATTEMPT, "b"), E.ATTEMPT_STOPPED, reason="stopped")
    assert run.states() == {"a": "working", "b": "paused", "c": "paused"}
    assert run.open == {}
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt b", "attempt c"]
    assert {name: s.attempt for name, s in run.state.modules.items()} == {"a": 1, "b": 1, "c": 1}


def test_an_interrupt_stops_and_a_resume_runs_the_same_attempt(start: Start) -> None:
    run = start([["a"]])
    run.judge("a")
    run.tell(E.INTERRUPTED)
    run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED, reason="stopped")
    assert (run.states(), run.open) == ({"a": "queued"}, {})
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).attempt == 2


def test_a_cancel_ends_when_nothing_runs_any_more(start: Start) -> None:
    run = start([["a", "b"], ["c"]], max_workers=1)
    run.tell(E.CANCELLED, actor="anna")
    assert run.states() == dict.fromkeys("abc", "cancelled")
    assert run.kinds() == ["attempt a"]
    run.accept("a")
    assert run.finish() == "cancelled"
    assert run.states() == dict.fromkeys("abc", "cancelled")


@pytest.mark.parametrize("outcome", [E.MERGED, E.CONFLICT, E.BROKEN])
def test_a_cancel_in_the_middle_of_a_merge(start: Start, outcome: EventType) -> None:
    run = start([["a"]], profile="fast", attempts=1)
    run.accept("a")
    run.tell(E.CANCELLED)
    run.end(run.find(K.MERGE), outcome, commit="c", tree="t", message="broke")
    assert run.finish() == "cancelled"
    assert run.states()["a"] in {"cancelled", "failed"}


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_cancel_in_the_middle_of_an_undo(start: Start, attempts: int) -> None:
    run = start([["a", "b"]], profile="fast", attempts=attempts)
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh(green=False, culprit="b")
    run.tell(E.CANCELLED)
    run.end(run.find(K.UNDO), E.UNDONE, tip="c", tree="t")
    assert run.finish() == "cancelled"
    assert run.states() == {"a": "cancelled", "b": "failed" if attempts == 1 else "cancelled"}


def test_a_cancel_while_the_base_branch_moves_tells_what_git_tells(start: Start) -> None:
    run = start([["a"]], [["b"]], yes=True)
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.tell(E.CANCELLED)
    run.land()
    assert run.finish() == "cancelled"
    assert run.states() == {"a": "done", "b": "cancelled"}


def test_a_cancel_that_came_too_late_is_no_cancel(start: Start) -> None:
    run = start([["a"]], yes=True)
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.tell(E.CANCELLED)
    run.land()
    assert run.finish() == "done"
    assert run.states() == {"a": "done"}


def test_a_cancel_is_not_held_up_by_what_breaks_or_blocks(start: Start) -> None:
    run = start([["a", "b"]])
    run.tell(E.PAUSED)
    run.tell(E.CANCELLED)
    run.end(run.find(K.ATTEMPT, "a"), E.BROKEN, message="no space left")
    run.tell(E.PAUSED)
    run.end(run.find(K.ATTEMPT, "b"), E.ATTEMPT_STOPPED)
    assert run.finish() == "cancelled"


def test_a_red_tree_does_not_turn_a_cancel_into_a_failure(start: Start) -> None:
    run = start([["a"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.tell(E.CANCELLED)
    run.refresh(green=False)
    assert run.finish() == "cancelled"


def rolled_back(run: Any, *modules: str, reverted: tuple[str, ...] = ()) -> None:
    run.open.clear()
    run.tell(E.ROLLED_BACK, actor="anna", modules=list(modules), reverted=list(reverted), tip="c", tree="back")


def test_a_rollback_starts_over_what_was_undone_and_what_stood_on_it(start: Start) -> None:
    run = start([["a", "x"], ["b", "c", "d"]], needs="b>a", attempts=2, max_workers=2)
    run.accept("a", "x")
    run.grant("wave:1")
    run.merge("a", "x")
    run.refresh()
    run.accept("b", "c")
    assert run.kinds() == ["attempt d"]
    late = run.find(K.ATTEMPT)
    rolled_back(run, "a")
    assert run.states() == {"a": "queued", "x": "asleep", "b": "queued", "c": "working", "d": "queued"}
    assert (run.state.tip, run.state.halt, run.state.inflight) == ("back", "paused", frozenset())
    assert not run.state.at("b").accepted
    before = run.state
    run.end(late, E.ATTEMPT_JUDGED, decision="accept", head_tree="ghost", commit="c")
    assert run.state == before
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt a"]
    assert (run.find(K.ATTEMPT).attempt, run.state.at("a").allowed) == (2, 3)
    run.accept("a", head="a1")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    assert run.kinds() == ["attempt b", "attempt d"]
    assert run.find(K.ATTEMPT, "d").attempt == 1


def test_a_rollback_voids_what_was_agreed_on(start: Start) -> None:
    run = start([["a"], ["b"]], needs="b>a", profile="balanced")
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    run.accept("b")
    run.grant("wave:2")
    run.merge("b")
    run.refresh()
    run.refresh()
    run.grant("landing:p1")
    tip = run.state.tip
    rolled_back(run, "a", "b")
    run.tell(E.RESUMED)
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    run.accept("b")
    run.grant("wave:2")
    run.end(run.find(K.MERGE), E.MERGED, commit="c", tree=tip)
    run.refresh()
    assert run.kinds() == ["refresh"], "green before the rollback is not green now"
    run.refresh()
    assert run.state.tip == tip
    assert run.open == {}, "landed on a yes from before the rollback"
    assert run.state.questions.keys() == {"landing:p1"}


def test_what_landed_is_reverted_by_a_mark_and_stays_done(start: Start) -> None:
    run = start([["a"]], yes=True)
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.land()
    run.finish()
    rolled_back(run, reverted=("a",))
    assert run.states() == {"a": "done"}
    assert run.state.at("a").reverted
    assert run.state.finished
    assert run.state.halt == ""


def test_a_finished_run_that_lost_a_module_is_open_again_and_stands_still(start: Start) -> None:
    run = start([["a", "b"]], yes=True)
    run.judge("b", final="no")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.finish()
    rolled_back(run, "a")
    assert (run.state.finished, run.state.halt, run.state.closing) == (False, "paused", "")
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt a"]


def test_a_rollback_does_not_revive_a_cancelled_run(start: Start) -> None:
    run = start([["a"], ["b"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.tell(E.CANCELLED)
    run.tell(E.INTERRUPTED)
    rolled_back(run, "a")
    run.tell(E.RESUMED)
    assert run.finish() == "cancelled"
    assert run.states() == {"a": "cancelled", "b": "cancelled"}


def test_a_matter_for_a_person_outlives_a_rollback(start: Start) -> None:
    run = start([["a"], ["b", "c"]])
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    run.judge("b", blocked=True)
    rolled_back(run, "a")
    run.tell(E.RESUMED)
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    assert run.state.questions.keys() == {"module:b"}


def test_a_yes_from_before_a_rollback_is_gone_though_the_tree_is_the_same(start: Start) -> None:
    run = start([["a"], ["b", "c"]])
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    run.accept("b", "c")
    run.grant("wave:2")
    rolled_back(run, "a")
    assert {(s.state, s.waits_for, s.accepted) for m, s in run.state.modules.items() if m != "a"} == {
        ("working", "", True)
    }
    run.tell(E.RESUMED)
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    assert run.asked["wave:2"].data["modules"] == ["b", "c"]
    assert run.open == {}


def test_a_wave_that_lost_a_module_is_checked_without_it(start: Start) -> None:
    run = start([["a", "b"]], yes=True, optional=("b",))
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh()
    rolled_back(run, "b")
    run.tell(E.RESUMED)
    run.judge("b", final="the deadline was reached")
    assert run.find(K.REFRESH).data == {"level": "wave", "wave": 1}


def test_a_cancel_ends_at_once_what_is_accepted_and_what_is_asked_about(start: Start) -> None:
    run = start([["a", "b", "c"]])
    run.accept("a", "b", "c")
    run.tell(E.CANCELLED)
    assert run.states() == dict.fromkeys("abc", "cancelled")
    run = start([["a", "b"]], profile="fast")
    run.accept("a", "b")
    run.tell(E.CANCELLED)
    assert run.states() == {"a": "working", "b": "cancelled"}


def woken(start: Start, *waves: list[str], **given: Any) -> Any:
    """A run in which all waves are merged and then `a` woke."""
    run = start(list(waves), **{"profile": "fast"} | given)
    for wave in waves:
        run.accept(*wave)
        run.merge(*wave)
        run.refresh()
    run.refresh()
    run.say("a")
    return run


def test_a_rollback_takes_back_all_merges_of_one_that_is_awake(start: Start) -> None:
    run = woken(start, ["a", "b"])
    rolled_back(run, "a")
    assert run.states() == {"a": "queued", "b": "asleep"}
    assert (run.state.at("a").merged, run.state.at("b").merged) == (False, True)
    run.tell(E.RESUMED)
    assert run.find(K.ATTEMPT).data["messages"] == ["w1"]
    assert run.find(K.ATTEMPT).attempt == 3


def test_a_rollback_of_a_later_wave_does_not_pass_over_who_is_awake(start: Start) -> None:
    run = woken(start, ["a"], ["b"])
    rolled_back(run, "b")
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt a"]


def test_a_rollback_that_voids_a_landing_heeds_what_was_said_meanwhile(start: Start) -> None:
    run = woken(start, ["a"], ["b"], land="auto")
    assert run.kinds() == ["land"]
    rolled_back(run, "b")
    assert run.states() == {"a": "queued", "b": "queued"}


@pytest.mark.parametrize("in_flight", [True, False])
def test_a_rollback_forgets_no_undo_of_what_failed(start: Start, *, in_flight: bool) -> None:
    run = woken(start, ["a", "b"], optional=("a",))
    if not in_flight:
        run.tell(E.PAUSED)
    run.judge("a", final="no")
    rolled_back(run, "a", "b")
    run.tell(E.RESUMED)
    assert run.kinds() == ["undo a"]
    run.undo("a")
    assert run.kinds() == ["attempt b"]


def test_a_rollback_of_the_culprit_needs_no_undo(start: Start) -> None:
    run = start([["a", "b"]], profile="fast")
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh(green=False, culprit="b")
    rolled_back(run, "b")
    run.tell(E.RESUMED)
    assert run.kinds() == ["attempt b"]


def test_a_tree_left_for_what_was_stuck_is_no_third_time(start: Start) -> None:
    run = start([["a"]], attempts=9)
    for _ in range(2):
        run.judge("a", signature="same")
    run.edit("module:a", "a", "mine")
    run.judge("a", signature="same")
    assert run.kinds() == ["attempt a"]


@pytest.mark.parametrize("green", [True, False])
def test_a_cancel_stays_a_cancel_whatever_colour_the_tree_has(start: Start, *, green: bool) -> None:
    run = start([["a"]], [["b"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.tell(E.CANCELLED)
    run.refresh(green=green)
    assert run.finish() == "cancelled"
    run = start([["a"]], [["b"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.tell(E.CANCELLED)
    run.refresh(green=green)
    assert run.finish() == "cancelled"


def test_a_cancel_at_the_very_end_is_none(start: Start) -> None:
    run = start([["a"]])
    run.judge("a", final="no")
    before = run.state
    run.tell(E.CANCELLED)
    assert run.state == before


def test_a_cancel_of_what_might_still_come_is_one_though_all_that_was_needed_landed(start: Start) -> None:
    run = start([["a"]], [["b"]], yes=True, optional=("b",))
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.tell(E.CANCELLED)
    run.land()
    assert run.finish() == "cancelled"


def test_a_stopped_attempt_of_a_cancelled_module_gives_its_place_back(start: Start) -> None:
    run = start([["a"]])
    run.tell(E.CANCELLED)
    run.end(run.find(K.ATTEMPT), E.ATTEMPT_STOPPED)
    assert run.state.taken == 0


def test_a_rollback_touches_nothing_that_is_over_or_was_never_merged(start: Start) -> None:
    run = start([["a", "b", "c"]], optional=("a",))
    run.judge("a", final="no")
    rolled_back(run, "a", "b")
    assert run.states() == {"a": "failed", "b": "queued", "c": "queued"}
    assert (run.state.at("b").allowed, run.state.closing) == (3, "")


def test_a_rollback_leaves_asleep_what_could_not_be_taken_off(start: Start) -> None:
    run = woken(start, ["a"], ["b"], needs="b>a")
    rolled_back(run, "a")
    assert run.states() == {"a": "queued", "b": "asleep"}


def test_what_starts_over_has_nothing_left(start: Start) -> None:
    run = woken(start, ["a", "b"])
    run.judge("a", signature="same")
    rolled_back(run, "a")
    assert (run.state.at("a").commit, run.state.at("a").signature) == ("", "")
    run.tell(E.RESUMED)
    run.judge("a", signature="same")
    assert run.kinds() == ["attempt a"]


def test_a_no_to_a_landing_is_a_failure_also_when_nothing_was_needed(start: Start) -> None:
    run = start([["a"]], profile="fast", optional=("a",))
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.reject("landing:p1")
    assert run.finish() == "failed"


def test_what_ended_with_a_run_is_off_the_branch_before_the_run_goes_on(start: Start) -> None:
    run = woken(start, ["a"], ["b"], optional=("b",))
    run.tell(E.PAUSED)
    run.accept("a")
    run.say("b", "w2")
    run.tell(E.RESUMED)
    run.merge("a")
    run.refresh(green=False)
    assert run.finish() == "failed"
    assert run.states() == {"a": "asleep", "b": "cancelled"}
    rolled_back(run, "a")
    run.tell(E.RESUMED)
    assert run.kinds() == ["undo b"]
    run.undo("b")
    assert run.kinds() == ["attempt a"]
