"""The sources of one tree, read a file at a time when an excerpt shows something of it."""

from functools import cached_property

from controller.graph.knowledge import readable
from sandbox.git import Entry, Git

LARGEST = 1 << 20
"""Bytes. Larger files are generated, and nothing is shown of them but what the graph says."""

_FILES = ("100644", "100755")


class Sources:
    """Reads each file at most once. Paths are as the graph has them."""

    def __init__(self, git: Git, tree: str) -> None:
        self._git = git
        self._tree = tree
        self._lines: dict[str, tuple[str, ...]] = {}

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {readable(path): entry for path, entry in self._git.entries(self._tree).items()}

    def lines(self, path: str) -> tuple[str, ...]:
        """Return the lines of a file; none of what is no file, or is too large."""
        if path not in self._lines:
            entry = self._entries.get(path)
            data = self._git.blob(entry.blob) if entry and entry.mode in _FILES else b""
            text = data.decode("utf-8", "replace") if len(data) <= LARGEST else ""
            self._lines[path] = tuple(line.rstrip() for line in text.split("\n"))
        return self._lines[path]

    def line(self, path: str, number: int) -> str:
        """Return one line without the blanks around it, counted from 1; nothing where there is none."""
        lines = self.lines(path)
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""
