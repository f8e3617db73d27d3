"""Scopes by position, and locals that begin where they are declared."""

import pytest

from controller.graph.languages.blocks import Scope, Sweep, Told, split_mark


def test_scopes_nest_by_position() -> None:
    sweep = Sweep(100)
    outer = sweep.enter(Scope("function", 10, 50, "f", node=True))
    inner = sweep.enter(Scope("block", 20, 30))
    assert (sweep.at(25), inner.parent, inner.qual, inner.owner()) == (inner, outer, "f", outer)
    assert (sweep.at(30), sweep.at(50)) == (outer, sweep.file)
    method = sweep.enter(Scope("function", 60, 70, "T.m", node=True))
    assert (method.qual, method.home()) == ("T.m", sweep.file)


def test_what_is_too_deep_is_read_as_part_of_what_holds_it() -> None:
    sweep = Sweep(10_000)
    scopes = [sweep.enter(Scope("block", at, 10_000 - at)) for at in range(500)]
    assert scopes[-1] is scopes[200]


@pytest.mark.parametrize(("position", "since"), [(4, None), (5, 5), (8, 5), (9, 9), (100, 20)])
def test_a_local_is_what_was_declared_last_before(position: int, since: int | None) -> None:
    scope = Scope("block", 0, 100)
    for at in (9, 20, 5):
        scope.bind("x", at)
    found = scope.bound("x", position)
    assert (found.since if found else None) == since
    assert scope.bound("y", position) is None


def test_marks_stand_for_what_is_inside() -> None:
    assert split_mark("items[]?") == ("items", "[]?")
    plain, elements = Told(("m", "items")), Told(("Money",), "[]")
    assert (plain.of(""), plain.of("[]")) == (("m", "items"), ("m", "items[]"))
    assert (elements.of(""), elements.of("[]"), elements.of("[]?")) == (None, ("Money",), ("Money?",))
