"""What the doctor says of this machine, of one without engines, and of a folder without a repository."""

from pathlib import Path

import pytest

from controller.doctor import examine
from sandbox import bubblewrap_probe
from sandbox.docker import DockerSandbox


def test_every_line_is_ok_or_says_what_to_do(docker_engine: DockerSandbox, tmp_path: Path) -> None:
    report = examine(tmp_path)
    found = {check.name: check for check in report.checks}
    assert list(found) == ["python", "git", "docker", "bubblewrap", "image", "cgroups", "disk", "state"]
    assert report.ready
    assert docker_engine.version in found["docker"].detail
    assert not found["state"].ok
    assert all(check.hint for check in report.checks if not check.ok)


def test_without_an_engine_no_plan_can_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none")
    monkeypatch.setattr(bubblewrap_probe, "_binaries", lambda: iter([Path("/bin/false")]))
    report = examine(tmp_path)
    missing = {check.name: check for check in report.checks if not check.ok}
    assert not report.ready
    assert {"docker", "bubblewrap"} <= set(missing)
    assert "start Docker" in missing["docker"].hint
