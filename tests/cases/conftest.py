"""The verbs of the end-to-end tests serve here too, and a few of the rows' own."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

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


@dataclass
class Server:
    """Forks one life of the controller after the other; see lives.py."""

    folder: Path
    process: "subprocess.Popen[str]"

    def live(self, cwd: Path, args: tuple[str, ...], env: dict[str, str], at: object, seconds: float) -> dict[str, Any]:
        """Return {code, seen, out, err}."""
        names = {name: str(self.folder / name) for name in ("out", "err")}
        asked = {"cwd": str(cwd), "args": args, "env": env, "at": at, "seconds": int(seconds), **names}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        ended = json.loads(self.process.stdout.readline())
        return ended | {name: Path(path).read_text(errors="replace") for name, path in names.items()}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give the server of this test process."""
    command = [sys.executable, "-P", Path(__file__).with_name("lives.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=verbs.environment(), **pipes) as process:
        yield Server(tmp_path_factory.mktemp("lives"), process)
        process.stdin.close()


@pytest.fixture
def lives(server: Server) -> Callable[..., tuple[int, int, str]]:
    """Give one life of the controller: `(repo, *args, at=…)` to exit code, boundaries seen, and all it said."""

    def live(repo: "verbs.Repo", *args: str, at: int | str | None = None) -> tuple[int, int, str]:
        ended = server.live(repo.path, args, {}, at or "never", verbs.PATIENCE)
        return ended["code"], ended["seen"], ended["out"] + ended["err"]

    return live


@pytest.fixture(autouse=True)
def _quickly(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command without its start-up time; what is started in the background is the installed one."""

    def grace(self: "verbs.Repo", *args: str | Path, timeout: float = verbs.PATIENCE, **env: str) -> "verbs.Result":
        ended = server.live(self.path, tuple(map(str, args)), env, None, timeout)
        return verbs.Result(ended["code"], ended["out"], ended["err"])

    monkeypatch.setattr(verbs.Repo, "grace", grace)


@pytest.fixture(scope="session")
def crashing() -> ModuleType:
    """Give the world to crash in; see crashing.py."""
    spec = importlib.util.spec_from_file_location("grace_crashing", Path(__file__).with_name("crashing.py"))
    sys.modules[spec.name] = loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(name="verbs", scope="session")
def product() -> ModuleType:
    """Give the end-to-end tests' own verbs, for fixtures of a wider scope than theirs."""
    return verbs
