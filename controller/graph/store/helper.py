"""A helper process: reads blobs, or links files, as it is told line by line. Started by `crew.Crew`.

usage: python -P -m controller.graph.store.helper GIT_COMMON_DIR CACHE
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.graph.cache import Cache
from controller.graph.facts import pack
from controller.graph.language import facts
from controller.graph.store.reading import Reading
from controller.graph.store.shelf import Chunks
from controller.graph.store.state import unpack
from controller.graph.store.stored import StoredWorld
from controller.graph.store.traced import linked_here
from sandbox.git import Git


class Helper:
    """Answers questions; the world of the last one is kept for the next."""

    def __init__(self, common: Path, cache: Path) -> None:
        self._git = Git(common, common)
        self._cache = Cache(cache)
        self._chunks = Chunks(self._cache.chunks)
        self._reading = Reading(self._cache, self._git.blobs)
        self._told = ""
        self._world: StoredWorld | None = None

    def answer(self, question: Mapping[str, Any]) -> Any:
        """Answer one question: `kind` and `blobs`, or `state` and `paths`."""
        if "blobs" in question:
            kind = question["kind"]
            return [(blob, *pack(facts(kind, data))) for blob, data in self._git.blobs(question["blobs"])]
        if self._world is None or self._told != question["state"]:
            self._told = question["state"]
            self._world = StoredWorld(unpack(bytes.fromhex(self._told), self._chunks)[0], self._reading)
        return linked_here(self._world, question["paths"])


def main() -> None:
    """Serve until the input ends."""
    helper = Helper(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(helper.answer(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
