"""An engine that comes back costs nothing; one that stays away, or is not wanted any more, is told."""

import pytest

from controller import patience
from packets.errors import EngineLost, MachineLacks


def step(name, work):
    return work()


@pytest.fixture
def work(monkeypatch):
    monkeypatch.setattr(patience, "PAUSES", (0.01, 0.01))
    made = []

    def build(losses, kind=EngineLost):
        def attempt():
            made.append(1)
            if len(made) <= losses:
                raise kind("away")
            return len(made)

        return attempt

    return build


def test_it_is_done_again_until_it_works(work):
    assert patience.patient(step, lambda: False)("x", work(2)) == 3


def test_after_the_last_pause_the_loss_is_told(work):
    with pytest.raises(EngineLost):
        patience.patient(step, lambda: False)("x", work(3))


def test_who_is_not_wanted_does_not_wait(work, monkeypatch):
    monkeypatch.setattr(patience, "PAUSES", (60.0,))
    with pytest.raises(EngineLost):
        patience.patient(step, lambda: True)("x", work(1))


def test_what_never_was_there_is_not_waited_for(work):
    with pytest.raises(MachineLacks):
        patience.patient(step, lambda: False)("x", work(1, MachineLacks))


def test_pauses_grow():
    assert list(patience.PAUSES) == sorted(set(patience.PAUSES))
