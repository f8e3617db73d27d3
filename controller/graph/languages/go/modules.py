"""Where an import path leads: the modules of one tree, their replacements, workspaces and vendored packages."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from posixpath import normpath

from controller.graph.language import Files
from controller.graph.languages.go.modfile import SEPARATOR

_PACKAGE = "package"


class GoModules:
    """Folders with Go files, and the import paths under which they are known.

    A folder is written without a trailing slash; the root of the tree is empty.
    """

    def __init__(self, files: Files) -> None:
        self.settings = files.settings
        self.packages: dict[str, dict[str, str]] = {}
        """Folder to path to the name in the package clause, paths in order."""
        for path in sorted(files.settings):
            if _PACKAGE in files.settings[path]:
                self.packages.setdefault(_up(path), {})[path] = files.settings[path][_PACKAGE]
        self.modules = {_up(path): said["module"] for path, said in self._of("go.mod") if said.get("module")}
        self._imported = files.imported
        self._homes: dict[str, str | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}

    def _of(self, name: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        for path, said in sorted(self.settings.items()):
            if path == name or path.endswith(f"/{name}"):
                yield path, said

    def home(self, folder: str) -> str | None:
        """Return the folder of the module that a folder belongs to; None where no go.mod is above it."""
        if folder not in self._homes:
            if folder in self.modules:
                self._homes[folder] = folder
            else:
                self._homes[folder] = self.home(_up(folder)) if folder else None
        return self._homes[folder]

    def find(self, module: str, importer: str) -> str | None:
        """Return the folder of an imported package; None for what the tree does not hold."""
        folder = _up(importer)
        if module.startswith("."):
            near = normpath(_join(folder, module))
            near = "" if near == "." else near
            return near if near in self.packages else None
        home = self.home(folder) or ""
        key = (home, module)
        if key not in self._found:
            self._found[key] = self._find(home, module)
        return self._found[key]

    def _find(self, home: str, module: str) -> str | None:
        roots = sorted(self._roots(home).items(), key=lambda root: -len(root[0]))
        for prefix, root in roots:
            if module == prefix or module.startswith(f"{prefix}/"):
                folder = _join(root, module[len(prefix) + 1 :])
                if folder in self.packages and self.home(folder) in (root, None):
                    return folder
        return self._vendored(home, module)

    def _vendored(self, home: str, module: str) -> str | None:
        while True:
            folder = _join(home, f"vendor/{module}")
            if folder in self.packages:
                return folder
            if not home:
                return None
            home = _up(home)

    def _roots(self, home: str) -> dict[str, str]:
        """Return import paths of modules with their folders; what replaces goes before what the tree holds."""
        found = {path: folder for folder, path in sorted(self.modules.items(), reverse=True)}
        found |= self._guessed
        for folder in (self._workspace(home), home):
            if folder is not None:
                found |= self._replaced.get(folder, {})
        if home in self.modules:
            found[self.modules[home]] = home
        return found

    @cached_property
    def _replaced(self) -> dict[str, dict[str, str]]:
        """Return what the go.mod or go.work of each folder replaces by a folder of the tree."""
        found: dict[str, dict[str, str]] = {}
        for name in ("go.mod", "go.work"):
            for path, said in self._of(name):
                for entry in said.get("replace", "").split(SEPARATOR):
                    old, _, new = entry.partition(" => ")
                    root = normpath(_join(_up(path), new))
                    if new.startswith(".") and not root.startswith(".."):
                        found.setdefault(_up(path), {})[old] = "" if root == "." else root
        return found

    def _workspace(self, home: str) -> str | None:
        """Return the folder of the nearest go.work above a module."""
        folder = home
        while True:
            if _join(folder, "go.work") in self.settings:
                return folder
            if not folder:
                return None
            folder = _up(folder)

    @cached_property
    def _guessed(self) -> dict[str, str]:
        """Return the import path of a tree without any go.mod: what most imports put before a folder of it."""
        if self.modules:
            return {}
        votes: dict[str, int] = {}
        for module in self._imported:
            prefix, slash, rest = module, "/", ""
            while slash:
                prefix, slash, last = prefix.rpartition("/")
                rest = f"{last}/{rest}" if rest else last
                if prefix and rest in self.packages:
                    votes[prefix] = votes.get(prefix, 0) + 1
        best = min(votes, key=lambda prefix: (-votes[prefix], prefix), default="")
        return {best: ""} if best else {}

    def required(self, module: str, importer: str) -> str:
        """Return the module that an import path belongs to by what the importer's go.mod requires; else nothing."""
        home = self.home(_up(importer))
        said = self.settings.get(_join(home, "go.mod"), {}) if home is not None else {}
        fitting = (each for each in said.get("require", "").split(SEPARATOR) if f"{module}/".startswith(f"{each}/"))
        return max(fitting, key=len, default="")


def _up(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, rest: str) -> str:
    return "/".join(part for part in (folder, rest) if part)
