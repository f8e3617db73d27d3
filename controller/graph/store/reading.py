"""Facts of blobs: from memory, from the cache, or read now."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from controller.graph.cache import Cache
from controller.graph.facts import NOTHING, VERSION, FileFacts, unpack
from controller.graph.language import facts, version
from controller.graph.store.crew import MANY, Crew
from controller.graph.store.state import State, pack
from sandbox.helpers import HelperGone

Blobs = Callable[[Sequence[str]], Iterator[tuple[str, bytes]]]

_WHOLE = 2_000
_SURFACES = 30_000
"""Facts that stay in memory."""


class Reading:
    """Facts by kind and blob. `parsed` are the blobs that were read by this process. Safe for threads."""

    def __init__(self, cache: Cache, blobs: Blobs, crew: Crew | None = None) -> None:
        self._crew = crew
        self._cache = cache
        self._blobs = blobs
        self._whole: OrderedDict[tuple[str, str], FileFacts] = OrderedDict()
        self._surfaces: OrderedDict[tuple[str, str], FileFacts] = OrderedDict()
        self._lock = threading.Lock()
        self.parsed: set[str] = set()

    def whole(self, kind: str, blob: str) -> FileFacts:
        """Return all that a blob says."""
        found = self._whole.get((kind, blob))
        return found if found is not None else self._load(kind, [blob], whole=True).get(blob, NOTHING)

    def surface(self, kind: str, blob: str) -> FileFacts:
        """Return what other files may ask about a blob: of its references only bases of classes need be there."""
        found = self._whole.get((kind, blob)) or self._surfaces.get((kind, blob))
        return found if found is not None else self._load(kind, [blob], whole=False).get(blob, NOTHING)

    def ahead(self, wanted: Iterable[tuple[str, str]], *, whole: bool, anew: bool = False) -> int:
        """Have many facts ready, by (kind, blob), and return how many blobs were read; `anew`: all of them."""
        by_kind: dict[str, set[str]] = {}
        for kind, blob in wanted:
            if anew or ((kind, blob) not in self._whole and (whole or (kind, blob) not in self._surfaces)):
                by_kind.setdefault(kind, set()).add(blob)
        before = len(self.parsed)
        for kind, blobs in sorted(by_kind.items()):
            if anew:
                self.parsed -= blobs
                before = len(self.parsed)
                self._read(kind, sorted(blobs))
            else:
                self._load(kind, sorted(blobs), whole=whole)
        return len(self.parsed) - before

    def linked(self, state: State, paths: Sequence[str]) -> list[dict[str, Any]] | None:
        """Let others link files; None where they cannot."""
        pieces = state.chunks.unkept()
        if self._crew is None or not self._cache.put_chunks(pieces):
            return None
        try:
            return list(self._crew.linked(pack(state, {}), paths))
        except HelperGone:
            return None

    def rest(self) -> None:
        """Let the others go: the large work is done."""
        if self._crew is not None:
            self._crew.close()

    def _load(self, kind: str, blobs: Sequence[str], *, whole: bool) -> Mapping[str, FileFacts]:
        found = self._cache.facts(blobs, _named(kind), whole=whole)
        missing = [blob for blob in blobs if blob not in found]
        with self._lock:
            kept, limit = (self._whole, _WHOLE) if whole else (self._surfaces, _SURFACES)
            kept.update(((kind, blob), each) for blob, each in found.items())
            _bound(kept, max(limit, len(blobs)))
        return {**found, **self._read(kind, missing)} if missing else found

    def _read(self, kind: str, blobs: Sequence[str]) -> Mapping[str, FileFacts]:
        """Read many blobs with others, a few alone."""
        if self._crew is None or len(blobs) < MANY:
            return self._parse(kind, blobs)
        try:
            rows = list(self._crew.parsed(kind, blobs))
        except HelperGone:
            return self._parse(kind, blobs)
        self._cache.put_packed(rows, _named(kind))
        fresh = {blob: unpack(surface) for blob, surface, _ in rows}
        with self._lock:
            self.parsed.update(fresh)
            self._surfaces.update(((kind, blob), each) for blob, each in fresh.items())
            _bound(self._surfaces, max(_SURFACES, len(blobs)))
        return fresh

    def _parse(self, kind: str, blobs: Sequence[str]) -> Mapping[str, FileFacts]:
        fresh = {blob: facts(kind, data) for blob, data in self._blobs(blobs)}
        self._cache.put_facts(fresh, _named(kind))
        with self._lock:
            self.parsed.update(fresh)
            self._whole.update(((kind, blob), each) for blob, each in fresh.items())
            _bound(self._whole, max(_WHOLE, len(blobs)))
        return fresh


def _bound(kept: OrderedDict[tuple[str, str], FileFacts], limit: int) -> None:
    while len(kept) > limit:
        kept.popitem(last=False)


@cache
def _named(kind: str) -> str:
    return f"{VERSION}-{version(kind)}"
