"""The trees of one repository that are known: in memory, in the cache, or made from the nearest that is."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from controller.graph.cache import Cache
from controller.graph.facts import VERSION
from controller.graph.language import KINDS, kind_of, version
from controller.graph.store.change import changed
from controller.graph.store.crew import MANY, Crew
from controller.graph.store.reading import Reading
from controller.graph.store.shelf import Chunks, Lost
from controller.graph.store.state import State, empty, pack, reach, unpack
from controller.graph.store.stored import StoredWorld
from packets.errors import GraceError
from sandbox.git import Change, Git

LINKS = 1
"""Raised whenever the same facts are linked to something else."""

_TREES = 6
_NEAR = 3
"""Stored trees that are looked at as a start for another one."""

_AGAIN = 2
"""How often what was lost is made again on disk; then it stays in memory."""

_CLOSE = 50
"""Changed paths that are few enough to look for no nearer tree."""

_MODES = ("100644", "100755")


class Effort(NamedTuple):
    """What it took to know a tree: blobs that were parsed, files that were linked."""

    parsed: int
    linked: int


class Trees:
    """Worlds by tree. Safe for threads."""

    def __init__(self, git: Git, cache: Cache) -> None:
        self._git = git
        self._cache = cache
        self._reading = Reading(cache, git.blobs, Crew(git.common, cache.path))
        self._chunks = Chunks(cache.chunks)
        self._lost = 0
        self._lock = threading.RLock()
        self._worlds: OrderedDict[str, StoredWorld] = OrderedDict()

    def known(self, tree: str) -> bool:
        """Tell whether a tree is in memory."""
        return tree in self._worlds

    def world(self, tree: str) -> tuple[StoredWorld, Effort]:
        """Return what may be asked of a tree, and what that took."""
        with self._lock:
            if tree in self._worlds:
                self._worlds.move_to_end(tree)
                return self._worlds[tree], Effort(0, 0)
            stored = self._stored(tree)
            return self._made(tree) if stored is None else (self._remembered(tree, stored), Effort(0, 0))

    def anew(self, tree: str, *, no_cache: bool) -> tuple[StoredWorld, Effort]:
        """Link a tree from the ground up; without cache all its sources are parsed again, too."""
        with self._lock:
            return self._full(tree, no_cache=no_cache)

    def _made(self, tree: str) -> tuple[StoredWorld, Effort]:
        try:
            return self._from_near(tree) or self._full(tree)
        except Lost:
            self._begin_again()
            return self._full(tree)

    def _from_near(self, tree: str) -> tuple[StoredWorld, Effort] | None:
        """Make a tree from the known one that differs least; None where a new start is simpler."""
        near: tuple[str, tuple[Change, ...]] | None = None
        stored = [sha for sha in self._cache.trees(_version()) if sha not in self._worlds][:_NEAR]
        for sha in [*reversed(self._worlds), *stored]:
            try:
                changes = self._git.changes(sha, tree)
            except GraceError:
                continue  # it was pruned
            if near is None or len(changes) < len(near[1]):
                near = sha, changes
            if len(changes) <= _CLOSE:
                break
        start = (self._worlds.get(near[0]) or self._stored(near[0])) if near else None
        if near is None or start is None or len(near[1]) > start.state.files.count:
            return None
        if any(not _plain(change.path) for change in near[1]):
            return None
        entries = {each.path: _blob(each.path, each.new_mode, each.new_blob) for each in near[1]}
        return self._changed(tree, start, entries)

    def _full(self, tree: str, *, no_cache: bool = False) -> tuple[StoredWorld, Effort]:
        entries = {readable(path): entry for path, entry in self._git.entries(tree).items()}
        blobs = {path: _blob(path, entry.mode, entry.blob) for path, entry in sorted(entries.items())}
        start = StoredWorld(empty(self._chunks), self._reading)
        return self._changed(tree, start, blobs, no_cache=no_cache)

    def _changed(
        self, tree: str, start: StoredWorld, entries: Mapping[str, str | None], *, no_cache: bool = False
    ) -> tuple[StoredWorld, Effort]:
        wanted = {(kind_of(path), blob) for path, blob in entries.items() if blob}
        recover, start.recover = start.recover, None  # what is lost meanwhile is made again from the ground up
        try:
            parsed = self._reading.ahead(wanted, whole=len(wanted) < MANY, anew=no_cache)
            world, linked = changed(start.state, start, entries, self._reading)
        finally:
            start.recover = recover
            self._reading.rest()
        self._keep(tree, world.state)
        return self._remembered(tree, world), Effort(parsed, linked)

    def _remembered(self, tree: str, world: StoredWorld) -> StoredWorld:
        world.recover = lambda: self._recovered(tree)
        self._worlds[tree] = world
        self._worlds.move_to_end(tree)
        while len(self._worlds) > _TREES:
            self._worlds.popitem(last=False)
        return world

    def _stored(self, tree: str) -> StoredWorld | None:
        data = self._cache.tree(tree, _version())
        if data is None:
            return None
        try:
            state, versions = unpack(data, self._chunks)
        except Lost:
            return None
        return StoredWorld(state, self._reading) if versions == _versions(state) else None

    def _keep(self, tree: str, state: State) -> None:
        pieces = state.chunks.unkept()
        if self._cache.keep(tree, _version(), pack(state, _versions(state)), pieces):
            state.chunks.kept(pieces)
        if self._cache.crowded():
            chunks = Chunks(self._cache.chunks)
            self._cache.drop(lambda data: reach(data, chunks), lambda: _blobs_of(state))

    def _recovered(self, tree: str) -> State:
        """Make a state again of which something was lost."""
        with self._lock:
            self._begin_again()
            return self._full(tree)[0].state

    def _begin_again(self) -> None:
        self._lost += 1
        self._worlds.clear()
        self._chunks = Chunks(self._cache.chunks if self._lost <= _AGAIN else _nothing)


def _nothing(_keys: object) -> dict[bytes, str]:
    return {}


def _blob(path: str, mode: str, blob: str) -> str | None:
    """Return the blob that is read for a path, nothing where none is, None where the path is not there."""
    if mode == "000000":
        return None
    return blob if mode in _MODES and kind_of(path) != "file" else ""


def _blobs_of(state: State) -> set[str]:
    return {entry[0] for _, entry in state.files.items() if entry[0]}


def _plain(path: str) -> bool:
    """Tell whether no other path of git's can be written the same."""
    return "\\" not in path and readable(path) == path


def readable(path: str) -> str:
    """Write a path whose bytes are no UTF-8 so that it can stand in text; other paths stay as they are."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@cache
def _version() -> str:
    table = blake2b(repr(KINDS).encode(), digest_size=8).hexdigest()
    return f"{VERSION}-{LINKS}-{table}"


def _versions(state: State) -> dict[str, str]:
    """Return the versions of what read the files of a tree."""
    return {kind.name: version(kind.name) for kind in KINDS if kind.family in state.families}
