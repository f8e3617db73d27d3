"""What the walk asks for, and when."""

from collections.abc import Callable
from typing import Any

import pytest

from packets.events import ActionKind, EventType

E, K = EventType, ActionKind
Start = Callable[..., Any]


def test_places_are_given_in_plan_order_and_waiting_for_one_costs_nothing(start: Start) -> None:
    run = start([["a", "b", "c"]], max_workers=2)
    assert run.kinds() == ["attempt a", "attempt b"]
    run.accept("b")
    assert run.kinds() == ["attempt a", "attempt c"]
    assert {name: s.attempt for name, s in run.state.modules.items()} == {"a": 1, "b": 1, "c": 1}
    assert run.find(K.ATTEMPT, "c").data == {"wave": 1, "by_hand": "", "messages": []}


def test_a_wave_waits_for_the_wave_before_it(start: Start) -> None:
    run = start([["a", "b"], ["c"]], profile="fast")
    run.accept("a", "b")
    run.merge("a")
    assert run.kinds() == ["merge b"]
    run.merge("b")
    assert run.find(K.REFRESH).data == {"level": "wave", "wave": 1}
    run.refresh()
    assert run.kinds() == ["attempt c"]


def test_balanced_asks_once_a_wave_and_merges_nothing_before_the_yes(start: Start) -> None:
    run = start([["a", "b"]])
    run.accept("b")
    assert run.asked == {}
    run.accept("a")
    assert run.asked["wave:1"].data["modules"] == ["a", "b"]
    assert run.open == {}
    assert run.states() == {"a": "waiting", "b": "waiting"}
    assert {s.waits_for for s in run.state.modules.values()} == {"approval"}
    run.grant("wave:1")
    assert {s.waits_for for s in run.state.modules.values()} == {"merge"}
    assert run.find(K.MERGE).data == {"commit": "c-a1", "head": "a1"}
    run.merge("a", "b")
    assert run.states() == {"a": "asleep", "b": "asleep"}


def test_safe_asks_for_each_module_as_soon_as_it_is_accepted(start: Start) -> None:
    run = start([["a", "b"]], profile="safe")
    run.accept("b")
    assert run.asked.keys() == {"module:b"}
    run.accept("a")
    run.grant("module:b")
    assert run.open == {}
    run.grant("module:a")
    run.merge("a", "b")


@pytest.mark.parametrize("given", [{"profile": "fast"}, {"profile": "safe", "yes": True}, {"yes": True}])
def test_fast_and_yes_ask_before_no_merge(start: Start, given: dict[str, Any]) -> None:
    run = start([["a"]], **given)
    run.accept("a")
    assert run.asked == {}
    run.merge("a")
    run.refresh()
    run.refresh()
    assert bool(run.asked) is not bool(given.get("yes"))


def test_a_yes_stays_with_the_tree_that_did_not_change(start: Start) -> None:
    run = start([["a", "b", "c"]])
    run.accept("a", "b", "c")
    run.grant("wave:1")
    run.merge("a")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    run.accept("b")
    assert run.asked["wave:1"].data["modules"] == ["b"]
    assert run.open == {}
    run.grant("wave:1")
    run.merge("b", "c")


def test_the_same_tree_from_another_attempt_needs_another_yes(start: Start) -> None:
    run = start([["a"]])
    run.accept("a", head="same")
    first = run.asked["wave:1"].data["key"]
    run.grant("wave:1")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    run.accept("a", head="same")
    assert run.asked["wave:1"].data["key"] != first
    assert run.open == {}


def at_landing(start: Start, **given: Any) -> Any:
    run = start([["a"]], [["b"]], **{"profile": "fast"} | given)
    run.accept("a")
    run.merge("a")
    run.refresh()
    return run


def test_a_phase_lands_only_green_and_with_a_yes(start: Start) -> None:
    run = at_landing(start)
    assert run.find(K.REFRESH).data == {"level": "phase", "phase": "p1"}
    assert run.asked == {}
    run.refresh()
    assert run.asked.keys() == {"landing:p1"}
    assert run.open == {}
    run.grant("landing:p1")
    assert run.find(K.LAND).data == {"phase": "p1", "tree": "start+a"}
    run.land()
    assert run.states() == {"a": "done", "b": "working"}


def test_a_red_phase_ends_the_run_and_lands_nothing(start: Start) -> None:
    run = at_landing(start, yes=True)
    run.refresh(green=False)
    assert run.finish() == "failed"
    assert run.states() == {"a": "asleep", "b": "cancelled"}


def test_a_base_that_moved_is_taken_in_checked_and_asked_about_again(start: Start) -> None:
    run = at_landing(start)
    run.refresh()
    run.grant("landing:p1")
    run.end(run.find(K.LAND), E.LANDING_MOVED, base="theirs")
    sync = run.find(K.SYNC)
    assert sync.data == {"base": "theirs"}
    first = run.asked.pop("landing:p1").data["key"]
    run.end(sync, E.SYNCED, tip="c", tree="both")
    assert run.kinds() == ["refresh"]
    run.refresh()
    assert run.asked["landing:p1"].data["key"] != first
    run.tell(E.GRANTED, subject="landing:p1", key=first)
    assert run.open == {}
    run.grant("landing:p1")
    assert run.find(K.LAND).data["tree"] == "both"


def test_a_base_that_conflicts_halts_and_the_next_landing_looks_again(start: Start) -> None:
    run = at_landing(start, yes=True)
    run.refresh()
    run.end(run.find(K.LAND), E.LANDING_MOVED, base="theirs")
    run.end(run.find(K.SYNC), E.SYNCED, conflicts=["x"])
    assert (run.state.halt, run.open) == ("blocked", {})
    run.tell(E.RESUMED)
    run.refresh()
    assert run.find(K.LAND).data["tree"] == "start+a"


def test_a_landing_in_the_way_of_something_is_tried_again_on_resume(start: Start) -> None:
    run = at_landing(start)
    run.refresh()
    run.grant("landing:p1")
    run.end(run.find(K.LAND), E.LANDING_BLOCKED, message="dirty")
    assert (run.state.halt, run.open) == ("blocked", {})
    run.tell(E.RESUMED)
    assert run.kinds() == ["land"]


def test_a_phase_lands_without_an_optional_module_that_failed(start: Start) -> None:
    run = start([["a", "b"]], optional=("b",), yes=True)
    run.judge("b", final="deadline")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.refresh()
    run.land()
    assert run.finish() == "done"
    assert run.states() == {"a": "done", "b": "failed"}


def test_a_phase_does_not_land_without_a_module_that_is_needed(start: Start) -> None:
    run = start([["a", "b"]], yes=True)
    run.judge("b", final="deadline")
    run.accept("a")
    run.merge("a")
    run.refresh()
    assert run.finish() == "failed"
    assert run.states() == {"a": "asleep", "b": "failed"}


def test_a_phase_of_which_nothing_is_left_is_passed_over(start: Start) -> None:
    run = start([["a"]], [["b"]], optional=("a",), yes=True)
    run.judge("a", final="deadline")
    assert run.kinds() == ["attempt b"]


def test_stuck_asks_a_person_and_yes_means_another_try(start: Start) -> None:
    run = start([["a", "b"]])
    run.judge("a", signature="same")
    run.judge("a", signature="same")
    assert run.states()["a"] == "waiting"
    assert run.asked["module:a"].data["modules"] == ["a"]
    run.grant("module:a")
    assert run.find(K.ATTEMPT, "a").attempt == 3


def test_the_merged_tree_goes_through_the_wave_check_again_after_an_undo(start: Start) -> None:
    run = start([["a", "b"]], profile="fast")
    run.accept("a", "b")
    run.merge("a", "b")
    run.refresh(green=False, culprit="b")
    run.end(run.find(K.UNDO, "b"), E.UNDONE, tip="c", tree="start+a", commits={"a": "m-a again"})
    assert run.states() == {"a": "asleep", "b": "working"}
    assert {name: s.commit for name, s in run.state.modules.items()} == {"a": "m-a again", "b": ""}
    run.accept("b")
    run.merge("b")
    assert run.kinds() == ["refresh"]


def test_one_question_a_wave_holds_all_that_wait_for_it(start: Start) -> None:
    run = start([["a", "b"]])
    run.accept("a", "b")
    run.grant("wave:1")
    run.merge("a")
    run.end(run.find(K.MERGE), E.CONFLICT, paths=["x"])
    run.accept("b")
    old = run.state.questions["wave:1"]
    run.say("a")
    run.accept("a")
    assert run.asked["wave:1"].data["modules"] == ["a", "b"]
    run.tell(E.GRANTED, subject=old.subject, key=old.key)
    assert run.open == {}
    run.grant("wave:1")
    run.merge("a", "b")


@pytest.mark.parametrize("profile", ["balanced", "fast"])
def test_the_plan_may_ask_for_a_module_whatever_the_profile(start: Start, profile: str) -> None:
    run = start([["a", "b"]], profile=profile, asks=("a",))
    run.accept("a")
    assert run.state.questions.keys() == {"module:a"}
    run.accept("b")
    run.grant("module:a")
    if profile == "balanced":
        assert run.asked["wave:1"].data["modules"] == ["b"]
        run.grant("wave:1")
    run.merge("a", "b")


def test_under_yes_the_plan_asks_for_no_module(start: Start) -> None:
    run = start([["a"]], yes=True, asks=("a",))
    run.accept("a")
    assert run.kinds() == ["merge a"]


@pytest.mark.parametrize("land", ["auto", "deny"])
def test_where_the_plan_decides_about_landing_nobody_is_asked(start: Start, land: str) -> None:
    run = at_landing(start, land=land)
    run.refresh()
    assert run.find(K.LAND).data == {"phase": "p1", "tree": "start+a"}


def test_red_is_red_though_somebody_is_awake_further_on(start: Start) -> None:
    run = start([["a"], ["b"]], profile="fast")
    for module in "ab":
        run.accept(module)
        run.merge(module)
        run.refresh()
    run.refresh()
    run.tell(E.PAUSED)
    run.say("b")
    run.say("a")
    run.tell(E.RESUMED)
    run.accept("a")
    run.merge("a")
    run.refresh(green=False)
    assert run.finish() == "failed"


def test_who_waits_when_the_run_ends_waits_for_nothing_any_more(start: Start) -> None:
    run = start([["a"], ["b"]], profile="fast")
    run.accept("a")
    run.merge("a")
    run.refresh()
    run.judge("b", blocked=True)
    run.say("a")
    run.accept("a")
    run.merge("a")
    run.refresh(green=False)
    assert run.finish() == "failed"
    assert (run.state.at("b").state, run.state.at("b").waits_for) == ("cancelled", "")
    assert run.state.questions == {}


def test_a_yes_is_bound_to_the_packet_that_the_tree_was_made_on(start: Start) -> None:
    keys = set()
    for packet in ("sha256:1", "sha256:2"):
        run = start([["a"]])
        run.judge("a", "accept", head="same", packet_id=packet)
        keys.add(run.state.questions["wave:1"].key)
    assert len(keys) == 2
