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


def test_in_a_repository_the_state_is_looked_at(world):
    """Not begun, sound, with branches that nobody remembers, and lost: each is said, and what to do."""
    found = {check.name: check for check in examine(world.path).checks}
    assert found["database"].detail == "no run yet"
    assert all(found[name].ok for name in ("state", "database", "journals", "strays"))
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run().exits(4)
    run = world.run_id
    found = {check.name: check for check in examine(world.path).checks}
    assert found["database"].detail == "sound; runs: 1, not over: 1"
    world.git("update-ref", "refs/grace/rescue/lost-run/A/1", world.head)
    found = {check.name: check for check in examine(world.path).checks}
    assert "lost-run" in found["strays"].detail
    assert "git show refs/grace/rescue/lost-run/A/1" in found["strays"].hint
    assert run not in found["strays"].hint, "what is known is no stray"
    (journal,) = world.path.glob(".git/grace/runs/*/engine.db")
    journal.write_bytes(b"spoiled" * 1000)
    found = {check.name: check for check in examine(world.path).checks}
    assert not found["journals"].ok
    assert f"grace resume {run}" in found["journals"].hint
    for path in world.path.glob(".git/grace/state.db*"):
        path.unlink()
    report = examine(world.path)
    found = {check.name: check for check in report.checks}
    assert report.ready, "a lost state stops no new run"
    assert "is gone, and there were runs" in found["database"].detail
    assert f"git merge refs/heads/grace/{run}/integration" in found["strays"].hint
    assert world.grace("status").exits(3)
