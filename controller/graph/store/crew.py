"""Large work on a graph shared among processes. What they can't do, or nobody can start, is done here as ever."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sandbox.helpers import HelperGone, Helpers

MANY = 250
"""Files from which on it pays to start processes."""

_PART = 40
"""Files of one question."""

_MOST = 8
"""Processes at most."""


class Crew:
    """Helpers that read blobs of one repository and link files of trees in one cache. Closed, it starts anew."""

    def __init__(self, common: Path, cache: Path) -> None:
        self._argv = [sys.executable, "-P", "-m", "controller.graph.store.helper", str(common), str(cache)]
        self._helpers: Helpers | None = None

    def parsed(self, kind: str, blobs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the facts of blobs as `facts.pack` writes them: (blob, surface, rest); raises HelperGone."""
        for answer in self._answers([{"kind": kind, "blobs": part} for part in _parts(blobs)]):
            yield from ((blob, surface, rest) for blob, surface, rest in answer)

    def linked(self, state: bytes, paths: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield links with answers of ecosystems, of files of a state whose pieces are kept; raises HelperGone."""
        yield from self._answers([{"state": state.hex(), "paths": part} for part in _parts(paths)])

    def close(self) -> None:
        """End the helpers."""
        if self._helpers:
            self._helpers.close()
            self._helpers = None

    def _answers(self, questions: Sequence[dict[str, Any]]) -> Iterator[Any]:
        if self._helpers is None:
            count = min(_MOST, os.cpu_count() or 1)
            if count == 1:
                raise HelperGone("there is one processor only")
            self._helpers = Helpers(self._argv, count)
        try:
            for answer in self._helpers.answers([json.dumps(each).encode() for each in questions]):
                yield json.loads(answer)
        except BaseException:
            self.close()
            raise


def _parts(items: Sequence[str]) -> Iterator[list[str]]:
    return (list(items[start : start + _PART]) for start in range(0, len(items), _PART))
