"""What the benchmark needs beside us: an environment with aider, and clones that can be checked out."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

AIDER = "aider-chat==0.86.2"


def installed(folder: Path) -> Path | None:
    """Return the python of an environment that has aider, made when there is none yet; None where that fails."""
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        print(f"installing {AIDER} into {folder} …", file=sys.stderr)
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode == 0
        if not made or subprocess.run([str(python), "-m", "pip", "install", "-q", AIDER], check=False).returncode:
            return None
        (folder / "done").touch()
    return python


def missing(repositories: Sequence[Path], python: Path | None) -> list[str]:
    """Return a line for each thing without which nothing can be measured."""
    lacks = [f"no git directory: {each}" for each in repositories if not _holds(each)]
    if not repositories:
        lacks.append("name git directories of Python projects with their history, such as clones of scrapy and pytest")
    if python is None or not python.exists():
        lacks.append(f"no aider: `pip install {AIDER}` failed; name a python that has it with --aider")
    return lacks


def _holds(folder: Path) -> bool:
    return subprocess.run(["git", "-C", str(folder), "rev-parse"], capture_output=True, check=False).returncode == 0


def cloned(repository: Path, place: Path) -> Path:
    """Return a clone of our own whose files may be checked out; it borrows the repository's objects."""
    whole = repository.resolve()
    folder = place / "clones" / "-".join(whole.parts[-2:])
    if not folder.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(whole), str(folder)], check=True)
    return folder


class Aider:
    """The process that makes repo maps and counts tokens."""

    def __init__(self, python: Path | None) -> None:
        command = [str(python), "-P", str(Path(__file__).with_name("repomap.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tokens(self, text: str) -> int:
        """Return how many tokens a text is."""
        return int(self._asked({"count": text})["tokens"])

    def repo_map(
        self, root: Path, files: Sequence[str], chat: Sequence[str], message: str, budget: int
    ) -> tuple[str, int]:
        """Return the map and its tokens."""
        job = {"root": str(root), "files": list(files), "chat": list(chat), "message": message, "budget": budget}
        answer = self._asked(job)
        return str(answer["map"]), int(answer["tokens"])

    def _asked(self, job: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer
