"""Opening the repository and its store for a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.store.store import RunRecord, Store
from sandbox.git import Git


@contextmanager
def opened(wanted: str | None = None) -> Iterator[tuple[Git, Store, RunRecord]]:
    """Open the repository around the working directory and one run of it; raises UsageError."""
    with Git.discover(Path.cwd()) as git:
        store = Store(git.roots.database)
        try:
            yield git, store, store.run(wanted)
        finally:
            store.close()
