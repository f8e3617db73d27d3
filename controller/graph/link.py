"""From the facts of files to one graph: imports are resolved, names followed through them, re-exports seen through.

Edges belong to the file they start in, so one file can be linked again on its own (`Linker.file_edges`).
"""

from collections.abc import Mapping
from typing import NamedTuple

from controller.graph.facts import Definition, FileFacts, Import, Reference
from controller.graph.model import Graph
from controller.graph.modules import ModuleIndex
from packets.graph import Edge, EdgeKind, Node, NodeKind

_DEEPEST = 24
"""Steps of one name through re-exports and bases; deeper is a loop."""

_LONGEST = 2000
"""Steps of one name in all directions."""

_NO_CUT = 1 << 30


class Target(NamedTuple):
    """Where a name leads. `via` is the file that was asked when another one defines it."""

    id: str
    via: str = ""


class FileEdges(NamedTuple):
    """Edges that start in one file; `holes` are (line, name as written) that lead nowhere or not to their end."""

    edges: tuple[Edge, ...]
    holes: frozenset[tuple[int, str]]


class Linker:
    """Resolves names over the facts of one tree. `found` maps every path to its facts, non-sources to empty ones."""

    def __init__(self, found: Mapping[str, FileFacts]) -> None:
        self.facts = found
        imported = {
            each.module for facts in found.values() for each in facts.imports if not each.module.startswith(".")
        }
        self.index = ModuleIndex(found, imported)
        self._definitions: dict[str, dict[str, Definition]] = {}
        self._bindings: dict[str, dict[tuple[str, str], list[Import]]] = {}
        self._bases: dict[str, dict[str, list[Reference]]] = {}
        self._names: dict[tuple[str, str, str], tuple[Target, ...]] = {}
        self._stars: dict[str, tuple[str, ...]] = {}
        self._open: dict[tuple[str, str, str], int] = {}
        self._cut = _NO_CUT
        self._steps = 0
        self._edges: dict[str, FileEdges] = {}
        self._methods: dict[str, list[str]] = {}
        for path, facts in found.items():
            for each in facts.definitions:
                if each.kind == "method":
                    self._methods.setdefault(each.qual.rpartition(".")[2], []).append(f"{path}::{each.qual}")

    def definitions(self, path: str) -> Mapping[str, Definition]:
        """Return the definitions of a file by their name inside it."""
        if path not in self._definitions:
            self._definitions[path] = {each.qual: each for each in self.facts[path].definitions}
        return self._definitions[path]

    def file_edges(self, path: str) -> FileEdges:
        """Link one file."""
        if path not in self._edges:
            self._edges[path] = _FileLink(self, path).link()
        return self._edges[path]

    def graph(self) -> Graph:
        """Link everything."""
        nodes: dict[str, Node] = {}
        edges: list[Edge] = []
        for path in self.facts:
            nodes[path] = Node(path, NodeKind.FILE, path, path, 1)
            for each in self.facts[path].definitions:
                found = f"{path}::{each.qual}"
                nodes[found] = Node(found, NodeKind(each.kind), each.qual, path, each.line, each.signature)
            edges.extend(self.file_edges(path).edges)
        for edge in edges:
            if edge.target.startswith("ext:") and edge.target not in nodes:
                nodes[edge.target] = Node(edge.target, NodeKind.EXTERNAL, edge.target[4:], "", 0)
        return Graph({key: nodes[key] for key in sorted(nodes)}, tuple(sorted(edges)))

    def only_method(self, name: str) -> str | None:
        """Return the one method of this name in the whole tree, if there is one."""
        found = self._methods.get(name, ())
        return found[0] if len(found) == 1 else None

    def imports(self, path: str, scope: str, name: str) -> list[Import]:
        """Return the imports that bind a name in a scope of a file."""
        if path not in self._bindings:
            bound: dict[tuple[str, str], list[Import]] = {}
            for each in self.facts[path].imports:
                bound.setdefault((each.scope, each.bound), []).append(each)
            self._bindings[path] = bound
        return self._bindings[path].get((scope, name), [])

    def name(self, path: str, scope: str, name: str, depth: int = 0) -> tuple[Target, ...]:
        """Return where a name bound in a scope of a file leads: several where an import has a fallback.

        Re-exports may go in circles. What was found while an outer question was still open is kept only when it did not
        need that question's answer; so the answers do not depend on who asks first.
        """
        key = (path, scope, name)
        if key in self._names:
            return self._names[key]
        if not self._open:
            self._steps, self._cut = 0, _NO_CUT
        if key in self._open or depth > _DEEPEST or self._steps > _LONGEST:
            self._cut = min(self._cut, self._open.get(key, 0))
            return ()
        level, outer = len(self._open), self._cut
        self._open[key], self._cut = level, _NO_CUT
        self._steps += 1
        found = self._name(path, scope, name, depth)
        del self._open[key]
        if self._cut >= level:
            self._names[key], self._cut = found, outer
        else:
            self._cut = min(outer, self._cut)
        return found

    def _name(self, path: str, scope: str, name: str, depth: int) -> tuple[Target, ...]:
        qual = f"{scope}.{name}" if scope else name
        found = [Target(f"{path}::{qual}")] if qual in self.definitions(path) else []
        for each in self.imports(path, scope, name):
            found += self.imported(path, each, depth + 1)
        if not found and not scope:
            for place in self._stars_of(path):
                if self._exports(place, name):
                    found += [_through(t, place) for t in self.name(place, "", name, depth + 1)]
        return tuple(dict.fromkeys(found))

    def _stars_of(self, path: str) -> tuple[str, ...]:
        """Return the files of which a file imports everything."""
        if path not in self._stars:
            places = (self.place(path, each.module) or "" for each in self.imports(path, "", "*"))
            self._stars[path] = tuple(place for place in places if place in self.facts and place != path)
        return self._stars[path]

    def _exports(self, place: str, name: str) -> bool:
        exports = self.facts[place].exports
        return not name.startswith("_") if exports is None else name in exports

    def place(self, path: str, module: str) -> str | None:
        """Return the place of a module as a file writes it."""
        return self.index.relative(module, path) if module.startswith(".") else self.index.find(module, path)

    def imported(self, path: str, each: Import, depth: int = 0) -> list[Target]:
        """Return what one import binds; nothing when it is external or missing."""
        place = self.place(path, each.denotes)
        if place is None:
            return []
        return [Target(place)] if not each.symbol else self.attribute(Target(place), each.symbol, depth)

    def attribute(self, start: Target, name: str, depth: int = 0) -> list[Target]:
        """Follow one attribute of a module, a namespace or a class."""
        if depth > _DEEPEST:
            return []
        path, _, qual = start.id.partition("::")
        if qual:
            return self._member(start, name, depth + 1)
        inside = self.index.submodule(path, name)
        if path in self.facts and (named := self.name(path, "", name, depth + 1)):
            found = [Target(t.id) if t.id == inside else _through(t, path) for t in named]
            return [target._replace(via=start.via) if start.via else target for target in found]
        return [Target(inside)] if inside else []

    def _member(self, start: Target, name: str, depth: int) -> list[Target]:
        path, _, qual = start.id.partition("::")
        if name != "super()":
            if f"{qual}.{name}" in self.definitions(path):
                return [start._replace(id=f"{path}::{qual}.{name}")]
            if found := [t for t in self.name(path, qual, name, depth) if self.imports(path, qual, name)]:
                return list(found)
        found = []
        for base in self._bases_of(path, qual):
            for target in self.follow(path, base.scope, base.root, base.attrs, depth)[0]:
                found += [target] if name == "super()" else self.attribute(target, name, depth + 1)
            if found and name != "super()":
                break
        return found

    def _bases_of(self, path: str, qual: str) -> list[Reference]:
        if path not in self._bases:
            bases: dict[str, list[Reference]] = {}
            for each in self.facts[path].references:
                if each.kind == EdgeKind.INHERITS:
                    bases.setdefault(each.source, []).append(each)
            self._bases[path] = bases
        return self._bases[path].get(qual, [])

    def follow(
        self, path: str, scope: str, root: str, attrs: tuple[str, ...], depth: int = 0
    ) -> tuple[list[Target], bool]:
        """Return where a dotted name leads, and whether to its end: else to the deepest part that is known."""
        if depth > _DEEPEST:
            return [], False
        targets: list[Target] = list(self.name(path, scope, root, depth + 1))
        if not targets:
            return [], False
        for attr in attrs:
            following = [found for target in targets for found in self.attribute(target, attr, depth + 1)]
            if not following:
                return targets, False
            targets = list(dict.fromkeys(following))
        return targets, True


def _through(target: Target, place: str) -> Target:
    """Note the file that was asked, where another one defines the name."""
    return target if target.via or target.id.partition("::")[0] == place else target._replace(via=place)


class _FileLink:
    """Edges of one file."""

    def __init__(self, linker: Linker, path: str) -> None:
        self.linker = linker
        self.path = path
        self.found: dict[tuple[str, str, str, bool, str], int] = {}
        self.holes: set[tuple[int, str]] = set()

    def link(self) -> FileEdges:
        facts = self.linker.facts[self.path]
        for definition in facts.definitions:
            parent = definition.qual.rpartition(".")[0]
            while parent and parent not in self.linker.definitions(self.path):
                parent = parent.rpartition(".")[0]
            self._add(parent, Target(f"{self.path}::{definition.qual}"), EdgeKind.DEFINES, definition.line)
        for each in facts.imports:
            self._import(each)
        for reference in facts.references:
            self._reference(reference)
        edges = (
            Edge(source, target, EdgeKind(kind), line, resolved, via)
            for (source, target, kind, resolved, via), line in self.found.items()
        )
        return FileEdges(tuple(sorted(edges)), frozenset(self.holes))

    def _add(self, source: str, target: Target, kind: EdgeKind, line: int, *, resolved: bool = True) -> None:
        start = f"{self.path}::{source}" if source else self.path
        via = target.via if target.via not in (self.path, target.id) else ""
        if start == target.id or target.id.endswith("/"):
            return
        key = (start, target.id, str(kind), resolved, via)
        self.found[key] = min(line, self.found.get(key, line))

    def _import(self, each: Import) -> None:
        place = self.linker.place(self.path, each.module)
        if place is None:
            self._external(each)
            return
        named = self.linker.imported(self.path, each) if each.symbol not in ("", "*") else []
        if each.symbol not in ("", "*") and not named:
            self.holes.add((each.line, each.symbol))
        submodule = [target for target in named if "::" not in target.id and not target.via]
        if not submodule:
            self._add(each.scope, Target(place), EdgeKind.IMPORTS, each.line)
        for target in named:
            self._add(each.scope, target, EdgeKind.IMPORTS, each.line)

    def _external(self, each: Import) -> None:
        self.holes.add((each.line, f"{each.module}:{each.symbol}"))
        self._add(each.scope, Target(f"ext:{each.module}"), EdgeKind.IMPORTS, each.line)

    def _reference(self, each: Reference) -> None:
        if each.root:
            targets, complete = self.linker.follow(self.path, each.scope, each.root, each.attrs)
            kind = EdgeKind(each.kind) if complete else EdgeKind.USES
            around = f"{self.path}::{each.source}"
            for target in targets:
                if complete or not around.startswith(f"{target.id}."):  # an unknown attribute of self says nothing
                    self._add(each.source, target, kind, each.line)
            if complete:
                return
            self.holes.add((each.line, ".".join((each.root, *each.attrs))))
            if not targets:
                return
        if each.kind == EdgeKind.CALLS and (only := self.linker.only_method(each.attrs[-1])):
            self._add(each.source, Target(only), EdgeKind.CALLS, each.line, resolved=False)


def link(found: Mapping[str, FileFacts]) -> Graph:
    """Link the facts of a whole tree into its graph."""
    return Linker(found).graph()
