"""Trees as files, by content: no git checkout runs, so no attribute, filter or line ending rule takes part."""

# ruff: noqa: PTH101, PTH102, PTH104, PTH106, PTH108, PTH123, PTH211
# Thousands of files at a time, bytes as names, open descriptors: os is the plain way here.

import fcntl
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from packets.errors import GraceError
from packets.forbidden import name_fault
from sandbox.effect import effect
from sandbox.git import Entry, Git
from sandbox.git.values import EXECUTABLE, GITLINK, SYMLINK
from sandbox.roots import Roots
from sandbox.scratch import is_left, live, turn

MTIME = 1_577_836_800
"""Every file's time (2020-01-01, seconds): the same in each copy, and long before anything a worker does."""

_ASIDE = ".aside"  # what a folder's name ends in while it is made, or removed
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def base_checkout(git: Git, roots: Roots, tree: str) -> Path:
    """Return the shared checkout of `tree`, made once; never write to it, and bind it read-only."""
    target = roots.trees / tree
    with _locks[str(target)]:
        if not target.is_dir():
            with appearing(target) as fresh:
                write_files(git, git.entries(tree), fresh)
    os.utime(target)
    return target


def candidate(git: Git, tree: str, folder: Path, owner: int | None) -> Path:
    """Make a complete checkout of `tree` at `folder`, writable by `owner`, to be thrown away; replaces what is there.

    Written file by file; where trees are huge and the engine can layer (overlayfs), this is the place to do it.
    """
    discard(folder)
    with appearing(folder) as fresh:
        write_files(git, git.entries(tree), fresh, owner=owner)
    return folder


def prune_cache(roots: Roots, unused_for: float) -> tuple[Path, ...]:
    """Remove shared checkouts and templates that no workspace began with for so many seconds; returns what went.

    Give at least the longest deadline of a run that lives: a checkout is bound into its workers. What a maker that was
    killed left half-made goes at once.
    """
    limit = time.time() - unused_for
    old: list[Path] = []
    for folder in (roots.trees, roots.templates):
        if folder.is_dir():
            with turn(folder, fcntl.LOCK_EX):
                spots = [
                    s for s in folder.iterdir() if (is_left(s) if s.suffix == _ASIDE else s.stat().st_mtime < limit)
                ]
                for spot in spots:
                    with effect("cache.prune"):
                        _remove(spot)
            old += spots
    return tuple(old)


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Give a folder beside `target` that takes its place in one step when the body succeeds, and is gone otherwise."""
    fresh = _beside(target)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    with turn(fresh.parent, fcntl.LOCK_SH):
        fresh.mkdir(mode=0o755)
        lock = live(fresh)
    try:
        fresh.chmod(0o755)
        yield fresh
        try:
            with effect("folder.appear"):
                fresh.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was first, with the same content
                raise
    finally:
        _remove(fresh)
        os.close(lock)


def write_files(
    git: Git, entries: Mapping[str, Entry], folder: Path, strip: str = "", owner: int | None = None
) -> None:
    """Write the entries into `folder`, which exists, without the leading `strip/`. Gitlinks become empty folders."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)
    links: list[tuple[str, str]] = []
    folders = {""}
    _refuse_names(entries)
    for path, entry in entries.items():
        inside = path.removeprefix(f"{strip}/") if strip else path
        folders.update(_above(inside))
        if entry.mode == GITLINK:
            folders.add(inside)
        elif entry.mode == SYMLINK:
            links.append((inside, entry.blob))
        else:
            places[entry.blob].append((inside, entry.mode))
    root = str(folder)
    try:
        _make_folders(root, folders, owner)
        for blob, data in git.blobs(list(places)):
            for path, mode in places[blob]:
                _write_file(f"{root}/{path}", data, 0o755 if mode == EXECUTABLE else 0o644, owner)
        # Links come last: then nothing can be written through one.
        for (path, _), (_, target) in zip(links, git.blobs([blob for _, blob in links]), strict=True):
            _write_link(f"{root}/{path}", target, owner)
    except (OSError, ValueError) as fault:
        raise GraceError(f"cannot write a checkout at {folder}: {fault}") from fault


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _refuse_names(paths: Iterable[str]) -> None:
    for part in {part for path in paths for part in path.split("/")}:
        if fault := name_fault(part):
            raise GraceError(f"the tree holds {part!r}, which has {fault}: no checkout may hold it")


def _make_folders(root: str, folders: set[str], owner: int | None) -> None:
    for name in sorted(folders):
        spot = f"{root}/{name}" if name else root
        if name:
            os.mkdir(spot)
        os.chmod(spot, 0o755)  # noqa: S103 - the worker has another uid
        if owner is not None:
            os.chown(spot, owner, owner)


def _write_file(path: str, data: bytes, mode: int, owner: int | None) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fchmod(descriptor, mode)
        if owner is not None:
            os.fchown(descriptor, owner, owner)
        os.utime(descriptor, (MTIME, MTIME))


def _write_link(path: str, target: bytes, owner: int | None) -> None:
    os.symlink(target, os.fsencode(path))
    if owner is not None:
        os.lchown(path, owner, owner)
    os.utime(path, (MTIME, MTIME), follow_symlinks=False)


def discard(folder: Path) -> None:
    """Remove a workspace or checkout and what was left of making it; whatever a worker did to it. Idempotent.

    It is moved aside first: one that was cut off half way is never taken for a whole one.
    """
    if os.path.lexists(folder):
        with effect("folder.aside"), suppress(FileNotFoundError):
            folder.rename(_beside(folder))
    for rest in folder.parent.glob(f".{_literal(folder.name)}.*{_ASIDE}"):
        with effect("folder.remove"):
            _remove(rest)


def _beside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{uuid4().hex[:8]}{_ASIDE}")


def _literal(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        _remove_stubborn(folder)


def _remove_stubborn(folder: Path) -> None:
    """Remove folders without permissions and of any depth: each is first moved up to the top, so paths stay short."""
    waiting = [folder]
    for number, here in enumerate(waiting):
        os.chmod(here, 0o700)
        with os.scandir(here) as found:
            children = list(found)
        for at, child in enumerate(children):
            if not child.is_dir(follow_symlinks=False):
                os.unlink(child.path)
                continue
            os.chmod(child.path, 0o700)
            if here == folder:
                waiting.append(Path(child.path))
            else:
                raised = folder / f".{uuid4().hex[:8]}-{number}-{at}"
                os.rename(child.path, raised)
                waiting.append(raised)
    for here in reversed(waiting):
        with suppress(FileNotFoundError):
            os.rmdir(here)
