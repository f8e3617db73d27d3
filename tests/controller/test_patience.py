"""A machine that comes back costs nothing; one that stays weak, or a step that is not wanted any more, is told."""

import errno
import time

import pytest

from controller import patience
from packets.errors import DiskFull, EngineLost, MachineLacks


def step(name, work):
    return work()


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setattr(patience, "_FIRST", 0.01)
    made = []

    def build(losses, kind=EngineLost):
        def attempt():
            made.append(1)
            if len(made) <= losses:
                raise kind("away")
            return len(made)

        return attempt

    return build


def test_it_is_done_again_until_it_works_and_each_try_is_told(work):
    told = []
    assert patience.patient(step, lambda: False, told.append)("x", work(2)) == 3
    assert len(told) == 2
    assert all(line.startswith("away; trying again in ") for line in told)


def test_when_patience_is_over_the_fault_is_told(work, monkeypatch):
    monkeypatch.setenv("GRACE_PATIENCE", "0.2")
    with pytest.raises(EngineLost):
        patience.patient(step, lambda: False)("x", work(10**9))


def test_a_full_disk_is_one_of_them_whoever_says_so(work, monkeypatch, tmp_path):
    monkeypatch.setenv("GRACE_PATIENCE", "0.1")
    full = work(10**9, lambda _said: OSError(errno.ENOSPC, "No space left on device", str(tmp_path)))
    with pytest.raises(DiskFull, match="full at"):
        patience.patient(step, lambda: False)("x", full)


@pytest.mark.parametrize("later", [False, True], ids=["before the pause", "in the pause"])
def test_who_is_not_wanted_does_not_wait(work, monkeypatch, later):
    monkeypatch.setattr(patience.random, "uniform", lambda _least, _most: 60.0)
    monkeypatch.setenv("GRACE_PATIENCE", "600")
    asked = iter([False] if later else [])
    began = time.monotonic()
    with pytest.raises(EngineLost):
        patience.patient(step, lambda: next(asked, True))("x", work(1))
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("kind", [MachineLacks, ValueError, lambda said: OSError(errno.EROFS, said)])
def test_what_stays_wrong_is_not_waited_for(work, kind):
    made = work(1, kind)
    with pytest.raises((MachineLacks, ValueError, OSError)):
        patience.patient(step, lambda: False)("x", made)
    assert made() == 2, "tried once"


def test_pauses_are_drawn_below_a_bound_that_doubles_and_end_with_patience(monkeypatch):
    bounds, clock = [], [0.0]
    monkeypatch.setattr(patience.random, "uniform", lambda least, most: bounds.append((least, most)) or most)
    monkeypatch.setattr(patience.time, "monotonic", lambda: clock[0])
    pauses = []
    for pause in patience._pauses():
        pauses.append(pause)
        clock[0] += pause
    assert bounds == [(0.0, bound) for bound in (1, 2, 4, 8, 16, 16, 16)]
    assert sum(pauses) == patience.PATIENCE


def test_a_word_that_is_no_number_is_no_patience_of_its_own(monkeypatch):
    monkeypatch.setenv("GRACE_PATIENCE", "soon")
    assert patience.patience() == patience.PATIENCE
