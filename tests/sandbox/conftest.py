"""Real git repositories, made by real git under a hostile user configuration."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.git import Git


class Repo:
    """A user's repository and the user's own git."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def git(self, *args: str, stdin: bytes = b"", ok: bool = True, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *args], cwd=cwd or self.path, input=stdin, capture_output=True, check=False)
        if ok and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, files: dict[str, bytes]) -> None:
        for name, data in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def commit(self, files: dict[str, bytes], message: str = "work") -> str:
        """Commit exactly these bytes, whatever the user's configuration does to a plain `git add`."""
        self.write(files)
        self.git("-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null", "add", "-A")
        self.git("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "commit", "-qm", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, so that no configuration of this machine takes part."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Zoë\n\temail = zoe@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    return home


@pytest.fixture
def repo(tmp_path: Path, home: Path) -> Repo:
    path = tmp_path / "repo"
    path.mkdir()
    made = Repo(path)
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def opened() -> Iterator[Callable[[Repo], Git]]:
    """Open a repository with our git, closed at the end."""
    known: list[Git] = []

    def discover(repo: Repo) -> Git:
        known.append(Git.discover(repo.path))
        return known[-1]

    yield discover
    for git in known:
        git.close()
