"""The verbs of the end-to-end tests serve here too, and a few of the rows' own."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

_SPEC = importlib.util.spec_from_file_location("grace_verbs", Path(__file__).parents[1] / "e2e" / "conftest.py")
verbs = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = verbs
_SPEC.loader.exec_module(verbs)

new_repo, repo, new_shop = verbs.new_repo, verbs.repo, verbs.new_shop


class Verbs:
    """What the rows need besides the repository's own verbs."""

    Repo = verbs.Repo
    containers = staticmethod(verbs.containers)

    @staticmethod
    def kill(process: "subprocess.Popen[str]") -> None:
        """Kill -9 the controller; wait until it is gone."""
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.read()
        process.wait()

    @staticmethod
    def wrote(repo: "verbs.Repo", *texts: str, patience: float = 90.0) -> None:
        """Wait until workers wrote files of exactly these texts."""
        work = repo.path / ".git" / "grace" / "runs"
        until = time.monotonic() + patience
        missing = set(texts)
        while missing:
            assert time.monotonic() < until, f"no worker wrote {missing}"
            time.sleep(0.1)
            for path in work.glob("*/work/*/layers/**/*"):
                try:
                    missing -= {path.read_text()} if path.is_file() else set()
                except (OSError, UnicodeDecodeError):
                    continue

    @staticmethod
    def docker(*args: str) -> str:
        """Ask the Docker engine."""
        return subprocess.run(["docker", *args], capture_output=True, text=True, check=True).stdout

    @staticmethod
    def seen(process: "subprocess.Popen[str]", wanted: Callable[[dict], bool]) -> dict:
        """Read events until one is wanted."""
        for line in process.stdout:
            event = json.loads(line)
            if wanted(event):
                return event
        raise AssertionError("the run ended without that event")

    @staticmethod
    def rescued(repo: "verbs.Repo", run: str, module: str) -> list[str]:
        """Name the rescue refs of a module."""
        return [ref for ref in repo.refs() if ref.startswith(f"refs/grace/rescue/{run}/{module}/")]


@pytest.fixture
def do() -> type[Verbs]:
    """The verbs of this folder."""
    return Verbs


@pytest.fixture(scope="session")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., tuple[int, int, str]]]:
    """Give one life of the controller after the other: `(repo, *args, at=…)` to exit code, boundaries seen, words."""
    out = tmp_path_factory.mktemp("lives") / "out"
    command = [sys.executable, "-P", Path(__file__).with_name("crashing.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=verbs.environment(), **pipes) as server:

        def live(repo: "verbs.Repo", *args: str, at: int | str | None = None) -> tuple[int, int, str]:
            server.stdin.write(json.dumps({"cwd": str(repo.path), "args": args, "out": str(out), "at": at}) + "\n")
            server.stdin.flush()
            ended = json.loads(server.stdout.readline())
            return ended["code"], ended["seen"], out.read_text(errors="replace")

        yield live
        server.stdin.close()


@pytest.fixture(name="verbs", scope="session")
def product() -> ModuleType:
    """Give the end-to-end tests' own verbs, for fixtures of a wider scope than theirs."""
    return verbs
