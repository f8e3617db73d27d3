"""`grace sandbox` as a user types it."""

import json
from pathlib import Path

import pytest

from controller.main import run
from sandbox import image_store


def _json(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_build_and_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sandbox", "build", "--sandbox", "bubblewrap", "--json"]) == 0
    built = _json(capsys)
    assert built["sandbox"] == "bubblewrap"
    assert Path(str(built["ref"])).is_dir()
    assert run(["sandbox", "list", "--json"]) == 0
    images = _json(capsys)["images"]
    assert isinstance(images, list)
    (mine,) = [one for one in images if one["name"] == built["ref"]]
    assert (mine["digest"], mine["current"], mine["engine"]) == (built["digest"], True, "bubblewrap")


def test_prune_removes_what_is_not_current(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none")
    made = image_store.make("old", "test", lambda root: {"A": str((root / "x").write_text("x"))})
    assert run(["sandbox", "prune", "--json"]) == 0
    removed = _json(capsys)["removed"]
    assert isinstance(removed, list)
    assert [one["digest"] for one in removed] == [made.digest]
    assert image_store.all_of_them() == ()
    assert image_store.keys() == {}
    assert run(["sandbox", "prune", "--json"]) == 0
    assert _json(capsys) == {"removed": []}


def test_an_engine_without_images_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sandbox", "build", "--sandbox", "host"]) == 2
    assert "has no images" in capsys.readouterr().err


def test_f6_docker_without_engine_is_exit_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none")
    assert run(["sandbox", "build", "--sandbox", "docker"]) == 3
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("grace: no Docker engine answers")
    assert said[1].startswith("  hint: ")
