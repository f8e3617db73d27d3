"""Where a dotted Python name lies in a tree: packages, namespace packages, `src` layouts, many projects in one repo."""

import sys
from collections.abc import Iterable
from functools import cached_property

_PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_INIT = ("__init__.py", "__init__.pyi")
_SUFFIXES = (".py", ".pyi", ".pyw")


class ModuleIndex:
    """Files of one tree by the names they can be imported under.

    A place is the path of a file, or a folder with a trailing `/` for a namespace package. `imported` holds the dotted
    modules that the repository's own imports name: it tells a namespace package from a folder of scripts.
    """

    def __init__(self, paths: Iterable[str], imported: Iterable[str] = ()) -> None:
        everything = list(paths)
        self.files = {path for path in everything if is_source(path)}
        self.folders = {""}
        for path in self.files:
            folder = path
            while folder:
                folder = _up(folder)
                self.folders.add(folder)
        self._projects = {_up(path) for path in everything if is_project(path)}
        self._imported = {".".join(name.split(".")[:n]) for name in imported for n in range(1, name.count(".") + 2)}
        self._found: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._roots_of: dict[str, tuple[str, ...]] = {}

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Folders from which absolute imports start, whoever imports: the repo, `src`, projects, homes of packages."""
        found = {"", "src"} | self._projects | {_join(project, "src") for project in self._projects}
        for path in self.files:
            if path.endswith(_INIT):
                top = _up(path)
                while top and self._is_package(_up(top)):
                    top = _up(top)
                found.add(_up(top))
        return tuple(sorted(found & self.folders, key=lambda root: (root.count("/") + bool(root), root)))

    def locate(self, folder: str, name: str) -> str | None:
        """Return the place of a module or package in a folder."""
        inside = _join(folder, name)
        for candidate in (*(f"{inside}/{init}" for init in _INIT), *(f"{inside}{suffix}" for suffix in _SUFFIXES)):
            if candidate in self.files:
                return candidate
        return f"{inside}/" if inside in self.folders else None

    def submodule(self, place: str, name: str) -> str | None:
        """Return the place of `name` inside a package; None where the place is no package."""
        folder = package_folder(place)
        return None if folder is None else self.locate(folder, name)

    def find(self, dotted: str, importer: str) -> str | None:
        """Return the place that an absolute import of `dotted` means in the file `importer`."""
        roots = self._roots_for(importer)
        if dotted.partition(".")[0] in sys.stdlib_module_names:
            return self._stdlib_name(dotted.split("."), roots, importer)
        key = (dotted, roots)
        if key not in self._found:
            self._found[key] = self._search(dotted.split("."), roots)
        found = self._found[key]
        return None if found == importer and "." not in dotted else found

    def relative(self, module: str, importer: str) -> str | None:
        """Return the place of `..x.y` as seen from a file; dots alone mean the package folder itself."""
        name = module.lstrip(".")
        folder = _up(importer)
        for _ in range(len(module) - len(name) - 1):
            if not folder:
                return None
            folder = _up(folder)
        place: str | None = self._package(folder)
        for part in name.split(".") if name else ():
            place = self.submodule(place, part) if place else None
        return place

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return every place that some root gives the dotted name, for names that a plan writes."""
        return tuple(dict.fromkeys(place for root in self.roots if (place := self._walk(root, dotted.split(".")))))

    def _package(self, folder: str) -> str:
        for init in _INIT:
            if _join(folder, init) in self.files:
                return _join(folder, init)
        return f"{folder}/"

    def _is_package(self, folder: str) -> bool:
        return any(_join(folder, init) in self.files for init in _INIT)

    def _roots_for(self, importer: str) -> tuple[str, ...]:
        folder = _up(importer)
        if folder not in self._roots_of:
            above = [root for root in self.roots if not root or folder == root or folder.startswith(f"{root}/")]
            above += [root for root in self.roots if root == "src"]
            own = [folder] if self._is_script_folder(folder) else []
            self._roots_of[folder] = tuple(dict.fromkeys([*own, *reversed(above)]))
        return self._roots_of[folder]

    def _is_script_folder(self, folder: str) -> bool:
        """Tell whether files here import their neighbours by bare name: neither a package nor imported as one."""
        if not folder or self._is_package(folder):
            return not self._is_package(folder)
        for root in self.roots:
            if root and not folder.startswith(f"{root}/"):
                continue
            dotted = folder[len(root) :].strip("/").replace("/", ".")
            if dotted in self._imported:
                return False
        return True

    def _search(self, parts: list[str], roots: tuple[str, ...]) -> str | None:
        for root in roots:
            if (place := self._walk(root, parts)) and not place.endswith("/"):
                return place
        others = [root for root in self.roots if root not in roots]
        for root in others:
            if self._is_package(_join(root, parts[0])) and (place := self._walk(root, parts)):
                return place
        return next((place for root in roots if (place := self._walk(root, parts))), None)

    def _stdlib_name(self, parts: list[str], roots: tuple[str, ...], importer: str) -> str | None:
        """Find a package that is named like one of the standard library; only one that surely comes first."""
        for root in roots:
            home = _join(root, parts[0])
            if self._is_package(home) and (importer.startswith(f"{home}/") or root in ("", "src")):
                return self._walk(root, parts)
        return None

    def _walk(self, root: str, parts: list[str]) -> str | None:
        place: str | None = f"{root}/"
        for part in parts:
            place = self.submodule(place, part) if place else None
        return place


def is_source(path: str) -> bool:
    """Tell a file that can be imported."""
    return path.endswith(_SUFFIXES)


def is_project(path: str) -> bool:
    """Tell a file whose folder is a project, from which absolute imports may start."""
    return path.rpartition("/")[2] in _PROJECT_FILES


def package_folder(place: str) -> str | None:
    """Return the folder of a package's place, None for a plain module."""
    if place.endswith("/"):
        return place[:-1]
    return _up(place) if place.endswith(_INIT) else None


def _up(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
