"""Working time is what the monotonic clock says, over all lives of a run."""

import time
from pathlib import Path

import pytest

from controller.clock import WorkingTime


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worked"


def test_each_life_goes_on_where_the_last_one_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    first = WorkingTime(path)
    first.begin(lambda: 0.0)
    now[0] += 40
    first.waited(15)
    first.keep(now=True)
    assert first.total == 25
    now[0] = 3.0  # another boot
    second = WorkingTime(path)
    second.begin(lambda: 99.0)
    now[0] += 5
    assert second.total == 30


def test_it_is_written_now_and_then_so_that_a_kill_forgets_little(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = WorkingTime(path)
    clock.begin(lambda: 0.0)
    clock.keep()
    assert not path.exists()
    now[0] = 2.5
    clock.keep()
    assert path.read_text() == "2.500"


@pytest.mark.parametrize("left", [None, b"", b"half a numb", b"\xff"])
def test_without_a_whole_file_the_events_say_it(path: Path, left: bytes | None) -> None:
    if left is not None:
        path.write_bytes(left)
    clock = WorkingTime(path)
    clock.begin(lambda: 7.0)
    assert 7.0 <= clock.total < 8.0


def test_a_place_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    clock = WorkingTime(tmp_path / "nowhere" / "worked")
    clock.begin(lambda: 1.0)
    clock.keep(now=True)
