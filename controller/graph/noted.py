"""Files as a link sees them: what it looks at is noted in the world, also by who knows nothing of that."""

from collections.abc import Iterator, Mapping
from typing import Any

from controller.graph.facts import Definition
from controller.graph.world import World


class Noted(Mapping[str, Any]):
    """The files of a tree as a link sees them: what it looks at is noted, also by who knows nothing of that."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __contains__(self, path: object) -> bool:
        return self._world.exists(str(path))

    def __getitem__(self, path: str) -> "NotedFile":
        if not self._world.exists(path):
            raise KeyError(path)
        return NotedFile(self._world, path)

    def __iter__(self) -> Iterator[str]:
        raise TypeError("a link asks for names, not for all files: see controller/graph/world.py")

    def __len__(self) -> int:
        return len(self._world.facts)


class NotedFile:
    """The facts of one file, whose parts are noted when they are looked at."""

    def __init__(self, world: World, path: str) -> None:
        self._world, self._path = world, path

    def __getattr__(self, name: str) -> Any:
        return self._world.part(self._path, name)


class Definitions(Mapping[str, Definition]):
    """The definitions of one file as a link sees them."""

    def __init__(self, world: World, path: str) -> None:
        self._world, self._path = world, path

    def __contains__(self, qual: object) -> bool:
        return self._world.definition(self._path, str(qual)) is not None

    def __getitem__(self, qual: str) -> Definition:
        found = self._world.definition(self._path, qual)
        if found is None:
            raise KeyError(qual)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({each.qual: each for each in self._world.part(self._path, "definitions")})

    def __len__(self) -> int:
        return len(self._world.part(self._path, "definitions"))
