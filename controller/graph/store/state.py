"""What is known of one tree: its files, their links, and who asked what, each on a shelf."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from controller.graph.store.shelf import KEY, Chunks, Lost, Shelf, place

FILL = {"files": 12, "asked": 8, "answers": 12, "users": 8, "names": 24, "modules": 96, "settings": 24}
"""Keys in a bucket of each shelf.

`files`: path → [blob, or nothing for what is not read; key of its link]. `asked`: home → {question: [who asked]}, see
`controller.graph.world`. `answers`: home → {question of an ecosystem: answer}. `users`: path or `ext:module` → {name in
it: [who has an edge to it]}. `names`: last part of a name → {`s`: {full name: [who says it]}, `d`: [who defines such],
`m`: [who defines such a method], `g`: [who calls such a bare name]}. `modules`: family and module → how many files
import it. `settings`: path → settings. Who is the number of a path (`shelf.place`); two paths may share one.
"""

_DIGEST = 16


@dataclass(frozen=True)
class Family:
    """Files of one family, and whether its ecosystem looked at what they import."""

    count: int = 0
    heeds_imported: bool = False


@dataclass(frozen=True)
class State:
    """One tree. Never changed."""

    chunks: Chunks
    shelves: Mapping[str, Shelf]
    families: Mapping[str, Family] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Shelf:
        try:
            return self.shelves[name]
        except KeyError:
            raise AttributeError(name) from None

    def paths(self, number: int) -> list[str]:
        """Return the paths of a number."""
        return [path for path in self.shelves["files"].near(number) if place(path) == number]

    def all_paths(self, numbers: Iterable[int]) -> Iterator[str]:
        """Yield the paths of many numbers."""
        for number in numbers:
            yield from self.paths(number)

    def link(self, path: str) -> Mapping[str, Any]:
        """Return the link of a file as it is stored: e(dges), g(uesses), h(oles), t(race)."""
        entry = self.shelves["files"].get(path)
        found: Mapping[str, Any] = self.chunks.get(bytes.fromhex(entry[1])) if entry and entry[1] else {}
        return found


def empty(chunks: Chunks) -> State:
    """Return the state of the tree without files."""
    return State(chunks, {name: Shelf(chunks, fill) for name, fill in FILL.items()})


def pack(state: State, versions: Mapping[str, str]) -> bytes:
    """Write a state; its pieces are kept apart."""
    head = {
        "shelves": [[name, shelf.count, len(shelf.keys)] for name, shelf in state.shelves.items()],
        "families": {name: [each.count, each.heeds_imported] for name, each in state.families.items()},
        "versions": dict(versions),
    }
    text = json.dumps(head).encode()
    body = len(text).to_bytes(4, "big") + text + b"".join(shelf.keys for shelf in state.shelves.values())
    return blake2b(body, digest_size=_DIGEST).digest() + body


def unpack(data: bytes, chunks: Chunks) -> tuple[State, Mapping[str, str]]:
    """Read what `pack` wrote, and the versions it depends on; raises Lost for anything else."""
    body = data[_DIGEST:]
    if blake2b(body, digest_size=_DIGEST).digest() != data[:_DIGEST]:
        raise Lost
    at = 4 + int.from_bytes(body[:4], "big")
    head = json.loads(body[4:at])
    shelves = {}
    for name, count, length in head["shelves"]:
        shelves[name] = Shelf(chunks, FILL[name], count, body[at : at + length])
        at += length
    families = {name: Family(*values) for name, values in head["families"].items()}
    return State(chunks, shelves, families), head["versions"]


def reach(data: bytes, chunks: Chunks) -> set[bytes]:
    """Return the keys of all pieces of a stored state, as far as they are there."""
    found: set[bytes] = set()
    with contextlib.suppress(Lost):
        state, _ = unpack(data, chunks)
        for shelf in state.shelves.values():
            found.update(shelf.keys[at : at + KEY] for at in range(0, len(shelf.keys), KEY))
        found.update(bytes.fromhex(entry[1]) for _, entry in state.files.items() if entry[1])
    return found
