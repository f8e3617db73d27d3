"""Crates of one tree: manifests, the roots of their targets, and the crates that a name means in each of them."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from posixpath import normpath

from controller.graph.language import Files
from controller.graph.languages.rust.manifest import Dependency, Manifest, parsed

_TARGET_FOLDERS = ("examples", "tests", "benches", "src/bin")
_OLD = "2015"


class Crates:
    """Packages by the folder of their Cargo.toml; the root of the tree is the empty folder."""

    def __init__(self, files: Files) -> None:
        self.paths = files.paths
        self.manifests = {
            up(path): parsed(said["manifest"]) for path, said in sorted(files.settings.items()) if "manifest" in said
        }
        self._packages: dict[str, str | None] = {}
        self._externs: dict[str, Mapping[str, str]] = {}

    def package(self, folder: str) -> str | None:
        """Return the folder of the package that a folder belongs to."""
        if folder not in self._packages:
            manifest = self.manifests.get(folder)
            if manifest and manifest.name:
                self._packages[folder] = folder
            else:
                self._packages[folder] = self.package(up(folder)) if folder else None
        return self._packages[folder]

    @cached_property
    def roots(self) -> frozenset[str]:
        """Files in which a crate begins."""
        found = set()
        for folder, manifest in self.manifests.items():
            written = [manifest.library_path, *manifest.roots, "src/lib.rs", "src/main.rs", "build.rs"]
            found |= {place for each in written if each and (place := joined(folder, each)) in self.paths}
        for path in self.paths:
            if path.endswith(".rs") and self._is_target(path):
                found.add(path)
        return frozenset(found)

    def _is_target(self, path: str) -> bool:
        """Tell whether Cargo finds a target here by itself: `tests/a.rs`, `tests/a/main.rs`."""
        package = self.package(up(path))
        if package is None:
            return False
        inside = path[len(package) + 1 :] if package else path
        for folder in _TARGET_FOLDERS:
            rest = inside.removeprefix(f"{folder}/")
            if rest != inside and ("/" not in rest or (rest.count("/") == 1 and rest.endswith("/main.rs"))):
                return True
        return False

    def library(self, folder: str) -> str | None:
        """Return the root of a package's library."""
        manifest = self.manifests.get(folder)
        place = joined(folder, manifest.library_path or "src/lib.rs") if manifest else ""
        return place if place in self.paths else None

    def library_name(self, folder: str) -> str:
        """Return what code calls a package's library."""
        manifest = self.manifests[folder]
        return manifest.library or manifest.name.replace("-", "_")

    def old(self, folder: str) -> bool:
        """Tell whether paths of a package start at its root, as they did in the edition of 2015."""
        manifest = self.manifests[folder]
        shared = self._workspace(folder)[1].shared_edition if not manifest.edition else ""
        return (manifest.edition or shared or _OLD) == _OLD

    def externs(self, folder: str) -> Mapping[str, str]:
        """Return the crates of this tree that code of a package may name, with the roots of their libraries."""
        if folder not in self._externs:
            found = {name: root for name, root in self._near(folder) if root}
            own = self.library(folder)
            self._externs[folder] = found | ({self.library_name(folder): own} if own else {})
        return self._externs[folder]

    def _near(self, folder: str) -> Iterator[tuple[str, str | None]]:
        home, workspace = self._workspace(folder)
        for alias, written in self.manifests[folder].dependencies.items():
            base, each = folder, written
            if written.workspace:
                base, each = home, (workspace.shared or {}).get(alias, Dependency())
            package = each.package or alias
            path, base = (each.path, base) if each.path else (workspace.patched.get(package, ""), home)
            target = joined(base, path) if path else None
            if target is not None and target in self.manifests:
                renamed = each.package and each.package != alias
                yield (alias.replace("-", "_") if renamed else self.library_name(target)), self.library(target)

    def _workspace(self, folder: str) -> tuple[str, Manifest]:
        """Return the nearest manifest with a workspace, here or above."""
        at = folder
        while True:
            manifest = self.manifests.get(at)
            if manifest and manifest.shared is not None:
                return at, manifest
            if not at:
                return folder, self.manifests.get(folder, Manifest())
            at = up(at)


def up(path: str) -> str:
    """Return the folder of a path."""
    return path.rpartition("/")[0]


def joined(folder: str, rest: str) -> str:
    """Return a path below a folder; empty where it leaves the tree or is the tree itself."""
    found = normpath(f"{folder}/{rest}" if folder else rest)
    return "" if found == "." or found.startswith("../") else found
