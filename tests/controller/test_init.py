"""The guard against packages that are called like grace's rooms."""

import subprocess
import sys
from pathlib import Path

import pytest


def started(*folders: Path) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path[:0] = {[str(f) for f in folders]!r}; import controller"
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)


def test_grace_finds_its_own_rooms(tmp_path: Path) -> None:
    assert started(tmp_path).returncode == 0


@pytest.mark.parametrize("room", ["worker", "reviewer", "sandbox", "packets"])
@pytest.mark.parametrize("form", ["package", "module"])
def test_a_shadowed_room_is_refused_with_both_paths_and_not_run(tmp_path: Path, room: str, form: str) -> None:
    if form == "module":
        (tmp_path / f"{room}.py").write_text("raise SystemExit(99)\n")
    else:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("raise SystemExit(99)\n")
    seen = started(tmp_path)
    assert seen.returncode == 1
    assert "ImportError" in seen.stderr
    assert str(tmp_path / room) in seen.stderr
    assert f"/{room}, found" in seen.stderr


def test_a_folder_that_is_no_package_shadows_nothing(tmp_path: Path) -> None:
    (tmp_path / "worker").mkdir()
    assert started(tmp_path).returncode == 0
