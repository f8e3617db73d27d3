"""From the facts of files to one graph.

Edges belong to the file they start in, so one file can be linked again on its own (`Linker.file_edges`).
"""

from collections.abc import Mapping
from typing import NamedTuple

from controller.graph.facts import FileFacts, Import, Reference
from controller.graph.model import Graph
from controller.graph.resolve import Resolver, Target
from packets.graph import Edge, EdgeKind, Node, NodeKind


class FileEdges(NamedTuple):
    """Edges that start in one file; `holes` are (line, name as written) that lead nowhere or not to their end."""

    edges: tuple[Edge, ...]
    holes: frozenset[tuple[int, str]]


class Linker(Resolver):
    """Makes edges of what the files of one tree say."""

    def __init__(self, found: Mapping[str, FileFacts]) -> None:
        super().__init__(found)
        self._edges: dict[str, FileEdges] = {}
        self._methods: dict[str, list[str]] = {}
        for path, facts in found.items():
            for each in facts.definitions:
                if each.kind == "method":
                    self._methods.setdefault(each.qual.rpartition(".")[2], []).append(f"{path}::{each.qual}")

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
        called = {(key[0], key[1]) for key in self.found if key[2] in (EdgeKind.CALLS, EdgeKind.INHERITS) and key[3]}
        edges = (
            Edge(source, target, EdgeKind(kind), line, resolved, via)
            for (source, target, kind, resolved, via), line in self.found.items()
            if kind != EdgeKind.USES or (source, target) not in called  # a call says it all
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
        if not each.denotes:  # another name for what this file has: a dependency only where it is used
            return
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
