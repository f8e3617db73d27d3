"""Aliases of modules by tsconfig.json and jsconfig.json: `paths` and `baseUrl`, through `extends`."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from controller.graph.languages.script.files import SourceFiles, folder_of, joined
from controller.graph.languages.script.packages import Packages

_LONGEST = 20
"""Configurations that extend each other."""


class Aliases(NamedTuple):
    """What a configuration says: patterns with the paths that they mean, from the root; the base of bare modules."""

    paths: tuple[tuple[str, tuple[str, ...]], ...]
    base: str | None


class Configs:
    """The configurations of one tree. `settings` are those of tsconfig and jsconfig files, by path."""

    def __init__(self, files: SourceFiles, packages: Packages, settings: Mapping[str, Mapping[str, str]]) -> None:
        self.files = files
        self.packages = packages
        self._said = settings
        self._folders: dict[str, list[str]] = {}
        for path in sorted(settings, key=_order):
            self._folders.setdefault(folder_of(path), []).append(path)
        self._aliases: dict[str, Aliases] = {}
        self._around: dict[str, tuple[Aliases, ...]] = {}

    def find(self, module: str, importer: str) -> str | None:
        """Return the file that a module means by the configurations around a file, the nearest first."""
        for aliases in self._of(folder_of(importer)):
            for path in _meant(aliases, module):
                if found := self.files.file(path) or self.files.index(path) or self.packages.entry(path):
                    return found
        return None

    def _of(self, folder: str) -> tuple[Aliases, ...]:
        if folder not in self._around:
            own = tuple(self._read(path, folder, ()) for path in self._folders.get(folder, ()))
            outer = self._of_outer(folder)
            self._around[folder] = (*(each for each in own if each.paths or each.base is not None), *outer)
        return self._around[folder]

    def _of_outer(self, folder: str) -> tuple[Aliases, ...]:
        at = folder
        while at:
            at = folder_of(at)
            if at in self._around or at in self._folders or not at:
                break
        return self._of(at) if folder and at != folder else ()

    def _read(self, path: str, leaf: str, seen: tuple[str, ...]) -> Aliases:
        """Return what one file says, with what it extends beneath."""
        if path in seen or len(seen) > _LONGEST:
            return Aliases((), None)
        if path in self._aliases and folder_of(path) == leaf:
            return self._aliases[path]
        said, folder = self._said[path], folder_of(path)
        inherited = Aliases((), None)
        for each in json.loads(said.get("extends", "[]")):
            parent = self._extended(each, path) if isinstance(each, str) else None
            if parent:
                below = self._read(parent, leaf, (*seen, path))
                inherited = Aliases(
                    below.paths or inherited.paths, inherited.base if below.base is None else below.base
                )
        base = joined(folder, said["baseUrl"].replace("${configDir}", ".")) if "baseUrl" in said else None
        paths = json.loads(said.get("paths", "{}"))
        start = inherited.base if base is None else base
        own = tuple(_patterns(paths, folder if start is None else start, leaf)) if isinstance(paths, dict) else ()
        found = Aliases(own or inherited.paths, start)
        if folder == leaf:
            self._aliases[path] = found
        return found

    def _extended(self, written: str, path: str) -> str | None:
        """Return the configuration that another one extends."""
        if written.startswith("."):
            at = joined(folder_of(path), written)
            found = next((each for each in (at, f"{at}.json", f"{at}/tsconfig.json") if each in self._said), None)
        else:
            found = self.packages.named(written, path) or self.packages.named(f"{written}/tsconfig.json", path)
        return found if found in self._said else None


def _order(path: str) -> tuple[int, str]:
    name = path.rpartition("/")[2]
    return (0 if name == "tsconfig.json" else 1 if name == "jsconfig.json" else 2, path)


def _patterns(paths: Mapping[str, object], start: str, leaf: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield patterns with the paths that they mean, the most exact first."""
    for pattern in sorted(paths, key=lambda each: (-len(each.partition("*")[0]), each)):
        targets = paths[pattern]
        if isinstance(targets, list):
            meant = [
                joined(leaf, each.replace("${configDir}/", "")) if "${configDir}" in each else joined(start, each)
                for each in targets
                if isinstance(each, str)
            ]
            yield pattern, tuple(each for each in meant if each is not None)


def _meant(aliases: Aliases, module: str) -> Iterator[str]:
    for pattern, targets in aliases.paths:
        before, star, after = pattern.partition("*")
        if module == pattern or (
            star and module.startswith(before) and module.endswith(after) and len(module) >= len(before) + len(after)
        ):
            inside = module[len(before) : len(module) - len(after)] if star else ""
            for target in targets:
                yield target.replace("*", inside, 1)
            break
    if aliases.base is not None and (found := joined(aliases.base, module)):
        yield found
