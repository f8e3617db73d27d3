"""What a language is to the graph: kinds of files, how to read one, and how its files find each other in a tree.

A family is a folder in `languages/` with two modules. `extract` has `extract(kind, blob) -> FileFacts`, which never
raises for bad input, and `grammar(kind) -> str`, which names the version of what reads it. `ecosystem` has
`ecosystem(files) -> Ecosystem`, and may have `heeds(path) -> bool`, whether an answer may change when a path comes or
goes, and `stirs(files, modules) -> bool`, whether one may because these modules are imported now, or no longer. Both
are loaded when first needed. What no kind reads is a file and nothing more.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib import import_module
from typing import NamedTuple, Protocol

from controller.graph.facts import NOTHING, FileFacts

MAX_BLOB = 1 << 20
"""Bytes. Larger sources are generated; they stay at file level: the densest ones cost ten seconds a megabyte."""

_PATHS = 1 << 17
"""Paths of which the kind is kept; asked for with every name."""


_OPENED = 1000
_OPENING = frozenset(b"([{")
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


class Files(NamedTuple):
    """What an ecosystem may know of a tree.

    `paths` are all of them; `settings` what configuration files of the family say, by path; `imported` the modules, as
    written, that sources of the family import by other than relative names.
    """

    paths: AbstractSet[str]
    settings: Mapping[str, Mapping[str, str]]
    imported: AbstractSet[str] = frozenset()


class Ecosystem(Protocol):
    """Where the imports of one family lead in one tree: a pure function of `Files`.

    A place is the path of a file, or a name that ends in `/`: a package or a namespace, whose names are those of its
    `members`. Places are asked for by the hundred thousand: answers are looked up, not searched for.
    """

    def place(self, module: str, importer: str) -> str | None:
        """Return the place that `module`, as written, means in the file `importer`; None: third-party or missing."""

    def submodule(self, place: str, name: str) -> str | None:
        """Return the place of the module `name` inside a place; None where it has none."""

    def members(self, place: str) -> tuple[str, ...]:
        """Return the files whose definitions are the names of a place that ends in `/`."""

    def beside(self, path: str) -> tuple[str, ...]:
        """Return the other files whose top-level definitions a file sees without an import, such as its package's."""

    def package(self, module: str, importer: str) -> str:
        """Return the third-party package that a module without a place comes from; empty for the standard library."""

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return every place that the dotted name in a plan may mean, from any root."""

    def folder(self, place: str) -> str | None:
        """Return the folder that a place stands for with all beneath it; None for a plain file."""

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files in which a dotted name of a plan would lie, where its beginning is known; else nothing."""


@dataclass(frozen=True)
class Kind:
    """Files that are read alike. `files` are patterns of whole names and go before `suffixes`.

    `exported` is the scope in which other files look for what a file offers; empty: its top level. In `outward` kinds
    a name is looked up from its scope outward, inherited members included; what such a file `includes` whole is seen
    by whoever includes it.
    """

    name: str
    family: str
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    exported: str = ""
    outward: bool = False
    includes: bool = False


_CPP = ".cc .cpp .cxx .c++ .C .hh .hpp .hxx .h++ .H .inl .ipp .tpp .tcc .txx .cppm .ixx .cu .cuh"

KINDS = (
    Kind("python", "python", (".py", ".pyi", ".pyw")),
    Kind("java", "java", (".java",), outward=True),
    Kind("c", "c", (".c",), outward=True, includes=True),
    Kind("header", "c", (".h",), outward=True, includes=True),
    Kind("cpp", "c", tuple(_CPP.split()), outward=True, includes=True),
    Kind("javascript", "script", (".js", ".jsx", ".mjs", ".cjs"), exported="<export>"),
    Kind("typescript", "script", (".ts", ".mts", ".cts"), exported="<export>"),
    Kind("tsx", "script", (".tsx",), exported="<export>"),
    Kind("package-json", "script", files=("package.json",)),
    Kind("tsconfig", "script", files=("tsconfig*.json", "*.tsconfig.json", "jsconfig*.json")),
    Kind("pnpm-workspace", "script", files=("pnpm-workspace.yaml",)),
    Kind("go", "go", (".go",)),
    Kind("gomod", "go", files=("go.mod", "go.work")),
    Kind("rust", "rust", (".rs",)),
    Kind("cargo", "rust", files=("Cargo.toml",)),
)
"""Every kind that is read; the order says who is asked first."""

_BY_NAME = {kind.name: kind for kind in KINDS}
_BY_SUFFIX = {suffix: kind for kind in reversed(KINDS) for suffix in kind.suffixes}
_BY_FILE = [(pattern, kind) for kind in KINDS for pattern in kind.files]


@lru_cache(_PATHS)
def kind_of(path: str) -> str:
    """Return the kind of a path by its name, or `file` where nobody reads it."""
    name = path[path.rfind("/") + 1 :]
    for pattern, kind in _BY_FILE:
        if fnmatchcase(name, pattern):
            return kind.name
    dot = name.rfind(".")
    found = _BY_SUFFIX.get(name[dot:]) if dot > 0 else None
    return found.name if found else "file"


@lru_cache(_PATHS)
def family_of(path: str) -> str:
    """Return the family that reads a path, or nothing."""
    kind = _BY_NAME.get(kind_of(path))
    return kind.family if kind else ""


def exported(path: str) -> str:
    """Return the scope of a file in which others look for its names."""
    kind = _BY_NAME.get(kind_of(path))
    return kind.exported if kind else ""


@lru_cache(_PATHS)
def outward(path: str) -> bool:
    """Tell whether names of a file are looked up from their scope outward."""
    kind = _BY_NAME.get(kind_of(path))
    return kind is not None and kind.outward


@lru_cache(_PATHS)
def includes(path: str) -> bool:
    """Tell whether a file sees what the files that it imports import in turn."""
    kind = _BY_NAME.get(kind_of(path))
    return kind is not None and kind.includes


def facts(kind: str, blob: bytes) -> FileFacts:
    """Read one file. Never raises for bad input: a syntax error leaves what can be read."""
    if kind not in _BY_NAME or len(blob) > MAX_BLOB or _is_endless(blob):
        return NOTHING
    found: FileFacts = import_module(f"controller.graph.languages.{_BY_NAME[kind].family}.extract").extract(kind, blob)
    return found


def _is_endless(blob: bytes) -> bool:
    """Tell bracket in bracket in bracket: a grammar that recovers from it takes minutes, and nobody writes so."""
    brackets = blob.translate(None, _NO_BRACKETS)
    if len(brackets) <= _OPENED:
        return False
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in _OPENING else -1
        if depth > _OPENED:
            return True
    return False


@cache
def version(kind: str) -> str:
    """Name the version of what reads a kind: facts of another version say something else about the same bytes."""
    family = _BY_NAME[kind].family
    return f"{kind}-{import_module(f'controller.graph.languages.{family}.extract').grammar(kind)}"


def ecosystem(family: str, files: Files) -> Ecosystem:
    """Return how the files of a family find each other."""
    found: Ecosystem = import_module(f"controller.graph.languages.{family}.ecosystem").ecosystem(files)
    return found
