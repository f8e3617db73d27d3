"""Packages of a tree by package.json: workspaces, entries, `exports` and `imports`."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from controller.graph.languages.script.files import SourceFiles, folder_of, joined

_CONDITIONS = ("source", "src", "development", "import", "module", "require", "node", "browser", "default", "types")
"""Conditions of `exports` in the order in which their files say most of the code."""

_DEEPEST = 12
_STARS = 8
_ENTRIES = ("src/index", "index", "src/main", "lib/index", "main", "src")


class Packages:
    """The packages of one tree. `settings` are those of package.json and pnpm-workspace.yaml files, by path."""

    def __init__(self, files: SourceFiles, settings: Mapping[str, Mapping[str, str]]) -> None:
        self.files = files
        self._said = {folder_of(path): said for path, said in settings.items() if path.endswith("package.json")}
        self._pnpm = {folder_of(path): said for path, said in settings.items() if path.endswith("pnpm-workspace.yaml")}
        self._nearest: dict[str, str | None] = {}

    def nearest(self, folder: str) -> str | None:
        """Return the folder of the package in which a folder lies; None where there is none."""
        if folder not in self._nearest:
            at: str | None = folder
            while at is not None and at not in self._said:
                at = folder_of(at) if at else None
            self._nearest[folder] = at
        return self._nearest[folder]

    @cached_property
    def workspaces(self) -> Mapping[str, str]:
        """The folders of the packages that workspaces hold, by name; of two of one name the outer one."""
        found: dict[str, str] = {}
        for folder in sorted(self._said, key=lambda each: (each.count("/"), each)):
            name = self._said[folder].get("name", "")
            if name and any(pattern.fullmatch(folder) for pattern in self._patterns):
                found.setdefault(name, folder)
        return found

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        patterns = []
        for group in (self._said, self._pnpm):
            for folder, said in group.items():
                globs = _loaded(said.get("workspaces"))
                if isinstance(globs, list) and globs:
                    patterns.append(re.compile(re.escape(folder)))
                    patterns += [_glob(folder, each) for each in globs if isinstance(each, str) and each[:1] != "!"]
        return patterns

    def named(self, module: str, importer: str) -> str | None:
        """Return the file of a package of this tree that a bare module means in a file."""
        name, _, rest = module.partition("/")
        if name.startswith("@"):
            scope, _, rest = rest.partition("/")
            name = f"{name}/{scope}"
        folder = self._folder(name, folder_of(importer))
        return None if folder is None else self.entry(folder, rest)

    def _folder(self, name: str, importer: str) -> str | None:
        """Find a package by name: one of the folders around, one that a dependency points to, one of a workspace."""
        at = self.nearest(importer)
        while at is not None:
            said = self._said[at]
            if said.get("name") == name:
                return at
            local = _loaded(said.get("local"))
            if isinstance(local, dict) and isinstance(local.get(name), str):
                return joined(at, local[name])
            at = self.nearest(folder_of(at)) if at else None
        return self.workspaces.get(name)

    def entry(self, folder: str, subpath: str = "") -> str | None:
        """Return the file that a package means, or a path below it."""
        said = self._said.get(folder, {})
        for target in _targets(_loaded(said.get("exports")), f"./{subpath}" if subpath else "."):
            if found := self.files.source(folder, target):
                return found
        if subpath:
            return self.files.source(folder, subpath) or self.files.source(folder, f"src/{subpath}")
        for key in ("source", "module", "main", "types", "typings"):
            if key in said and (found := self.files.source(folder, said[key])):
                return found
        guesses = (self.files.file(joined(folder, each)) for each in (*_ENTRIES, f"src/{said.get('name', '')}"))
        return next((found for found in guesses if found), None)

    def imported(self, module: str, importer: str) -> str | None:
        """Return what `#x` means by the `imports` of the package around: a file, or a module to look for."""
        folder = self.nearest(folder_of(importer))
        if folder is None:
            return None
        for target in _targets(_loaded(self._said[folder].get("imports")), module):
            if not target.startswith("."):
                return self.named(target, importer)
            if found := self.files.source(folder, target):
                return found
        return None


def _loaded(text: str | None) -> Any:
    return json.loads(text) if text else None


def _glob(folder: str, pattern: str) -> re.Pattern[str]:
    """Read a glob of workspaces as a pattern of folders; nobody writes one of many stars but to slow us down."""
    path = joined(folder, pattern) or ""
    if path.count("*") > _STARS:
        return re.compile(r"(?!)")
    parts = [".+" if part == "**" else "[^/]*".join(map(re.escape, part.split("*"))) for part in path.split("/")]
    return re.compile("/".join(parts).replace(".+/", "(?:.+/)?"))


def _targets(tree: Any, wanted: str) -> Iterator[str]:
    """Yield the paths that `exports` or `imports` give for a subpath, the most telling first."""
    if not isinstance(tree, dict) or not any(str(key)[:1] in ".#" for key in tree):
        if wanted == ".":
            yield from _chosen(tree, "", 0)
        return
    if wanted in tree:
        yield from _chosen(tree[wanted], "", 0)
        return
    for key in sorted(tree, key=len, reverse=True):
        before, star, after = str(key).partition("*")
        if not star and key.endswith("/"):
            before, after, star = key, "", "*"
        if star and wanted.startswith(before) and wanted.endswith(after) and len(wanted) >= len(before) + len(after):
            yield from _chosen(tree[key], wanted[len(before) : len(wanted) - len(after)], 0)
            return


def _chosen(tree: Any, star: str, depth: int) -> Iterator[str]:
    """Yield the paths of conditions and fallbacks."""
    if isinstance(tree, str):
        yield tree.replace("*", star) if "*" in tree else tree + star if tree.endswith("/") else tree
    elif depth > _DEEPEST:
        return
    elif isinstance(tree, list):
        for each in tree:
            yield from _chosen(each, star, depth + 1)
    elif isinstance(tree, dict):
        for key in sorted(tree, key=lambda each: _CONDITIONS.index(each) if each in _CONDITIONS else 0):
            yield from _chosen(tree[key], star, depth + 1)
