"""Which file a Rust module is: `mod x;` in one file is `x.rs`, `x/mod.rs` or what `#[path]` says."""

from collections.abc import Iterator

from controller.graph.language import Files
from controller.graph.languages.rust.crates import Crates, joined, up

_DEEPEST = 64
_TOPS = ("lib.rs", "main.rs")


class Modules:
    """Files as modules of each other. What no file declares is still found where it would lie."""

    def __init__(self, files: Files, crates: Crates) -> None:
        self.paths = files.paths
        self.crates = crates
        self._declared: dict[str, dict[str, str]] = {}
        """Per file: module inside it, inline modules before `::`, to the path as written."""
        for path, said in files.settings.items():
            if said.get("mods"):
                pairs = (line.partition("=") for line in said["mods"].split("\n"))
                self._declared[path] = {name: written for name, _, written in pairs}
        self._apart: set[str] = set()
        """Files that another path leads to: their modules lie beside them."""
        self._parents: dict[str, str] = {}
        self._link()

    def _link(self) -> None:
        for path, declared in self._declared.items():
            for name, written in declared.items():
                if written and (target := self._written(path, name, written)):
                    self._apart.add(target)
        rank = {path: (path not in self.crates.roots, not path.endswith("lib.rs"), path) for path in self._declared}
        for path in sorted(self._declared, key=rank.__getitem__):
            for name in self._declared[path]:
                child = self.child(path, name)
                if child and child != path:
                    self._parents.setdefault(child, path)

    def _written(self, path: str, name: str, written: str) -> str | None:
        inline = name.rpartition("::")[0].replace("::", "/")
        base = f"{self.inside(path)}/{inline}" if inline else up(path)
        place = joined(base.lstrip("/"), written)
        return place if place in self.paths else None

    def inside(self, path: str) -> str:
        """Return the folder in which the modules of a file lie."""
        folder, _, name = path.rpartition("/")
        if name in ("mod.rs", *_TOPS) or path in self.crates.roots or path in self._apart:
            return folder
        return f"{folder}/{name.removesuffix('.rs')}".lstrip("/")

    def child(self, path: str, name: str) -> str | None:
        """Return the file of a module inside a file; inline modules stand before `::` in its name."""
        if written := self._declared.get(path, {}).get(name):
            return self._written(path, name, written)
        inside = self.inside(path)
        place = "/".join(part for part in (inside, name.replace("::", "/")) if part)
        return next((each for each in (f"{place}.rs", f"{place}/mod.rs") if each in self.paths and each != path), None)

    def parent(self, path: str) -> str | None:
        """Return the file that a file is a module of; None for the root of a crate."""
        if path in self._parents:
            return self._parents[path]
        folder, _, name = path.rpartition("/")
        if path in self.crates.roots or name in _TOPS:
            return None
        above = up(folder) if name == "mod.rs" else folder
        near = (f"{above}/{each}".lstrip("/") for each in ("mod.rs", *_TOPS))
        places = (*near, f"{above}.rs" if above else "")
        return next((each for each in places if each in self.paths and each != path), None)

    def root(self, path: str) -> str:
        """Return the root of the crate that a file belongs to."""
        for _ in range(_DEEPEST):
            above = self.parent(path)
            if above is None:
                break
            path = above
        return path

    def walk(self, start: str, names: list[str], *, exact: bool = False) -> str | None:
        """Follow module names from a file, as far as they are files; an exact walk must come to its end."""
        path, inline = start, ""
        for name in names:
            found = self.child(path, f"{inline}::{name}" if inline else name)
            path, inline = (found, "") if found else (path, f"{inline}::{name}" if inline else name)
        return None if exact and inline else path

    def ending(self, names: list[str]) -> Iterator[str]:
        """Yield the files whose path ends in these names."""
        end = "/" + "/".join(names)
        for path in sorted(self.paths):
            if path.endswith(".rs") and f"/{path}".endswith((f"{end}.rs", f"{end}/mod.rs", f"{end}/src/lib.rs")):
                yield path
