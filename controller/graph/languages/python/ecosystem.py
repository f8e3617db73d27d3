"""How Python files find each other: the module index behind the questions of the graph."""

import sys
from collections.abc import Set as AbstractSet

from controller.graph.language import Files
from controller.graph.languages.python.modules import ModuleIndex, is_project, is_source, package_folder


def ecosystem(files: Files) -> "Python":
    """Return the ecosystem of one tree."""
    return Python(files)


def heeds(path: str) -> bool:
    """Tell whether an answer may change when this path comes or goes."""
    return is_source(path) or is_project(path)


def stirs(files: Files, modules: AbstractSet[str]) -> bool:
    """Tell whether an answer may change because these modules were first or last imported: one may be a folder.

    Imports tell a namespace package from a folder of scripts, and nothing else.
    """
    stable = [f"{module}." for module in files.imported if module not in modules]
    changed = {
        start
        for module in modules
        for start in _starts(module)
        if not any(each.startswith(f"{start}.") for each in stable)
    }
    if not changed:
        return False
    folders = {f"/{path.rpartition('/')[0]}" for path in files.paths if is_source(path)}
    ends = tuple("/" + start.replace(".", "/") for start in changed)
    return any(_holds(folder, ends) for folder in folders)


def _starts(module: str) -> list[str]:
    """Return a dotted name and those that it is inside of."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _holds(folder: str, ends: tuple[str, ...]) -> bool:
    """Tell whether one of these lies on the way to a folder."""
    return any(f"{end}/" in f"{folder}/" for end in ends)


class Python:
    """An `Ecosystem`: packages, namespace packages, `src` layouts, many projects in one repository."""

    def __init__(self, files: Files) -> None:
        self.index = ModuleIndex(files.paths, files.imported)

    def place(self, module: str, importer: str) -> str | None:
        """Return the file or the namespace that a module means in a file."""
        return self.index.relative(module, importer) if module.startswith(".") else self.index.find(module, importer)

    def submodule(self, place: str, name: str) -> str | None:
        """Return the module of a package."""
        return self.index.submodule(place, name)

    def members(self, place: str) -> tuple[str, ...]:
        """Return nothing: the names of a namespace package are its modules. A package answers for all beneath it."""
        del place
        return ()

    def beside(self, path: str) -> tuple[str, ...]:
        """Return nothing: a Python file sees what it imports."""
        del path
        return ()

    def package(self, module: str, importer: str) -> str:
        """Return the top of the dotted name, which need not be the name of the distribution."""
        del importer
        top = module.partition(".")[0]
        return "" if top in sys.stdlib_module_names else top

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return what some root, or else the end of some path, gives the dotted name."""
        found = self.index.anywhere(dotted)
        return found or self._ending(dotted.replace(".", "/"))

    def _ending(self, path: str) -> tuple[str, ...]:
        """Return the sources whose path ends so: `money.Money` is short for what lies in `app/money.py`."""
        ends = (f"/{path}.py", f"/{path}/__init__.py")
        return tuple(sorted(each for each in self.index.files if f"/{each}".endswith(ends)))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files that would be the module, for each part of the name, from each root that knows a part."""
        parts = dotted.split(".")
        if not self.index.anywhere(parts[0]):
            return ()
        places = []
        for root in self.index.roots:
            for length in range(len(parts), 0, -1):
                path = "/".join(([root] if root else []) + parts[:length])
                places += [f"{path}.py", f"{path}/__init__.py"]
                folder, _, name = path.rpartition("/")
                if self.index.locate(folder, name):
                    break
        return tuple(places)

    def folder(self, place: str) -> str | None:
        """Return the folder of a package."""
        return package_folder(place)
