"""From the facts of files to one graph.

Edges belong to the file they start in, so one file can be linked again on its own (`Linker.file_edges`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from controller.graph.facts import Definition, FileFacts, Import, Reference
from controller.graph.language import exported
from controller.graph.model import Graph
from controller.graph.resolve import Resolver, Target
from controller.graph.world import NO_FILE, World
from packets.nodes import Edge, EdgeKind, Node, NodeKind


class FileEdges(NamedTuple):
    """Edges that start in one file; `holes` are (line, name as written) that lead nowhere or not to their end."""

    edges: tuple[Edge, ...]
    holes: frozenset[tuple[int, str]]


class FileLink(NamedTuple):
    """What one file leads to. `guesses` are calls of a bare method name: (source, name, line), a note and no edge.

    What they lead to depends on every file of the tree, so it is looked up when somebody asks (`guessed`).
    """

    edges: tuple[Edge, ...]
    guesses: tuple[tuple[str, str, int], ...]
    holes: frozenset[tuple[int, str]]


class Linker(Resolver):
    """Makes edges of what the files of one tree say. `facts` has every path; those of non-sources are empty."""

    def __init__(self, found: Mapping[str, FileFacts], world: World | None = None) -> None:
        super().__init__(world or World(found), 4_000)
        self.facts: Mapping[str, FileFacts] = found
        self._edges: dict[str, FileEdges] = {}

    def file_edges(self, path: str) -> FileEdges:
        """Link one file; calls by a bare name lead to the one method of this name in the tree."""
        if path not in self._edges:
            found = self.link(path)
            guessed = guessed_edges(path, found.guesses, self.only_method)
            self._edges[path] = FileEdges(tuple(sorted((*found.edges, *guessed))), found.holes)
        return self._edges[path]

    def link(self, path: str) -> FileLink:
        """Link one file anew. What is asked meanwhile stands in `world.trace`, if there is one."""
        return link_file(self.world, path)

    def graph(self) -> Graph:
        """Link everything."""
        nodes: dict[str, Node] = {}
        edges: list[Edge] = []
        for path in self.facts:
            nodes |= {node.id: node for node in file_nodes(path, self.facts[path].definitions)}
            edges.extend(self.file_edges(path).edges)
        nodes |= {edge.target: external(edge.target) for edge in edges if edge.target.startswith("ext:")}
        return Graph({key: nodes[key] for key in sorted(nodes)}, tuple(sorted(edges)))

    def only_method(self, name: str) -> str | None:
        """Return the one method of this name in the whole tree, if there is one."""
        return self.world.only_method(name)


def link_file(world: World, path: str) -> FileLink:
    """Link one file of a tree."""
    return _FileLink(world, path).link()


def file_nodes(path: str, definitions: Iterable[Definition]) -> Iterator[Node]:
    """Yield the node of a file and those of what it defines."""
    yield Node(path, NodeKind.FILE, path, path, 1)
    for each in definitions:
        yield Node(f"{path}::{each.qual}", NodeKind(each.kind), each.qual, path, each.line, each.signature)


def external(node_id: str) -> Node:
    """Return the node of what lies outside the repository."""
    return Node(node_id, NodeKind.EXTERNAL, node_id[4:], "", 0)


def guessed_edges(
    path: str, guesses: Iterable[tuple[str, str, int]], only_method: Callable[[str], str | None]
) -> Iterator[Edge]:
    """Yield the edges of calls that are matched by their bare name alone."""
    for source, name, line in guesses:
        start = f"{path}::{source}" if source else path
        target = only_method(name)
        if target and target != start:
            yield Edge(start, target, EdgeKind.CALLS, line, resolved=False)


class _FileLink:
    """Edges of one file."""

    def __init__(self, world: World, path: str) -> None:
        self.path = path
        self.facts = world.whole(path) or NO_FILE
        self.own = world.definitions(path)
        self.linker = Resolver(world, len(self.facts.references))
        self.found: dict[tuple[str, str, str, str], int] = {}
        self.guesses: dict[tuple[str, str], int] = {}
        self.holes: set[tuple[int, str]] = set()

    def link(self) -> FileLink:
        for definition in self.facts.definitions:
            parent = definition.qual.rpartition(".")[0]
            while parent and parent not in self.own:
                parent = parent.rpartition(".")[0]
            self._add(parent, Target(f"{self.path}::{definition.qual}"), EdgeKind.DEFINES, definition.line)
        for each in self.facts.imports:
            self._import(each)
        for reference in self.facts.references:
            self._reference(reference)
        called = {(key[0], key[1]) for key in self.found if key[2] in (EdgeKind.CALLS, EdgeKind.INHERITS)}
        edges = (
            Edge(source, target, EdgeKind(kind), line, True, via)  # noqa: FBT003 - a tuple of the graph, built by the thousand
            for (source, target, kind, via), line in self.found.items()
            if kind != EdgeKind.USES or (source, target) not in called  # a call says it all
        )
        guesses = sorted((source, name, line) for (source, name), line in self.guesses.items())
        return FileLink(tuple(sorted(edges)), tuple(guesses), frozenset(self.holes))

    def _add(self, source: str, target: Target, kind: EdgeKind, line: int) -> None:
        start = f"{self.path}::{source}" if source else self.path
        via = target.via if target.via not in (self.path, target.id) else ""
        if start == target.id or target.id.endswith("/"):
            return
        key = (start, target.id, str(kind), via)
        self.found[key] = min(line, self.found.get(key, line))

    def _import(self, each: Import) -> None:
        if not each.denotes or not each.module:  # another name, not written as an import: a dependency where it is used
            return
        place = self.linker.place(self.path, each.module)
        if place == self.path:
            return
        if place is None:
            self._external(each)
            return
        named = self.linker.imported(self.path, each) if each.symbol not in ("", "*") else []
        if each.symbol not in ("", "*") and not named:
            self.holes.add((each.line, each.symbol))
        holder = "" if each.scope == exported(self.path) else each.scope  # what only exports stands in the file
        submodule = [target for target in named if "::" not in target.id and not target.via]
        if not submodule:
            self._add(holder, Target(place), EdgeKind.IMPORTS, each.line)
        for target in named:
            self._add(holder, target, EdgeKind.IMPORTS, each.line)

    def _external(self, each: Import) -> None:
        self.holes.add((each.line, f"{each.module}:{each.symbol}"))
        holder = "" if each.scope == exported(self.path) else each.scope
        self._add(holder, Target(f"ext:{each.module}"), EdgeKind.IMPORTS, each.line)

    def _reference(self, each: Reference) -> None:
        if each.root:
            targets, complete = self.linker.follow(self.path, each.scope, each.root, each.attrs)
            kind = EdgeKind(each.kind) if complete else EdgeKind.USES
            if kind is EdgeKind.CALLS and len(targets) > 1:  # what is called is no module where Rust has both of a name
                targets = [target for target in targets if "::" in target.id] or targets
            around = f"{self.path}::{each.source}"
            for target in targets:
                if complete or not around.startswith(f"{target.id}."):  # an unknown attribute of self says nothing
                    self._add(each.source, target, kind, each.line)
            if complete:
                return
            self.holes.add((each.line, ".".join((each.root, *each.attrs))))
            if not targets:
                return
        if each.kind == EdgeKind.CALLS:
            key = (each.source, each.attrs[-1])
            self.guesses[key] = min(each.line, self.guesses.get(key, each.line))


def link(found: Mapping[str, FileFacts]) -> Graph:
    """Link the facts of a whole tree into its graph."""
    return Linker(found).graph()
