"""The in-memory engine: scripts in place of programs, patches through our own git, nothing else."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from packets.outcome import StopReason
from sandbox.memory import MemorySandbox
from sandbox.protocol import Job, Mount

_PATCH = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"


def _job(folder: Path, *argv: str, name: str = "m-1", deadline: float = 60) -> Job:
    (folder / "repo").mkdir(exist_ok=True)
    mounts = (Mount(folder / "in", "/grace/in"), Mount(folder / "repo", "/repo", writable=True))
    return Job(run_id="m", name=name, argv=argv, log=folder / "log", mounts=mounts, deadline=deadline)


def test_scripts_are_found_by_command_line_shell_text_or_name(tmp_path: Path) -> None:
    def write(mounts: Mapping[str, Path], job: Job) -> int:
        (mounts["/repo"] / "made").write_text(job.argv[-1])
        return 4

    engine = MemorySandbox({"fix": write, "pytest -q": lambda mounts, job: 5, "python3 x.py": lambda mounts, job: 6})
    for number, (argv, code) in enumerate(
        [(("fix", "it"), 4), (("sh", "-c", "pytest -q"), 5), (("pytest", "-q"), 5), (("python3", "x.py"), 6)]
    ):
        job = _job(tmp_path, *argv, name=f"m-{number}")
        engine.start(job)
        assert engine.wait(job).exit_code == code
    assert (tmp_path / "repo" / "made").read_text() == "it"
    assert engine.remaining("m") == ("m-0", "m-1", "m-2", "m-3")
    for number in range(4):
        engine.remove(f"m-{number}")
    assert engine.remaining("m") == ()


def test_what_has_no_script_is_127_and_says_so(tmp_path: Path) -> None:
    engine = MemorySandbox()
    job = _job(tmp_path, "make", "all")
    assert engine.wait(job).exit_code == 127
    assert "no script for 'make all'" in job.log.read_text()
    for argv, code in ((("true",), 0), (("sh", "-c", "true"), 0), (("false",), 1)):
        engine.remove("m-1")
        assert engine.wait(_job(tmp_path, *argv)).exit_code == code


def test_a_patch_is_applied_to_the_copy(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "agent.patch").write_text(_PATCH)
    job = _job(tmp_path, "git", "apply", "--whitespace=nowarn", "/grace/in/agent.patch")
    (tmp_path / "repo" / "a").write_text("a\n")
    engine = MemorySandbox()
    assert engine.wait(job).exit_code == 0, job.log.read_text()
    assert (tmp_path / "repo" / "a").read_text() == "b\n"
    again = _job(tmp_path, *job.argv, name="m-2")
    assert engine.wait(again).exit_code == 1
    assert "does not apply" in again.log.read_text()


@pytest.mark.parametrize("place", ["../x", ".git/config", "link/x"])
def test_f2_a_patch_cannot_leave_the_copy(tmp_path: Path, place: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "outside").mkdir()
    patch = f"diff --git a/{place} b/{place}\nnew file mode 100644\n--- /dev/null\n+++ b/{place}\n@@ -0,0 +1 @@\n+x\n"
    (tmp_path / "in" / "agent.patch").write_text(patch)
    job = _job(tmp_path, "git", "apply", "/grace/in/agent.patch")
    (tmp_path / "repo" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "repo" / ".git").mkdir()
    assert MemorySandbox().wait(job).exit_code != 0
    assert not (tmp_path / "x").exists()
    assert list((tmp_path / "outside").iterdir()) == []
    shutil.rmtree(tmp_path / "repo" / ".git")


def test_cancel_and_deadline(tmp_path: Path) -> None:
    ran: list[str] = []

    def script(mounts: Mapping[str, Path], job: Job) -> int:
        ran.append(job.name)
        return 0

    engine = MemorySandbox({"go": script})
    assert engine.wait(_job(tmp_path, "go", name="m-1"), lambda: True).reason is StopReason.CANCELLED
    assert ran == []
    assert engine.wait(_job(tmp_path, "go", name="m-2", deadline=0)).reason is StopReason.DEADLINE
    assert engine.wait(_job(tmp_path, "go", name="m-2", deadline=0)).exit_code is None
    assert ran == ["m-2"], "once"
