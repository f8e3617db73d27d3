"""The small things that all of the kernel stands on."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.kernel.module import Lane
from controller.kernel.state import bound_key, dependents, put
from packets.events import EventType
from packets.states import IllegalTransition, ModuleState

Start = Callable[..., Any]


def test_ids_are_numbered_and_sort_as_they_were_given(start: Start) -> None:
    run = start([["a", "b"]])
    run.accept("a", "b")
    ids = [a.id for given in run.given for a in given]
    assert ids == ["00001-attempt", "00002-attempt", "00003-ask"]


def test_a_transition_outside_the_table_is_a_fault_and_not_a_state(start: Start) -> None:
    run = start([["a"]])
    with pytest.raises(IllegalTransition, match="working -> done"):
        put(run.state, "a", "no", ModuleState.DONE)


def test_a_change_leaves_the_old_state_as_it_was(start: Start) -> None:
    run = start([["a", "b"]])
    old = run.state
    lanes = dict(old.lanes)
    new = put(old, "a", "why", ModuleState.PAUSED, running=False)
    assert (old.at("a").state, old.taken, old.lanes) == ("working", 2, lanes)
    assert (new.at("a").state, new.taken) == ("paused", 1)
    assert new.at("b") is old.at("b")


def test_a_key_binds_each_tree_and_not_the_order() -> None:
    assert bound_key([("a", "1"), ("b", "2")]) == bound_key([("b", "2"), ("a", "1")])
    others = [[("a", "2"), ("b", "1")], [("a", "1")], [("a", "1"), ("b", "3")], [("c", "1"), ("b", "2")]]
    assert len({bound_key(pairs) for pairs in [[("a", "1"), ("b", "2")], *others]}) == 5


def test_dependents_are_found_over_any_distance_in_the_order_of_waves(start: Start) -> None:
    run = start([["a"], ["c", "b"], ["e", "d"]], needs="c>a b>a e>b d>c d>b")
    assert dependents(run.state.layout, ["a"]) == ["c", "b", "e", "d"]
    assert dependents(run.state.layout, ["c"]) == ["d"]
    assert dependents(run.state.layout, ["d"]) == []


def test_find_looks_in_its_own_wave_and_takes_the_first_of_the_plan(start: Start) -> None:
    run = start([["a", "b"], ["c", "d"], ["e"]], max_workers=1)
    first, second, third = run.state.shape.phases[0].waves
    state = run.state
    assert state.find(first, Lane.START) == "b"
    assert state.find(first, Lane.START, Lane.BUSY) == "a"
    assert state.filed(second, Lane.START) == ["c", "d"]
    assert state.filed(third, Lane.START) == ["e"]
    assert state.find(second, Lane.BUSY) is None


def test_a_module_that_exists_already_may_be_depended_on(start: Start) -> None:
    run = start([["a"]], needs="a>Legacy/Money")
    assert run.kinds() == ["attempt a"]


def test_the_same_events_give_the_same_state(start: Start) -> None:
    first, second = start([["a"]]), start([["a"]])
    for run in (first, second):
        run.accept("a")
    assert first.state == second.state
    first.tell(EventType.INTERRUPTED)
    assert first.state != second.state
