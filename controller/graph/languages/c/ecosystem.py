"""How C and C++ files find each other: `#include` beside the file, from folders above it, by the end of a path."""

from posixpath import normpath

from controller.graph.language import Files, includes
from controller.graph.languages.c.standard import standard

_INCLUDE = ("include", "includes", "inc", "src", "source", "lib")
"""Folders that builds like to search."""


def ecosystem(files: Files) -> "Includes":
    """Return the ecosystem of one tree."""
    return Includes(files)


class Includes:
    """An `Ecosystem`. A module is what stands in an include: `x.h` for `"x.h"`, and `<x.h>` as it is."""

    def __init__(self, files: Files) -> None:
        self.paths = files.paths
        self._by_name: dict[str, list[str]] = {}
        for path in files.paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        self._places: dict[tuple[str, str], str | None] = {}

    def place(self, module: str, importer: str) -> str | None:
        """Return the file that an include means."""
        folder = importer.rpartition("/")[0]
        key = (module, folder)
        if key not in self._places:
            self._places[key] = self._find(module, folder)
        return self._places[key]

    def _find(self, module: str, folder: str) -> str | None:
        name = module.strip("<>").replace("\\", "/")
        if not name or name.startswith("/"):
            return None
        if not module.startswith("<"):
            beside = normpath(f"{folder}/{name}" if folder else name)
            if beside in self.paths:
                return beside
        elif name in standard():
            return None
        ending = normpath(name)
        while ending.startswith("../"):
            ending = ending[3:]
        return self._ending(ending, folder)

    def _ending(self, ending: str, folder: str) -> str | None:
        """Return the file with such an end that lies in the nearest folder to search; None where two are as near."""
        candidates = [
            path for path in self._by_name.get(ending.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{ending}")
        ]
        if len(candidates) < 2:  # noqa: PLR2004 - two to choose from
            return candidates[0] if candidates else None
        ranked = sorted((_distance(path[: -len(ending)].rstrip("/"), folder), path) for path in candidates)
        return ranked[0][1] if ranked[0][0] < ranked[1][0] else None

    def submodule(self, place: str, name: str) -> str | None:
        """Return nothing: a header has no modules inside."""
        del place, name
        return None

    def members(self, place: str) -> tuple[str, ...]:
        """Return nothing: a place is a file."""
        del place
        return ()

    def beside(self, path: str) -> tuple[str, ...]:
        """Return nothing: a file sees what it includes."""
        del path
        return ()

    def package(self, module: str, importer: str) -> str:
        """Return the first folder of the header, or its stem; nothing for the standard library and the system."""
        del importer
        name = module.strip("<>").replace("\\", "/")
        top, slash, _ = name.partition("/")
        if name in standard() or (slash and f"{top}/" in standard()):
            return ""
        return top if slash else top.rpartition(".")[0] or top

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return the headers and sources of that name: `socket.h` is short for `net/socket.h`."""
        return tuple(sorted(path for path in self._by_name.get(dotted, ()) if includes(path)))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return nothing: the name of a C symbol does not tell its file."""
        del dotted
        return ()

    def folder(self, place: str) -> str | None:
        """Return nothing: a place is a file."""
        del place
        return None


def _distance(root: str, folder: str) -> tuple[int, int, int]:
    """Say how far a folder to search is from an including one: up to where they part, then down."""
    theirs = root.split("/") if root else []
    ours = folder.split("/") if folder else []
    shared = 0
    for left, right in zip(theirs, ours, strict=False):
        if left != right:
            break
        shared += 1
    down = theirs[shared:]
    called = sum(part not in _INCLUDE for part in down)
    return len(ours) - shared, called, len(down)
