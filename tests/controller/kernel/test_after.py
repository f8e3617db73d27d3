"""What follows a landing: asked one by one, done once for each yes, and in nobody's way."""

from collections.abc import Callable
from typing import Any

import pytest

from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]
BOTH = "push:p1 hook:p1:1"


def landed(start: Start, *phases: list[list[str]], **given: Any) -> Any:
    """A run whose first phase has just landed."""
    run = start(*(phases or ([["a"]],)), **{"profile": "fast", "land": "auto", "after": BOTH} | given)
    for wave in run.state.shape.phases[0].waves:
        run.accept(*wave.modules)
        run.merge(*wave.modules)
        run.refresh()
    run.refresh()
    run.land()
    return run


def after(run: Any, *, ok: bool = True) -> None:
    action = run.find(K.AFTER)
    run.end(action, E.AFTER_DONE, subject=action.data["subject"], ok=ok)


@pytest.mark.parametrize("yes", [False, True])
def test_each_is_asked_about_whatever_the_run_was_told(start: Start, *, yes: bool) -> None:
    run = landed(start, yes=yes)
    assert list(run.state.questions) == ["push:p1", "hook:p1:1"]
    assert run.open == {}
    assert [run.asked[s].data["modules"] for s in run.state.questions] == [[], []]


def test_one_at_a_time_and_each_with_its_own_yes(start: Start) -> None:
    run = landed(start)
    key = run.state.questions["hook:p1:1"].key
    run.grant("hook:p1:1")
    run.grant("push:p1")
    first = run.find(K.AFTER)
    wanted = {"subject": "hook:p1:1", "kind": "hook", "what": "do hook:p1:1", "commit": "landed", "tries": 0}
    assert {name: first.data[name] for name in wanted} == wanted
    assert first.data["key"] == key
    after(run)
    assert run.find(K.AFTER).data["subject"] == "push:p1"
    after(run)
    assert run.finish() == "done"


def test_a_no_leaves_it_undone_and_the_run_is_done(start: Start) -> None:
    run = landed(start)
    run.reject("push:p1")
    assert run.open == {}
    run.reject("hook:p1:1")
    assert run.finish() == "done"


def test_what_failed_is_asked_about_anew_and_no_old_yes_counts(start: Start) -> None:
    run = landed(start, after="push:p1")
    old = run.state.questions["push:p1"]
    run.grant("push:p1")
    after(run, ok=False)
    new = run.state.questions["push:p1"]
    assert new.key != old.key
    run.tell(E.GRANTED, subject=old.subject, key=old.key)
    assert run.open == {}
    run.grant("push:p1")
    assert run.find(K.AFTER).data["tries"] == 1
    after(run)
    assert run.finish() == "done"


def test_what_the_machine_did_not_do_is_done_under_the_same_yes_when_the_run_goes_on(start: Start) -> None:
    run = landed(start)
    run.grant("push:p1")
    first = run.find(K.AFTER)
    run.end(first, E.BROKEN, message="no space left")
    assert (run.state.halt, run.open) == ("blocked", {})
    run.tell(E.RESUMED)
    assert run.find(K.AFTER).data == first.data
    after(run)
    assert run.state.questions.keys() == {"hook:p1:1"}


def test_another_thing_that_breaks_does_not_repeat_it(start: Start) -> None:
    run = landed(start, [["a"]], [["b"]])
    run.grant("push:p1")
    run.end(run.find(K.ATTEMPT), E.BROKEN, message="no space left")
    run.tell(E.RESUMED)
    assert run.kinds() == ["after", "attempt b"]


def test_an_answer_that_lapsed_is_asked_again(start: Start) -> None:
    run = landed(start, after="push:p1")
    run.lapse("push:p1")
    assert (run.state.halt, run.open, run.state.questions) == ("paused", {}, {})
    run.tell(E.RESUMED)
    assert run.state.questions.keys() == {"push:p1"}
    run.grant("push:p1")
    after(run)
    assert run.finish() == "done"


def test_the_walk_goes_on_meanwhile(start: Start) -> None:
    run = landed(start, [["a"]], [["b", "c"]], after="push:p1 push:p2")
    run.grant("push:p1")
    run.accept("b", "c")
    run.merge("b")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    run.accept("c")
    run.merge("c")
    run.refresh(green=False, culprit="c")
    assert run.kinds() == ["after", "undo c"]
    run.undo("c")
    run.accept("c")
    run.merge("c")
    run.refresh()
    run.refresh()
    run.land()
    assert run.kinds() == ["after"]
    assert run.state.questions.keys() == {"push:p2"}
    after(run)
    run.reject("push:p2")
    assert run.finish() == "done"


def test_a_failing_run_does_what_got_a_yes_and_says_what_nobody_answered(start: Start) -> None:
    run = landed(start, [["a"]], [["b"]], after="push:p1 hook:p1:1 hook:p1:2")
    run.grant("push:p1")
    run.grant("hook:p1:1")
    run.judge("b", final="no")
    assert run.state.closing == "failed"
    after(run)
    assert run.find(K.AFTER).data["subject"] == "hook:p1:1"
    after(run, ok=False)
    assert run.find(K.FINISH).data == {"ending": "failed", "unanswered": ["hook:p1:1", "hook:p1:2"]}
    assert run.state.questions == {}
    assert run.finish() == "failed"


def test_a_cancel_leaves_undone_what_was_not_begun(start: Start) -> None:
    run = landed(start)
    run.grant("push:p1")
    run.grant("hook:p1:1")
    run.tell(E.CANCELLED)
    after(run)
    assert run.find(K.FINISH).data == {"ending": "cancelled", "unanswered": ["hook:p1:1"]}


def test_a_rollback_asks_anew_and_drops_what_follows_a_landing_that_was_reverted(start: Start) -> None:
    run = landed(start, [["a"]], [["b"]], [["c"]], after="push:p1 push:p2")
    old = run.state.questions["push:p1"]
    run.grant("push:p1")
    run.accept("b")
    run.merge("b")
    run.refresh()
    run.refresh()
    run.land()
    run.open.clear()
    run.tell(E.ROLLED_BACK, modules=[], reverted=["b"], tip="c", tree="back")
    assert (run.state.halt, run.state.questions) == ("paused", {})
    run.tell(E.RESUMED)
    assert run.state.questions.keys() == {"push:p1"}
    assert run.state.questions["push:p1"].key != old.key
    assert run.kinds() == ["attempt c"]
