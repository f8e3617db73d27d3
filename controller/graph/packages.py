"""Third-party packages that a module came to import, and the manifests that name them, or do not."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from controller.graph.language import family_of
from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.reach import within
from controller.graph.texts import Texts
from packets.graph import EdgeKind, PackageUse
from packets.scope import Scope

Tree = tuple[Linker, Graph]


class Manifests(NamedTuple):
    """Where a family says what it needs: whole names of files. `certain`: an import tells the name of its package."""

    files: re.Pattern[str]
    certain: bool = True


MANIFESTS: Mapping[str, Manifests] = {
    "python": Manifests(
        re.compile(
            r"pyproject\.toml|setup\.(cfg|py)|Pipfile|environment\.ya?ml|.*requirements.*\.(txt|in)"
            r"|(dev|tests?|base|prod|docs)\.(txt|in)"
        )
    ),
    "script": Manifests(re.compile(r"package\.json|deno\.jsonc?|jsr\.json|import_map\.json")),
    "go": Manifests(re.compile(r"go\.mod")),
    "rust": Manifests(re.compile(r"Cargo\.toml")),
    "java": Manifests(re.compile(r"pom\.xml|build\.gradle(\.kts)?|libs\.versions\.toml"), certain=False),
    "c": Manifests(re.compile(r"CMakeLists\.txt|meson\.build|conanfile\.(txt|py)|vcpkg\.json"), certain=False),
}
"""The manifests of each family."""

_NONE = Manifests(re.compile(r"(?!)"), certain=False)

_OTHERWISE = {
    "attr": "attrs", "bs4": "beautifulsoup4", "crypto": "pycryptodome", "cv2": "opencv", "docx": "python-docx",
    "fitz": "pymupdf", "gi": "pygobject", "git": "gitpython", "googleapiclient": "google-api-python-client",
    "mpl-toolkits": "matplotlib", "mysqldb": "mysqlclient", "pil": "pillow", "pkg-resources": "setuptools",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "usb": "pyusb", "win32api": "pywin32", "win32con": "pywin32",
    "wx": "wxpython", "yaml": "pyyaml", "zmq": "pyzmq",
}  # fmt: skip
"""Python packages that are imported by another name than they are installed by."""

_WORD = re.compile(r"[@\w][\w./@-]*\w|\w")


def new_packages(scope: Scope, base: Tree, head: Tree, texts: Texts) -> Iterator[PackageUse]:
    """Yield each package that the module's files import, and no file of the base does, with the first place."""
    places: dict[tuple[str, str], tuple[str, int]] = {}
    for path in within(scope, head[1].by_path):
        if path in texts.changes:
            for package, line in _packages(path, head):
                key = (family_of(path), package)
                places[key] = min(places.get(key, (path, line)), (path, line))
    new = {key: place for key, place in places.items() if not _known(*key, base)}
    families = {family for family, _ in new}
    named = texts.now(lambda name: any(_of(each).files.fullmatch(name) for each in families)) if new else {}
    for (family, package), (path, line) in sorted(new.items(), key=lambda item: item[1]):
        manifests = {each: text for each, text in named.items() if _of(family).files.fullmatch(each.rpartition("/")[2])}
        listed = next((each for each in _nearest(manifests, path) if _names(family, package, manifests[each])), "")
        optional = family == "python" and _guarded(texts.after([path]).get(path, ""), line)
        missing = () if listed or optional or not _of(family).certain else tuple(_nearest(manifests, path))
        yield PackageUse(package=package, path=path, line=line, listed_in=listed, manifests=missing)


def _guarded(text: str, line: int) -> bool:
    """Tell whether a Python import may fail: it is in a `try`, or for type checkers only."""
    lines = text.split("\n")[:line]
    while lines and (own := lines.pop()):
        indent = len(own) - len(own.lstrip())
        above = next((each for each in reversed(lines) if each.strip() and len(each) - len(each.lstrip()) < indent), "")
        if re.match(r"\s*(try:|except\b.*:|if .*\bTYPE_CHECKING\b)", above):
            return True
        lines = lines[: max((at for at, each in enumerate(lines) if each == above), default=-1) + 1]
    return False


def _of(family: str) -> Manifests:
    return MANIFESTS.get(family, _NONE)


def _packages(path: str, tree: Tree) -> Iterator[tuple[str, int]]:
    """Yield the packages that a file imports, with the lines."""
    linker, graph = tree
    family = family_of(path)
    for node in graph.by_path[path] if family else ():
        for edge in graph.outgoing.get(node.id, ()):
            if edge.kind is EdgeKind.IMPORTS and edge.target.startswith("ext:"):
                package = linker.ecosystem(family).package(edge.target[4:], path)
                if package and linker.place(path, package) is None:  # else a part of the repository that is built
                    yield package, edge.line


def _known(family: str, package: str, base: Tree) -> bool:
    """Tell whether some file of the family imports the package, by whatever of its modules."""
    linker, graph = base
    for node in (each for each in graph.externals() if each.startswith(f"ext:{package}")):
        for edge in graph.incoming.get(node, ()):
            path = graph.path_of(edge.source)
            if family_of(path) == family and linker.ecosystem(family).package(node[4:], path) == package:
                return True
    return False


def _nearest(manifests: Iterable[str], path: str) -> list[str]:
    """Return the manifests above a file, the nearest first, then the others."""

    def far(manifest: str) -> tuple[bool, int, str]:
        folder = manifest.rpartition("/")[0]
        above = not folder or path.startswith(f"{folder}/")
        return not above, -len(folder) if above else len(folder), manifest

    return sorted(manifests, key=far)


def _names(family: str, package: str, text: str) -> bool:
    """Tell whether a manifest names a package; spelled freely, for a wrong no costs more than a wrong yes."""
    words = {word.rstrip(".,") for word in _WORD.findall(text)}
    if family == "python":
        return _names_python(package, {_plain(word) for word in words})
    if family == "go":
        return any(package == word or package.startswith(f"{word}/") for word in words if "." in word)
    if family == "rust":
        return _plain(package) in {_plain(word) for word in words}
    return package in words


def _names_python(package: str, words: set[str]) -> bool:
    """Tell by the import's name, which is often only a part of the distribution's."""
    top = _plain(package.partition(".")[0]).strip("-")
    other = _OTHERWISE.get(top, top)
    wanted = {top, other, f"python-{top}", f"py{top}", f"py-{top}", f"{top}-python", f"{top}python", f"{top}s"}
    return any(word in wanted or word.startswith((f"{top}-", f"{other}-")) for word in words)


def _plain(word: str) -> str:
    return re.sub(r"[-_.]+", "-", word).lower()
