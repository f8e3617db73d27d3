"""How Go files find each other: a package is a folder, its files share their names."""

from collections import Counter

from controller.graph.language import Files
from controller.graph.languages.go.modules import GoModules

_TEST = "_test.go"
_HOSTED = frozenset(
    {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "golang.org", "gopkg.in"}
)
"""Hosts whose modules are mostly named by so many parts of their path: host, owner, name."""


def ecosystem(files: Files) -> "Go":
    """Return the ecosystem of one tree."""
    return Go(files)


class Go:
    """An `Ecosystem`. The place of a package is its folder and `/`; that of the root is `./`.

    A folder holds one package, beside it that of its outside tests. A test file sees the package, not the reverse.
    """

    def __init__(self, files: Files) -> None:
        self.modules = GoModules(files)
        self._named: dict[str, str] = {}
        self._beside: dict[str, tuple[str, ...]] = {}

    def place(self, module: str, importer: str) -> str | None:
        """Return the package that an import path means."""
        folder = self.modules.find(module, importer)
        return None if folder is None else _place(folder)

    def submodule(self, place: str, name: str) -> str | None:
        """Return the package in a folder of a package, which only a plan says so: Go has no such names."""
        folder = f"{_folder(place)}/{name}".lstrip("/") if place.endswith("/") else ""
        return _place(folder) if folder in self.modules.packages and folder else None

    def members(self, place: str) -> tuple[str, ...]:
        """Return the files of a package without its tests."""
        folder = _folder(place)
        name = self._name(folder)
        files = self.modules.packages.get(folder, {})
        return tuple(path for path, package in files.items() if package == name and not path.endswith(_TEST))

    def _name(self, folder: str) -> str:
        """Return the package of a folder: what most of its files say; `main` and `documentation` are often asides."""
        if folder not in self._named:
            files = self.modules.packages.get(folder, {})
            said = Counter(package for path, package in files.items() if not path.endswith(_TEST))
            last = folder.rpartition("/")[2]
            self._named[folder] = max(said, key=lambda each: (said[each], each == last, each != "main"), default="")
        return self._named[folder]

    def beside(self, path: str) -> tuple[str, ...]:
        """Return the other files of the package; tests come last and are seen by tests only."""
        if path not in self._beside:
            files = self.modules.packages.get(path.rpartition("/")[0], {})
            same = [each for each in files if files[each] == files.get(path) and each != path]
            sources = [each for each in same if not each.endswith(_TEST)]
            tests = [each for each in same if each.endswith(_TEST)] if path.endswith(_TEST) else []
            self._beside[path] = (*sources, *tests)
        return self._beside[path]

    def package(self, module: str, importer: str) -> str:
        """Return the third-party module of an import path; the standard library has no dot in its first part."""
        first = module.partition("/")[0]
        if "." not in first or module.startswith("."):
            return ""
        known = self.modules.required(module, importer)
        return known or "/".join(module.split("/")[: 3 if first in _HOSTED else 2])

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return the packages whose folder ends so, or else whose package clause says so."""
        ending = "/" + dotted.replace(".", "/")
        folders = [folder for folder in self.modules.packages if f"/{folder}".endswith(ending)]
        if not folders and "." not in dotted:
            folders = [folder for folder in self.modules.packages if self._name(folder) == dotted and dotted != "main"]
        return tuple(_place(folder) for folder in sorted(folders))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files of the package that the beginning of the name means, and one that may come to it."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            if places := self.anywhere(".".join(parts[:length])):
                return tuple(
                    path for place in places for path in (*self.members(place), *self._new(place, parts[length:]))
                )
        return ()

    @staticmethod
    def _new(place: str, names: list[str]) -> tuple[str, ...]:
        folder = _folder(place)
        return tuple(f"{folder}/{name.lower()}.go".lstrip("/") for name in names[:1])

    def folder(self, place: str) -> str | None:
        """Return the folder of a package."""
        return _folder(place) if place.endswith("/") else None


def _place(folder: str) -> str:
    return f"{folder or '.'}/"


def _folder(place: str) -> str:
    return place.rstrip("/") if place != "./" else ""
