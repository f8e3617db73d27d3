"""What becomes of an attempt that did not come to its end."""

from collections.abc import Callable
from typing import Any

import pytest

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


def sleeping(start: Start, *waves: list[str], **given: Any) -> Any:
    """A run in which these waves are merged and refreshed."""
    run = start(list(waves), **{"profile": "fast"} | given)
    for wave in waves:
        run.accept(*wave)
        run.merge(*wave)
        run.refresh()
    return run


def test_what_failed_leaves_nothing_on_the_branch_nor_what_was_built_on_it(start: Start) -> None:
    run = sleeping(start, ["a", "x"], ["b", "y"], needs="b>a", optional=("a", "b"))
    run.say("a")
    run.refresh()
    run.judge("a", final="the deadline was reached")
    assert run.states() == {"a": "failed", "x": "asleep", "b": "cancelled", "y": "asleep"}
    assert run.kinds() == ["undo a"]
    run.undo("a", "b")
    assert run.find(K.REFRESH).data["wave"] == 1
    run.refresh()
    assert run.find(K.REFRESH).data["wave"] == 2
    run.refresh()
    run.refresh()
    run.grant("landing:p1")
    run.land()
    assert run.finish() == "done"


def test_nothing_starts_on_a_branch_that_is_to_lose_something(start: Start) -> None:
    run = sleeping(start, ["a", "b", "c"], optional=("a", "b"))
    run.refresh()
    for module in "abc":
        run.say(module)
    run.judge("a", final="no")
    run.judge("b", final="no")
    assert run.kinds() == ["attempt c"]
    run.say("c", "w2")
    run.judge("c")
    assert run.kinds() == ["undo a"]
    run.undo("a", "b")
    assert run.kinds() == ["attempt c"]


def test_an_undo_that_broke_is_done_again(start: Start) -> None:
    run = sleeping(start, ["a", "b"], optional=("a",))
    run.refresh()
    run.say("a")
    run.judge("a", final="no")
    run.end(run.find(K.UNDO), E.BROKEN, message="no space left")
    run.tell(E.RESUMED)
    run.undo("a")
    assert run.kinds() == ["refresh"]


def test_a_failing_run_takes_what_failed_off_the_branch_first(start: Start) -> None:
    run = sleeping(start, ["a"])
    run.refresh()
    run.say("a")
    run.judge("a", final="no")
    run.undo("a")
    run.refresh()
    assert run.finish() == "failed"


def test_a_cancel_leaves_the_branch_as_it_is(start: Start) -> None:
    run = sleeping(start, ["a", "b"])
    run.refresh()
    run.say("a")
    run.say("b")
    run.judge("a", final="no")
    run.tell(E.CANCELLED)
    run.end(run.find(K.ATTEMPT, "b"), E.ATTEMPT_STOPPED)
    assert run.finish() == "cancelled"


@pytest.mark.parametrize("how", ["asked", "blocked"])
def test_a_question_about_what_was_cancelled_is_void(start: Start, how: str) -> None:
    run = start([["a"], ["b", "c"]], needs="b>a")
    run.accept("a")
    run.grant("wave:1")
    run.merge("a")
    run.refresh()
    if how == "asked":
        run.accept("b", "c")
    else:
        run.judge("b", blocked=True)
        run.accept("c")
    ((subject, question),) = run.state.questions.items()
    run.say("a")
    run.judge("a", final="no")
    assert run.states()["b"] == "cancelled"
    assert run.state.questions == {}
    for answer in (E.GRANTED, E.REJECTED, E.LAPSED):
        run.tell(answer, subject=subject, key=question.key)
    assert run.states()["b"] == "cancelled"
    run.undo("a")
    run.refresh()
    assert run.state.questions["wave:2"].modules == ("c",)


def in_the_middle_of_a_merge(start: Start) -> Any:
    """A run in which `a` fails while the merge of `b`, which needs it, is made."""
    run = start([["a"], ["b"]], needs="b>a", profile="fast", optional=("a", "b"))
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.accept("b")
    run.say("a")
    run.judge("a", final="no")
    assert run.states() == {"a": "failed", "b": "cancelled"}
    return run


def test_what_was_merged_too_late_is_undone(start: Start) -> None:
    run = in_the_middle_of_a_merge(start)
    run.merge("b")
    assert run.states() == {"a": "failed", "b": "cancelled"}
    run.undo("a", "b")
    assert not run.state.at("b").merged


def test_what_conflicts_too_late_stays_cancelled(start: Start) -> None:
    run = in_the_middle_of_a_merge(start)
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    assert run.states() == {"a": "failed", "b": "cancelled"}
    run.undo("a")


def a_culprit_with_others_built_on_it(start: Start, attempts: int) -> Any:
    """A run in which `a` woke, was merged once more and turned its wave red; `b` and `c` stand on it, `x` does not."""
    run = start([["a"], ["b", "x"], ["c"]], needs="b>a c>b", profile="fast", attempts=attempts)
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.judge("b")
    run.accept("b", "x")
    run.merge("b", "x")
    run.refresh()
    run.say("a")
    run.accept("c", "a")
    run.merge("a")
    run.refresh(green=False, culprit="a")
    run.undo("a", "b")
    return run


def test_what_was_built_on_a_culprit_starts_over_with_all_its_attempts(start: Start) -> None:
    run = a_culprit_with_others_built_on_it(start, 3)
    assert run.states() == {"a": "working", "x": "asleep", "b": "queued", "c": "queued"}
    assert (run.state.at("b").allowed, run.state.at("c").allowed) == (5, 4)
    assert not run.state.at("c").accepted


def test_what_was_built_on_a_culprit_ends_with_it(start: Start) -> None:
    run = a_culprit_with_others_built_on_it(start, 2)
    assert run.states() == {"a": "failed", "x": "asleep", "b": "cancelled", "c": "cancelled"}
