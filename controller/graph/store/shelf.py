"""Maps that are never changed, only replaced, and that share with each other what is the same in both.

A shelf is a map in buckets; the bucket of a key is told by its hash, and a bucket is stored under the hash of its text.
So the shelves of two neighbour trees differ in a few buckets, and what they have in common is stored, read and compared
once. The idea is that of git's own trees.
"""

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

KEY = 16
"""Bytes of a bucket's hash."""

_NONE = bytes(KEY)
_GROWTH = 4


class Lost(Exception):  # noqa: N818 - reads as what it says
    """Something that was stored is no longer there: it has to be made again."""


class Chunks:
    """Pieces of JSON by the hash of their text. Safe for threads.

    `fetch` reads texts from where they are kept. What is new is held until `kept` says that it lies there, too.
    """

    def __init__(self, fetch: Callable[[Sequence[bytes]], Mapping[bytes, str]], at_hand: int = 20_000) -> None:
        self._fetch = fetch
        self._at_hand = at_hand
        self._read: OrderedDict[bytes, Any] = OrderedDict()
        self._new: dict[bytes, str] = {}
        self._lock = threading.Lock()

    def add(self, value: Any) -> bytes:
        """Take a piece and return its key."""
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
        key = blake2b(text.encode(), digest_size=KEY).digest()
        with self._lock:
            self._new[key] = text
            self._remember(key, value)
        return key

    def get(self, key: bytes) -> Any:
        """Return a piece, which nobody may change; raises Lost."""
        with self._lock:
            if key in self._read:
                self._read.move_to_end(key)
                return self._read[key]
            text = self._new.get(key)
        if text is None:
            text = self._fetch([key]).get(key)
        return self._taken(key, text)

    def ahead(self, keys: Sequence[bytes]) -> None:
        """Read many pieces at once, which are asked for soon."""
        with self._lock:
            wanted = [key for key in keys if key not in self._read and key not in self._new]
        for key, text in self._fetch(wanted).items() if len(wanted) > 1 else ():
            self._taken(key, text)

    def unkept(self) -> dict[bytes, str]:
        """Return what lies nowhere else yet."""
        with self._lock:
            return dict(self._new)

    def kept(self, keys: Mapping[bytes, str]) -> None:
        """Note that these lie where `fetch` reads."""
        with self._lock:
            for key in keys:
                self._new.pop(key, None)

    def _taken(self, key: bytes, text: str | None) -> Any:
        if text is None:
            raise Lost
        if blake2b(text.encode("utf-8", "replace"), digest_size=KEY).digest() != key:
            raise Lost
        value = json.loads(text)
        with self._lock:
            self._remember(key, value)
        return value

    def _remember(self, key: bytes, value: Any) -> None:
        self._read[key] = value
        while len(self._read) > self._at_hand:
            self._read.popitem(last=False)


class Shelf:
    """A map from text to JSON that is never changed."""

    def __init__(self, chunks: Chunks, fill: int, count: int = 0, keys: bytes = _NONE) -> None:
        self._chunks = chunks
        self._fill = fill
        self.count = count
        self.keys = keys
        self.buckets = len(keys) // KEY

    def get(self, key: str) -> Any:
        """Return the value of a key, or None; raises Lost."""
        return self.bucket(place(key) % self.buckets).get(key)

    def near(self, number: int) -> Mapping[str, Any]:
        """Return all that lies in the bucket of keys with this hash."""
        return self.bucket(number % self.buckets)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield everything, in no order."""
        self._chunks.ahead(sorted(set(self.all_keys())))
        for bucket in range(self.buckets):
            yield from self.bucket(bucket).items()

    def replaced(self, changes: Mapping[str, Any]) -> "Shelf":
        """Return a shelf with other values for some keys; None takes a key away."""
        if not changes:
            return self
        spread: dict[int, list[str]] = {}
        for key in changes:
            spread.setdefault(place(key) % self.buckets, []).append(key)
        keys, count = bytearray(self.keys), self.count
        for bucket, names in spread.items():
            known = self.bucket(bucket)
            after = dict(known)
            for name in names:
                value = changes[name]
                if value is None:
                    after.pop(name, None)
                else:
                    after[name] = value
            count += len(after) - len(known)
            keys[bucket * KEY : bucket * KEY + KEY] = self._chunks.add(after) if after else _NONE
        return Shelf(self._chunks, self._fill, count, bytes(keys))

    def roomy(self, coming: int = 0) -> "Shelf":
        """Return the same with more buckets, where it has become crowded or soon will."""
        wanted = 1
        while wanted * self._fill < self.count + coming:
            wanted *= 2
        if wanted <= self.buckets * _GROWTH // 2:
            return self
        everything = dict(self.items())
        return Shelf(self._chunks, self._fill, 0, _NONE * wanted).replaced(everything)

    def differing(self, other: "Shelf") -> Iterator[tuple[str, Any, Any]]:
        """Yield (key, value here, value there) where two shelves differ; None where one has no such key."""
        if self.buckets == other.buckets:
            pairs = [
                (self.bucket(number), other.bucket(number))
                for number, (one, two) in enumerate(zip(self.all_keys(), other.all_keys(), strict=True))
                if one != two
            ]
        else:
            pairs = [(dict(self.items()), dict(other.items()))]
        for here, there in pairs:
            for key in sorted(here.keys() | there.keys()):
                if here.get(key) != there.get(key):
                    yield key, here.get(key), there.get(key)

    def all_keys(self) -> list[bytes]:
        """Return the keys of all buckets."""
        return [self.keys[at : at + KEY] for at in range(0, len(self.keys), KEY)]

    def bucket(self, number: int) -> Mapping[str, Any]:
        """Return one bucket; raises Lost."""
        key = self.keys[number * KEY : number * KEY + KEY]
        found: Mapping[str, Any] = {} if key == _NONE else self._chunks.get(key)
        return found


def place(key: str) -> int:
    """Return the number that tells where a key lies. Several keys may have the same."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))
