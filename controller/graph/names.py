"""What a name in a plan or a report means in one tree.

In this order: a node's id, a module id (its scope's files), a path or folder, a dotted name (`app.money.Money`,
`Money.add`), a bare symbol, the last part of a module id, the bare name of a file, an external package. `::` is read as
a dot (`crate::money::Money`), and after a path as the way into that file (`app/money.py::Money.add`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from controller.graph.declared import one_thing, whole
from controller.graph.language import family_of
from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.resolve import Target
from controller.graph.territory import Territory
from packets.graph import Node, NodeKind


class NameKind(StrEnum):
    """What an unknown name looks like: only a bare one may still be born anywhere."""

    BARE = "name"
    PATH = "path"
    DOTTED = "dotted name"
    MODULE = "module"


@dataclass(frozen=True)
class Found:
    """The nodes a name stands for, with all that they define."""

    ids: frozenset[str]


@dataclass(frozen=True)
class Ambiguous:
    """Several things have this name; `candidates` are node ids."""

    candidates: tuple[str, ...]


@dataclass(frozen=True)
class Unknown:
    """Nothing has this name. `places` are the files in which it would be looked for."""

    kind: NameKind
    places: tuple[str, ...] = ()


Meaning = Found | Ambiguous | Unknown

SUGGESTED = 40
"""Wrong names of one comparison for which the nearest is looked for."""

_AT_HOME = ("", "crate", "self", "super")


class Names:
    """Resolves names in one tree."""

    def __init__(self, graph: Graph, linker: Linker, territory: Territory) -> None:
        self.graph = graph
        self.linker = linker
        self.territory = territory
        self._known: dict[str, Meaning] = {}
        self._slips: set[str] = set()

    def resolve(self, name: str) -> Meaning:
        """Return what the name means here."""
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def may_suggest(self, name: str) -> bool:
        """Tell whether there is time to look for what was meant: a worker may claim any number of false names."""
        self._slips.add(name)
        return len(self._slips) <= SUGGESTED

    @cached_property
    def _stems(self) -> Mapping[str, list[str]]:
        """The sources by their name without what names its kind."""
        found: dict[str, list[str]] = {}
        for path in self.graph.by_path:
            if family_of(path):
                found.setdefault(_stemmed(path).rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def _externals(self) -> tuple[str, ...]:
        return self.graph.externals()

    def _resolve(self, name: str) -> Meaning:
        if name in self.graph.nodes:
            return Found(whole(self.graph, (name,)))
        if name in self.territory.scopes:
            found = self._of_files(self.territory.files(name, self.graph.by_path))
            return found or Unknown(NameKind.MODULE)
        if "::" in name:
            return self._scoped(name)
        if "/" in name:
            folder = name.rstrip("/") + "/"
            found = self._of_files(path for path in self.graph.by_path if path.startswith(folder))
            return found or Unknown(NameKind.PATH, (name,))
        if "." in name:
            return self._dotted(name)
        return self._bare(name)

    def _scoped(self, name: str) -> Meaning:
        """Read `path::Name` as what that file holds, anything else as Rust and C++ write a dotted name."""
        path, _, inside = name.partition("::")
        dotted = inside.replace("::", ".")
        if path in self.graph.by_path:
            held = [node.id for node in self.graph.by_path[path] if node.id != path and _ends(node, dotted)]
            exact = f"{path}::{dotted}"
            return self._one_of([exact] if exact in held else held) or Unknown(NameKind.DOTTED, (path,))
        if "/" in path:
            return Unknown(NameKind.PATH, (path,))
        parts = [part for part in name.split("::") if part not in _AT_HOME]
        return self.resolve(".".join(parts)) if parts else Unknown(NameKind.BARE)

    def _of_files(self, paths: Iterable[str]) -> Found | None:
        ids = frozenset(node.id for path in paths for node in self.graph.by_path[path])
        return Found(ids) if ids else None

    def _one_of(self, ids: Iterable[str]) -> Found | Ambiguous | None:
        candidates = tuple(dict.fromkeys(ids))
        if len(candidates) > 1 and not one_thing(self.graph, candidates):
            return Ambiguous(tuple(sorted(candidates)))
        return Found(whole(self.graph, candidates)) if candidates else None

    def _dotted(self, name: str) -> Meaning:
        parts = name.split(".")
        symbols = [node.id for node in self.graph.by_leaf.get(parts[-1], ()) if _ends(node, name)]
        if found := self._one_of(symbols):
            return found
        for length in range(len(parts), 0, -1):
            places = self.linker.anywhere(".".join(parts[:length]))
            targets = [target for place in places for target in self._within(place, parts[length:])]
            if found := self._places(targets):
                return found
        elsewhere = self._below_path(parts) or self._files_at(parts) or self._external(name)
        return elsewhere or self._unknown_dotted(parts)

    def _below_path(self, parts: list[str]) -> Found | Ambiguous | None:
        """Find a symbol whose file or folder the first parts name: `pricing.Engine` in `shop/pricing/engine.go`."""
        dotted, found = ".".join(parts), []
        for node in self.graph.by_leaf.get(parts[-1], ()):
            if dotted.endswith(f".{node.name}"):
                above = dotted[: -len(node.name) - 1].replace(".", "/")
                if any(f"/{each}".endswith(f"/{above}") for each in _above(node.path)):
                    found.append(node.id)
        return self._one_of(found)

    def _files_at(self, parts: list[str]) -> Found | Ambiguous | None:
        """Find the file that the parts name from the right: `pricing.engine` for `shop/pricing/engine.go`."""
        end = "/" + "/".join(parts)
        return self._same_place([each for each in self._stems.get(parts[-1], ()) if _stemmed(each).endswith(end)])

    def _same_place(self, paths: list[str]) -> Found | Ambiguous | None:
        """Take a source and its header for one place."""
        same = len({(_stemmed(path), family_of(path)) for path in paths}) == 1
        return self._of_files(paths) if same else self._one_of(paths)

    def _external(self, name: str) -> Found | None:
        """Find what some file imports under this name, as written, from outside the repository."""
        if f"ext:{name}" in self.graph.nodes:
            return Found(frozenset({f"ext:{name}"}))
        ends = (*(f"ext:{name}{mark}" for mark in "./:"), f"ext:<{name}/", f"ext:<{name}.h>")
        found = frozenset(node for node in self._externals if node.startswith(ends))
        return Found(found) if found else None

    def _within(self, place: str, parts: list[str]) -> list[str]:
        targets = [Target(place)]
        for part in parts:
            targets = [found for target in targets for found in self.linker.attribute(target, part)]
        return [target.id for target in targets]

    def _places(self, ids: list[str]) -> Found | Ambiguous | None:
        """Take a package for everything beneath it, anything else for itself."""
        if len(set(ids)) == 1 and "::" not in ids[0]:
            folder = self.linker.folder(ids[0])
            if folder is not None:
                return self._of_files(path for path in self.graph.by_path if path.startswith(f"{folder}/"))
        return self._one_of(ids)

    def _unknown_dotted(self, parts: list[str]) -> Unknown:
        """Say in which files the name would be looked for; none of its start known: it may be born anywhere."""
        owners = [node.path for node in self.graph.by_leaf.get(parts[0], ()) if node.kind is NodeKind.CLASS]
        if owners:
            return Unknown(NameKind.DOTTED, tuple(owners))
        dotted = ".".join(parts)
        places = self.linker.candidates(dotted)
        return Unknown(NameKind.DOTTED, places) if places else Unknown(NameKind.BARE, (dotted,))

    def _bare(self, name: str) -> Meaning:
        nodes = self.graph.by_leaf.get(name, ())
        top = [node for node in nodes if "." not in node.name and node.kind is not NodeKind.VARIABLE]
        inner = [node for node in nodes if "." in node.name and node.kind is not NodeKind.VARIABLE]
        plain = [node for node in nodes if "." not in node.name]
        for tier in (top, inner, plain, nodes):
            if found := self._one_of(node.id for node in tier):
                return found
        modules = [each for each in self.territory.scopes if each.rpartition("/")[2] == name]
        if len(modules) == 1 and isinstance(meant := self.resolve(modules[0]), Found):
            return meant
        found = (
            self._same_place(self._stems.get(name, []))
            or self._places(list(self.linker.anywhere(name)))
            or self._external(name)
        )
        return found or Unknown(NameKind.BARE)


def _ends(node: Node, dotted: str) -> bool:
    return node.name == dotted or node.name.endswith(f".{dotted}")


def _stemmed(path: str) -> str:
    """Return the path without what names its kind, from the root: `/shop/pricing/engine`."""
    folder, _, name = f"/{path}".rpartition("/")
    return f"{folder}/{name.rpartition('.')[0] or name}"


def _above(path: str) -> tuple[str, str]:
    """Return what may stand for a file before the names in it: the file without its ending, and its folder."""
    return _stemmed(path), path.rpartition("/")[0]
