"""A bounded log keeps the tail, and says what went."""

from pathlib import Path

import pytest

from sandbox.output import BoundedLog


@pytest.mark.parametrize("piece", [1, 7, 100, 250])
@pytest.mark.parametrize("total", [0, 50, 99, 100, 101, 199, 200, 201, 1000])
def test_the_last_bytes_are_kept_whatever_the_pieces(tmp_path: Path, piece: int, total: int) -> None:
    data = bytes(n % 251 for n in range(total))
    with BoundedLog(tmp_path / "deep" / "log", limit=100) as log:
        for at in range(0, total, piece):
            log.write(data[at : at + piece])
    kept = (tmp_path / "deep" / "log").read_bytes()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["log"]
    if total <= 100:
        assert kept == data
        return
    note, _, tail = kept.partition(b"dropped\n")
    assert len(tail) <= 100
    assert tail == data[-len(tail) :]
    assert len(tail) >= 1
    assert int(note.split()[3]) == total - len(tail)


def test_a_source_that_lost_its_beginning_is_said_to_have(tmp_path: Path) -> None:
    with BoundedLog(tmp_path / "log") as log:
        log.write(b"tail\n")
        log.cut_before = True
    assert (tmp_path / "log").read_text() == "grace: at least the first 0 bytes of output were dropped\ntail\n"
