"""How Rust files find each other: crates and modules."""

from controller.graph.language import Files
from controller.graph.languages.rust.crates import Crates, up
from controller.graph.languages.rust.modules import Modules

EXACT = "mod "
"""Before a path that must be a file itself; another one leads as far as its modules are files."""

_STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})


def ecosystem(files: Files) -> "Rust":
    """Return the ecosystem of one tree."""
    return Rust(files)


class Rust:
    """An `Ecosystem`. A place is the file of a module, written `crate::a::b`, `super::b`, `self::b` or `name::b`.

    Dots do as well as `::`.
    """

    def __init__(self, files: Files) -> None:
        self.crates = Crates(files)
        self.modules = Modules(files, self.crates)
        self._places: dict[tuple[str, str], str | None] = {}

    def place(self, module: str, importer: str) -> str | None:
        """Return the file of a module, or of the last module on the way to it that is a file."""
        key = (module, importer)
        if key not in self._places:
            self._places[key] = self._place(module.removeprefix(EXACT), importer, exact=module.startswith(EXACT))
        return self._places[key]

    def _place(self, module: str, importer: str, *, exact: bool) -> str | None:
        names = module.replace(".", "::").removeprefix("::").split("::")
        at: str | None = importer
        if names[0] == "crate":
            at = self.modules.root(importer)
            names.pop(0)
        elif names[0] == "self":
            names.pop(0)
        elif names[0] == "super":
            while names and names[0] == "super" and at:
                at = self.modules.parent(at)
                names.pop(0)
        else:
            at = self._extern(names.pop(0), importer)
        return self.modules.walk(at, names, exact=exact) if at else None

    def _extern(self, name: str, importer: str) -> str | None:
        """Return where a path begins that starts with a name nothing in the file binds."""
        package = self.crates.package(up(importer))
        if package is None:
            return None
        if found := self.crates.externs(package).get(name):
            return found
        if self.crates.old(package) and (top := self.modules.child(self.modules.root(importer), name)):
            return top
        return None

    def submodule(self, place: str, name: str) -> str | None:
        """Return the file of a module inside a module."""
        return self.modules.child(place, name) if place.endswith(".rs") else None

    def members(self, place: str) -> tuple[str, ...]:
        """Return nothing: a place is a file."""
        del place
        return ()

    def beside(self, path: str) -> tuple[str, ...]:
        """Return nothing: a file sees what it imports."""
        del path
        return ()

    def package(self, module: str, importer: str) -> str:
        """Return the crate as code calls it, with `_` for `-`; nothing for the standard library and missing modules."""
        del importer
        first = module.removeprefix(EXACT).replace(".", "::").removeprefix("::").partition("::")[0]
        return "" if first in _STANDARD or first in ("crate", "self", "super") else first

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return the library of that name with the modules inside, or the files whose path ends so."""
        names = dotted.split(".")
        found = []
        for folder, manifest in self.crates.manifests.items():
            library = self.crates.library(folder)
            if library and names[0] in (self.crates.library_name(folder), manifest.name):
                place = self.modules.walk(library, names[1:], exact=True)
                found += [place] if place else []
        return tuple(dict.fromkeys(found)) or tuple(self.modules.ending(names))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files in which a dotted name would lie: the modules on its way, and those that may come to it."""
        names = dotted.split(".")
        known = (length for length in range(len(names), 0, -1) if self.anywhere(".".join(names[:length])))
        length = next(known, 0)
        places = self.anywhere(".".join(names[:length])) if length else ()
        inside = [f"{self.modules.inside(place)}/{each}" for place in places for each in names[length : length + 1]]
        return (
            *places,
            *(path for each in inside for path in (f"{each}.rs".lstrip("/"), f"{each}/mod.rs".lstrip("/"))),
        )

    def folder(self, place: str) -> str | None:
        """Return nothing: a module is a file, with what it holds."""
        del place
        return None
