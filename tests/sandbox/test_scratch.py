"""Folders for a moment: gone with their use, swept when their maker was killed, and never while it lives."""

import subprocess
import sys
import tempfile

import pytest

from sandbox.checkout import appearing
from sandbox.scratch import scratch, sweep


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_it_is_gone_with_its_use_whatever_was_put_there(tmp_path):
    with scratch("test") as folder:
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "deep" / "er").chmod(0)
        assert list(tmp_path.iterdir()) == [folder.parent]
    assert list(tmp_path.iterdir()) == []


def test_it_is_gone_after_an_error(tmp_path):
    with pytest.raises(OSError, match="broken"), scratch("test"):
        raise OSError("broken")
    assert list(tmp_path.iterdir()) == []


def test_only_what_a_dead_maker_left_is_swept(tmp_path):
    stranger = tmp_path / "somebodys"
    stranger.mkdir()
    code = (
        "import os, sys\nfrom sandbox.scratch import scratch\n"
        "with scratch('child'):\n    print('made', flush=True)\n    sys.stdin.readline()\n"
    )
    child = [sys.executable, "-P", "-c", code]
    with subprocess.Popen(child, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout.readline() == "made\n"
        with scratch("mine") as mine:
            assert sweep() == ()
            maker.kill()
            maker.wait()
            (left,) = sweep()
            assert not left.exists()
            assert sorted(tmp_path.iterdir()) == sorted([mine.parent, stranger])
    assert list(tmp_path.iterdir()) == [stranger]


def test_a_checkout_can_appear_in_it():
    with scratch("test") as folder:
        with appearing(folder / "repo") as fresh:
            (fresh / "file").write_text("x")
        assert (folder / "repo" / "file").read_text() == "x"
