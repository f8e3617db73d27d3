"""The texts behind two trees, read when asked for: graphs say what a file holds, not how alike two of them are."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from controller.graph.knowledge import readable
from sandbox.git import Change, Git

_FILES = ("100644", "100755")
LARGEST = 1 << 20
"""Bytes of a file that is compared with others by its text; larger ones are generated."""


class Texts:
    """Base and head of one comparison. Paths are as the graph has them."""

    def __init__(self, git: Git, base_tree: str, head_tree: str) -> None:
        self._git = git
        self._trees = (base_tree, head_tree)

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        """What differs, by path."""
        return {readable(change.path): change for change in self._git.changes(*self._trees)}

    def before(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the texts of changed files as they were; what is no file, or is too large, is left out."""
        chosen = ((path, self.changes[path]) for path in paths if path in self.changes)
        return self._read({path: each.old_blob for path, each in chosen if each.old_mode in _FILES})

    def after(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the texts of changed files as they are now; what is no file, or is too large, is left out."""
        chosen = ((path, self.changes[path]) for path in paths if path in self.changes)
        return self._read({path: each.new_blob for path, each in chosen if each.new_mode in _FILES})

    def now(self, wanted: Callable[[str], object]) -> dict[str, str]:
        """Return the texts of files of the head, changed or not, whose own name is wanted."""
        entries = {readable(path): entry for path, entry in self._git.entries(self._trees[1]).items()}
        chosen = {p: e.blob for p, e in entries.items() if e.mode in _FILES and wanted(p.rpartition("/")[2])}
        return self._read(chosen)

    def _read(self, blobs: Mapping[str, str]) -> dict[str, str]:
        held = {
            blob: data.decode("utf-8", "replace")
            for blob, data in self._git.blobs(sorted(set(blobs.values())))
            if len(data) <= LARGEST
        }
        return {path: held[blob] for path, blob in blobs.items() if blob in held}
