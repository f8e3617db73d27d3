"""The graph for a command that only looks: its cache lies in the repository only where grace has been before."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.graph import Knowledge
    from sandbox.git import Git


@contextmanager
def knowledge(git: "Git") -> "Iterator[Knowledge]":
    """Give the graphs of a repository, and leave nothing in one that grace has not been in."""
    from controller.graph import Knowledge

    if git.roots.state.is_dir():
        yield Knowledge(git, git.roots.state / "cache" / "facts.db")
        return
    with TemporaryDirectory(prefix="grace-") as folder:
        yield Knowledge(git, Path(folder) / "facts.db")
