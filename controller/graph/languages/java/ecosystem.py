"""How Java files find each other: packages over all source roots, the nearest root first."""

from functools import cached_property

from controller.graph.language import Files
from controller.graph.languages.java.packages import SUFFIX, Packages

_JDK = (
    "java", "jdk", "sun", "com.sun", "netscape.javascript", "org.ietf.jgss", "org.w3c.dom", "org.xml.sax",
    "javax.accessibility", "javax.annotation.processing", "javax.crypto", "javax.imageio", "javax.lang.model",
    "javax.management", "javax.naming", "javax.net", "javax.print", "javax.rmi", "javax.script", "javax.security",
    "javax.smartcardio", "javax.sound", "javax.sql", "javax.swing", "javax.tools", "javax.transaction.xa", "javax.xml",
)  # fmt: skip
"""Packages that come with a JDK, with all beneath them."""

_SINCE_GONE = ("javax.xml.bind", "javax.xml.soap", "javax.xml.ws", "javax.security.jacc")
"""What a JDK of today no longer has, although a package above it is one of its own."""

_UMBRELLAS = (
    "com.github", "com.google", "com.googlecode", "io.github", "org.apache", "org.apache.commons", "org.eclipse",
)  # fmt: skip
"""Beneath these every next part is a product of its own."""


def ecosystem(files: Files) -> "Java":
    """Return the ecosystem of one tree."""
    return Java(files)


class Java:
    """An `Ecosystem`. The place of a package is its dotted name and `/`.

    Where several roots have the same class in it, `root:` of the importer goes before.
    """

    def __init__(self, files: Files) -> None:
        self.packages = Packages(files.paths, files.settings)
        self._split: dict[str, bool] = {}

    def place(self, module: str, importer: str) -> str | None:
        """Return the package that an import names; its classes are its members."""
        if module not in self.packages.above and module not in self.packages.files:
            return None
        if module not in self._split:
            self._split[module] = self.packages.split(module)
        if not self._split[module]:
            return f"{module}/"
        return f"{self.packages.root_of.get(importer, '')}:{module}/"

    def submodule(self, place: str, name: str) -> str | None:
        """Return the package inside a package."""
        root, package = _parted(place)
        inner = f"{package}.{name}"
        return f"{root}{inner}/" if inner in self.packages.above else None

    def members(self, place: str) -> tuple[str, ...]:
        """Return the files of a package, those of the importer's own root first."""
        root, package = _parted(place)
        if not root:
            return tuple(self.packages.files.get(package, ()))
        return tuple(self.packages.near(package, root[:-1]))

    def beside(self, path: str) -> tuple[str, ...]:
        """Return the other files of the package, the nearest root first."""
        if path not in self.packages.root_of:
            return ()
        near = self.packages.near(self.packages.package_of[path], self.packages.root_of[path])
        return tuple(each for each in near if each != path)

    def package(self, module: str, importer: str) -> str:
        """Return the beginning of a package's name that tells products apart; nothing for the JDK."""
        del importer
        if _under(module, _JDK) and not _under(module, _SINCE_GONE):
            return ""
        parts = module.split(".")
        length = 2 + sum(_under(module, (umbrella,)) for umbrella in _UMBRELLAS)
        return ".".join(parts[:length])

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return the package of that name, or those whose names end so."""
        if dotted in self.packages.above:
            return (f"{dotted}/",)
        return self._endings.get(dotted, ())

    @cached_property
    def _endings(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for package in sorted(self.packages.above):
            parts = package.split(".")
            for start in range(1, len(parts)):
                ending = ".".join(parts[start:])
                found[ending] = (*found.get(ending, ()), f"{package}/")
        return found

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return where a class of that name would lie, in each root that has the beginning of its package."""
        parts = dotted.split(".")
        known = max((n for n in range(1, len(parts)) if ".".join(parts[:n]) in self.packages.above), default=0)
        if not known:
            return ()
        roots = sorted(self.packages.roots[".".join(parts[:known])])
        names = ["/".join(parts[:length]) for length in range(len(parts), known, -1)]
        return tuple(f"{root}/{name}{SUFFIX}".lstrip("/") for root in roots for name in names)

    def folder(self, place: str) -> str | None:
        """Return the folder of a package, in its first root that holds no tests."""
        return self.packages.folder(_parted(place)[1]) if place.endswith("/") else None


def _parted(place: str) -> tuple[str, str]:
    """Return the root with its colon, or nothing, and the package."""
    root, colon, package = place.rstrip("/").rpartition(":")
    return root + colon, package


def _under(module: str, tops: tuple[str, ...]) -> bool:
    return any(module == top or module.startswith(f"{top}.") for top in tops)
