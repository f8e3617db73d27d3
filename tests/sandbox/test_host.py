"""The host engine: no walls, but paths, environment, limits and a clean end."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from packets.limits import Limits
from packets.outcome import StopReason
from sandbox import descendants
from sandbox.host import HostSandbox, translate
from sandbox.protocol import Ending, Job, Mount


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., tuple[Ending, str]]]:
    engine = HostSandbox()
    (tmp_path / "repo").mkdir()
    (tmp_path / "grace" / "out").mkdir(parents=True)
    mounts = (
        Mount(tmp_path / "grace", "/grace"),
        Mount(tmp_path / "grace" / "out", "/grace/out", writable=True),
        Mount(tmp_path / "repo", "/repo", writable=True),
    )

    def go(*argv: str, **about: object) -> tuple[Ending, str]:
        job = Job(run_id="h", name="h-1", argv=argv, log=tmp_path / "log", mounts=mounts, **about)  # type: ignore[arg-type]
        engine.start(job)
        ending = engine.wait(job)
        engine.remove(job.name)
        assert engine.remaining("h") == ()
        return ending, job.log.read_text()

    yield go
    engine.close()


def test_words_that_start_with_a_target_become_its_source() -> None:
    mounts = (Mount(Path("/w/grace"), "/grace"), Mount(Path("/w/out"), "/grace/out"), Mount(Path("/w/repo"), "/repo"))
    assert translate("/repo", mounts) == "/w/repo"
    assert translate("/repo/a b", mounts) == "/w/repo/a b"
    assert translate("/grace/out/r", mounts) == "/w/out/r"
    assert translate("/grace/in", mounts) == "/w/grace/in"
    assert translate("/repository", mounts) == "/repository"
    assert translate("say /repo", mounts) == "say /repo"


def test_the_job_finds_its_paths_and_nothing_of_our_environment(
    run: Callable[..., tuple[Ending, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRACE_TEST_KEY", "canary")
    ending, log = run(
        "sh",
        "-c",
        'pwd; echo "$GRACE_REPO"; echo x > "$GRACE_OUT/r"; env; exit 3',
        env={"GRACE_REPO": "/repo", "GRACE_OUT": "/grace/out"},
    )
    assert ending.exit_code == 3
    assert log.splitlines()[:2] == [str(tmp_path / "repo")] * 2
    assert (tmp_path / "grace/out/r").read_text() == "x\n"
    assert "canary" not in log
    assert f"HOME={os.environ['HOME']}\n" not in log


def test_what_left_the_process_group_dies_too(run: Callable[..., tuple[Ending, str]]) -> None:
    ending, _ = run("sh", "-c", "(setsid sleep 340001 &) ; sleep 0.2; exit 0")
    assert ending.exit_code == 0
    assert not [
        p
        for t, pids in descendants.titled("sleep").items()
        for p in pids
        if b"340001" in Path(f"/proc/{p}/cmdline").read_bytes()
    ]


def test_limits_are_watched_and_named(run: Callable[..., tuple[Ending, str]]) -> None:
    assert run("sleep", "60", deadline=0.5)[0].reason is StopReason.DEADLINE
    hog = "h = []\nwhile True: h.append(bytearray(4 << 20))"
    assert run("python3", "-c", hog, limits=Limits(memory=96 << 20))[0].reason is StopReason.MEMORY
    assert run("sh", "-c", "head -c 9000000 /dev/zero > big", limits=Limits(disk=1 << 20))[0].reason is StopReason.DISK


def test_a_missing_program_is_127(run: Callable[..., tuple[Ending, str]]) -> None:
    ending, log = run("no-such-program")
    assert (ending.exit_code, ending.reason) == (127, StopReason.EXITED)
    assert "no-such-program" in log


def test_it_says_what_it_does_not_hold() -> None:
    engine = HostSandbox()
    said = " ".join(engine.gaps)
    engine.close()
    assert all(word in said for word in ("files", "network", "memory", "cpus", "pids", "disk"))


def test_a_throwaway_home_is_gone_after_remove(run: Callable[..., tuple[Ending, str]]) -> None:
    _, log = run("sh", "-c", 'echo x > ~/f; echo "$HOME"')
    assert not Path(log.strip()).exists()
