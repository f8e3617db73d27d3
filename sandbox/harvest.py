"""What a worker left, as a tree: found by lstat from open folders, never through a link, compared by content.

All that differs from the base goes into the tree, in scope or not: the reviewer judges. Left out, and noted, is only
what a git tree cannot hold. Ignore files do not count. Hard links are no matter: inside a workspace they cannot reach
out of it, and what is taken is content.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError, MachineLacks
from packets.forbidden import name_fault
from packets.outcome import Anomaly, AnomalyKind
from sandbox.effect import effect
from sandbox.git import Entry, Git
from sandbox.git.values import EXECUTABLE, FILE, GITLINK, SYMLINK
from sandbox.layers import Layer

_MAX_DEPTH = 200
_MAX_PATH = 3000  # bytes; git's index and most systems end near 4096
_MAX_NEW = 100_000
_MAX_NOTED = 200
_CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class Harvest(NamedTuple):
    """The complete tree, and what could not be part of it."""

    tree: str
    anomalies: tuple[Anomaly, ...]


class Found(NamedTuple):
    """One file or link: its mode in git, its id, and where its bytes are."""

    mode: str
    blob: str
    source: bytes | Path


def harvest_layers(git: Git, base_tree: str, layers: Iterable[tuple[Path, Layer]], max_bytes: int) -> Harvest:
    """Return `base_tree` with what the writable layers hold."""
    with effect("tree.import"):
        return _harvested(git, base_tree, layers, max_bytes)


def _harvested(git: Git, base_tree: str, layers: Iterable[tuple[Path, Layer]], max_bytes: int) -> Harvest:
    base = git.entries(base_tree)
    found: dict[str, Found | None] = {}
    anomalies: list[Anomaly] = []
    for folder, layer in layers:
        if layer.writable:
            walk = _Walk(folder, layer, base, max_bytes, sha256=len(base_tree) == 64)  # noqa: PLR2004 - hex digits
            found.update(walk.changes())
            anomalies += walk.anomalies
    _write_blobs(git, found)
    updates = {path: Entry(one.mode, one.blob) if one else None for path, one in found.items()}
    try:
        return Harvest(git.write_tree(base_tree, updates), tuple(anomalies))
    except MachineLacks:
        raise  # a full disk refuses every name
    except GraceError:
        refused = list(_refused(git, git.empty_tree(), [(path, entry) for path, entry in updates.items() if entry]))
    noted = [Anomaly(kind=AnomalyKind.NAME, path=readable(path), detail="git refuses it") for path in refused]
    fit = {path: entry for path, entry in updates.items() if path not in refused}
    return Harvest(git.write_tree(base_tree, fit), (*anomalies, *noted))


def _refused(git: Git, empty: str, entries: list[tuple[str, Entry]]) -> Iterator[str]:
    """Find by halving what git takes into no tree, such as `.gitmodules` as a link."""
    try:
        git.write_tree(empty, dict(entries))
    except MachineLacks:
        raise
    except GraceError:
        if len(entries) == 1:
            yield entries[0][0]
            return
        middle = len(entries) // 2
        yield from _refused(git, empty, entries[:middle])
        yield from _refused(git, empty, entries[middle:])


def _write_blobs(git: Git, found: Mapping[str, Found | None]) -> None:
    fresh = [(path, one) for path, one in found.items() if one is not None]
    for (path, one), blob in zip(fresh, git.write_blobs([one.source for _, one in fresh]), strict=True):
        if blob != one.blob:
            raise GraceError(f"{path} changed while it was harvested", "something still writes in the workspace")


class _Walk:
    """One layer, read from the top; `anomalies` fills while it goes."""

    def __init__(self, folder: Path, layer: Layer, base: Mapping[str, Entry], max_bytes: int, *, sha256: bool) -> None:
        self.anomalies: list[Anomaly] = []
        self._folder, self._layer, self._max_bytes = folder, layer, max_bytes
        self._sha256 = sha256
        self._base = {path: entry for path, entry in base.items() if layer.holds(path)}
        self._kept: set[str] = set()
        self._new = 0

    def changes(self) -> dict[str, Found | None]:
        """Return what differs from the base: None for a path that is gone."""
        above = os.open(self._folder.parent, _READ | os.O_DIRECTORY)
        try:
            mode = os.lstat(self._folder.name, dir_fd=above).st_mode
            self._open_up(above, self._folder.name, self._layer.folder or ".", mode, stat.S_IRWXU)
            here = os.open(self._folder.name, _READ | os.O_DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
        try:
            found = dict(self._inside(here, self._layer.folder, 0))
        finally:
            os.close(here)
        gone = {path: None for path in self._base if path not in found and path not in self._kept}
        different = {p: one for p, one in found.items() if self._base.get(p) != Entry(one.mode, one.blob)}
        return {**gone, **different}

    def _inside(self, here: int, folder: str, depth: int) -> Iterator[tuple[str, Found]]:
        for name in sorted(os.listdir(here)):
            path = f"{folder}/{name}" if folder else name
            if path in self._layer.covered or self._is_unfit(path, name, depth):
                continue
            about = os.lstat(name, dir_fd=here)
            if stat.S_ISDIR(about.st_mode):
                self._open_up(here, name, path, about.st_mode, stat.S_IRWXU)
                yield from self._folder_at(here, name, path, depth)
            elif stat.S_ISLNK(about.st_mode):
                target = os.fsencode(os.readlink(name, dir_fd=here))
                yield from self._counted(path, Found(SYMLINK, self._hash(len(target), [target]), target))
            elif stat.S_ISREG(about.st_mode):
                yield from self._file(here, name, path, about)
            else:
                self._note(AnomalyKind.SPECIAL, path, _kind(about.st_mode))

    def _folder_at(self, here: int, name: str, path: str, depth: int) -> Iterator[tuple[str, Found]]:
        descriptor = os.open(name, _READ | os.O_DIRECTORY, dir_fd=here)
        try:
            if self._base.get(path, Entry("", "")).mode == GITLINK and self._is_submodule(descriptor, path):
                self._kept.add(path)
                return
            yield from self._inside(descriptor, path, depth + 1)
        finally:
            os.close(descriptor)

    def _is_submodule(self, descriptor: int, path: str) -> bool:
        """Say whether a submodule's folder still stands for it: empty as we made it, or a repository in its place."""
        names = os.listdir(descriptor)
        if ".git" in names:
            self._note(AnomalyKind.NESTED_REPO, path, "in a submodule's place; its content is left out")
        return not names or ".git" in names

    def _file(self, here: int, name: str, path: str, about: os.stat_result) -> Iterator[tuple[str, Found]]:
        if about.st_size > self._max_bytes:
            self._note(AnomalyKind.TOO_BIG, path, f"{about.st_size} bytes; the limit is {self._max_bytes}")
            self._kept.add(path)
            return
        self._open_up(here, name, path, about.st_mode, stat.S_IRUSR)
        descriptor = os.open(name, _READ, dir_fd=here)
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
            blob = self._hash(about.st_size, iter(lambda: file.read(_CHUNK), b""))
        mode = EXECUTABLE if about.st_mode & stat.S_IXUSR else FILE
        inside = path.removeprefix(f"{self._layer.folder}/") if self._layer.folder else path
        yield from self._counted(path, Found(mode, blob, self._folder / inside))

    def _open_up(self, here: int, name: str, path: str, mode: int, needed: int) -> None:
        """Give ourselves the permissions that the worker took away: umask 777, chmod 000."""
        readable_bits = needed & ~stat.S_IWUSR
        if mode & readable_bits != readable_bits:
            self._note(AnomalyKind.UNREADABLE, path, f"mode {stat.S_IMODE(mode):03o}; opened to read it")
            # Nobody else writes here any more, so the name is still what lstat saw, and no link.
            os.chmod(name, stat.S_IMODE(mode) | needed, dir_fd=here)

    def _hash(self, size: int, chunks: Iterable[bytes]) -> str:
        digest = hashlib.sha256() if self._sha256 else hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % size)
        for chunk in chunks:
            digest.update(chunk)
        return digest.hexdigest()

    def _counted(self, path: str, one: Found) -> Iterator[tuple[str, Found]]:
        self._new += path not in self._base
        if self._new <= _MAX_NEW:
            yield path, one
        elif self._new == _MAX_NEW + 1:
            self._note(AnomalyKind.TOO_BIG, path, f"more than {_MAX_NEW} new files; the rest is left out")

    def _is_unfit(self, path: str, name: str, depth: int) -> bool:
        fault = name_fault(name)
        if name == ".git":
            self._note(AnomalyKind.NESTED_REPO, path, "left out")
        elif fault:
            self._note(AnomalyKind.NAME, path, fault)
        elif depth > _MAX_DEPTH or len(os.fsencode(path)) > _MAX_PATH:
            fault = "too deep"
            self._note(AnomalyKind.NAME, path, f"{fault}; left out")
        return bool(fault)

    def _note(self, kind: AnomalyKind, path: str, detail: str) -> None:
        if len(self.anomalies) < _MAX_NOTED:
            self.anomalies.append(Anomaly(kind=kind, path=readable(path), detail=detail))


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


def readable(path: str) -> str:
    """Make a path fit to print and to store: bytes that are no text, and control characters, as escapes."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
