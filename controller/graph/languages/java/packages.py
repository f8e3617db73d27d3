"""Which package each Java source is in, and the source roots that follow from it.

The package clause says it. Where the folder of a file ends in the package, what is before it is a source root
(`src/main/java`, a module's `src/test/java`, or the top of the tree); else the clause goes before the folder.
"""

from collections.abc import Iterable, Mapping

SUFFIX = ".java"


class Packages:
    """The packages of one tree. A root is a folder, empty for the top; a package is dotted, empty for the unnamed."""

    def __init__(self, paths: Iterable[str], settings: Mapping[str, Mapping[str, str]]) -> None:
        self.files: dict[str, list[str]] = {}
        self.package_of: dict[str, str] = {}
        self.root_of: dict[str, str] = {}
        self.roots: dict[str, set[str]] = {}
        for path in sorted(each for each in paths if each.endswith(SUFFIX)):
            folder = path.rpartition("/")[0]
            package = settings.get(path, {}).get("package", "")
            self._add(path, package, _root(folder, package))
        self.above = {prefix for package in self.files for prefix in _prefixes(package)}

    def _add(self, path: str, package: str, root: str) -> None:
        self.files.setdefault(package, []).append(path)
        self.package_of[path], self.root_of[path] = package, root
        for prefix in _prefixes(package):
            self.roots.setdefault(prefix, set()).add(root)

    def near(self, package: str, root: str) -> list[str]:
        """Return the files of a package, in the order in which the build of a source root would find them.

        Sources that are no tests do not see tests.
        """
        tests = is_test_root(root)
        files = [each for each in self.files.get(package, ()) if tests or not is_test_root(self.root_of[each])]
        return sorted(files, key=lambda each: (-_shared(root, self.root_of[each]), each))

    def folder(self, package: str) -> str | None:
        """Return the folder of a package: in a root of tests only where no other has it."""
        roots = self.roots.get(package)
        if not package or not roots:
            return None
        root = min(roots, key=lambda each: (is_test_root(each), each))
        return "/".join(([root] if root else []) + package.split("."))

    def split(self, package: str) -> bool:
        """Tell whether several roots have a file of the same name in this package: then it matters who asks."""
        names = [path.rpartition("/")[2] for path in self.files.get(package, ())]
        return len(names) != len(set(names))


def is_test_root(root: str) -> bool:
    """Tell whether a source root holds tests, by its name: `src/test/java`, `src/integrationTest/java`, `tests`."""
    return any(part.lower().endswith(("test", "tests", "testfixtures")) for part in root.split("/"))


def _root(folder: str, package: str) -> str:
    inside = package.replace(".", "/")
    if not inside:
        return folder
    return folder[: -len(inside)].rstrip("/") if f"/{folder}".endswith(f"/{inside}") else folder


def _prefixes(package: str) -> list[str]:
    parts = package.split(".") if package else []
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _shared(one: str, other: str) -> int:
    """Count the folders that two roots share from the top; a root shares more with itself than with any other."""
    if one == other:
        return 1 << 20
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
