"""The graph of a stored tree: the same mappings as any graph, each entry read when it is asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from controller.graph.link import external, file_nodes, guessed_edges
from controller.graph.model import Graph, grouped
from controller.graph.store.stored import StoredWorld, leaf, parted
from packets.nodes import Edge, Node, NodeKind

_V = TypeVar("_V")


class Lazy(Mapping[str, _V]):
    """A mapping that asks for each value once; only who walks over it needs all keys."""

    def __init__(self, ask: Callable[[str], _V | None], keys: Callable[[], Mapping[str, Any]]) -> None:
        self._ask = ask
        self._keys = keys
        self._known: dict[str, _V | None] = {}

    def __getitem__(self, key: str) -> _V:
        if key not in self._known:
            self._known[key] = self._ask(key)
        found = self._known[key]
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())


class StoredGraph(Graph):
    """A graph whose neighbourhoods cost what they hold. Walking over all nodes or edges loads them all."""

    def __init__(self, world: StoredWorld) -> None:
        super().__init__({}, ())
        self.world = world
        self._files: dict[str, Mapping[str, Node]] = {}
        self._outgoing: dict[str, Mapping[str, tuple[Edge, ...]]] = {}

    @cached_property
    def all(self) -> Graph:
        """Everything, in memory."""
        nodes: dict[str, Node] = {}
        edges: list[Edge] = []
        for path in self.world.paths:
            nodes |= self._nodes_of(path)
            edges += [edge for found in self._edges_of(path).values() for edge in found]
        nodes |= {edge.target: external(edge.target) for edge in edges if edge.target.startswith("ext:")}
        return Graph({key: nodes[key] for key in sorted(nodes)}, tuple(sorted(edges)))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, sorted."""
        return self.all.edges

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        """Nodes by id, in order of id."""
        return Lazy(self._node, lambda: self.all.nodes)

    @cached_property
    def outgoing(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their source."""
        return Lazy(lambda node: self._edges_of(self._path(node)).get(node), lambda: self.all.outgoing)

    @cached_property
    def incoming(self) -> Mapping[str, tuple[Edge, ...]]:
        """Edges by their target."""
        return Lazy(self._incoming, lambda: self.all.incoming)

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Node, ...]]:
        """Nodes by the file they stand in, the file itself first."""
        return Lazy(self._in_order, lambda: dict.fromkeys(self.world.paths))

    @cached_property
    def by_leaf(self) -> Mapping[str, tuple[Node, ...]]:
        """Symbols by the last part of their name."""
        return Lazy(self._of_leaf, self._leaves)

    def externals(self) -> tuple[str, ...]:
        """Return the ids of what is imported from outside, sorted."""
        return self.world.read(
            lambda state: tuple(sorted(each for each, _ in state.users.items() if each.startswith("ext:")))
        )

    def edges_of(self, path: str) -> Iterable[Edge]:
        """Return the edges that start in a file."""
        return (edge for found in self._edges_of(path).values() for edge in found)

    def users_of(self, node_id: str) -> tuple[str, ...]:
        """Return the other files with a resolved edge to a node, sorted; none of them is read."""
        path, _, name = node_id.partition("::")
        numbers = (self.world.read(lambda state: state.users.get(path)) or {}).get(name, ())
        found: list[str] = self.world.read(lambda state: sorted(state.all_paths(set(numbers))))
        return tuple(each for each in found if each != path)

    def differing(self, other: Graph) -> set[str] | None:
        """Return the files and the externals in which two graphs differ."""
        if not isinstance(other, StoredGraph):
            return None
        pairs = (
            self.world.read(
                lambda mine: other.world.read(
                    lambda theirs: [each[0] for each in mine.shelves[name].differing(theirs.shelves[name])]  # noqa: B023
                )
            )
            for name in ("files", "users")
        )
        files, users = pairs
        return {*files, *(each for each in users if each.startswith("ext:"))}

    def _node(self, node_id: str) -> Node | None:
        if node_id.startswith("ext:"):
            used = self.world.read(lambda state: state.users.get(node_id))
            return external(node_id) if used else None
        return self._nodes_of(self._path(node_id)).get(node_id)

    def _path(self, node_id: str) -> str:
        """Return the file of a node; a path may hold `::` itself."""
        places = (node_id.partition("::")[0], node_id, node_id.rpartition("::")[0])
        return next((each for each in places if self.world.entry(each) is not None), "")

    def _nodes_of(self, path: str) -> Mapping[str, Node]:
        if path not in self._files:
            facts = self.world.file(path)
            self._files[path] = {} if facts is None else {n.id: n for n in file_nodes(path, facts.definitions)}
        return self._files[path]

    def _in_order(self, path: str) -> tuple[Node, ...] | None:
        return tuple(sorted(self._nodes_of(path).values(), key=lambda node: (node.line, node.id))) or None

    def _edges_of(self, path: str) -> Mapping[str, tuple[Edge, ...]]:
        if path not in self._outgoing:
            found = self.world.file_link(path)
            guessed = guessed_edges(path, found.guesses, self.world.only_method)
            self._outgoing[path] = grouped((edge.source, edge) for edge in sorted((*found.edges, *guessed)))
        return self._outgoing[path]

    def _incoming(self, node_id: str) -> tuple[Edge, ...] | None:
        home, name = parted(node_id)
        numbers = set((self.world.read(lambda state: state.users.get(home)) or {}).get(name, ()))
        if name and self.world.only_method(leaf(name)) == node_id:
            numbers.update(self.world.named(leaf(name)).get("g", ()))
        paths = self.world.read(lambda state: sorted(state.all_paths(numbers)))
        edges = (edge for each in paths for found in self._edges_of(each).values() for edge in found)
        return tuple(sorted(edge for edge in edges if edge.target == node_id)) or None

    def _of_leaf(self, name: str) -> tuple[Node, ...] | None:
        numbers = self.world.named(name).get("d", ())
        paths = self.world.read(lambda state: sorted(state.all_paths(numbers)))
        nodes = [node for path in paths for node in self._nodes_of(path).values() if node.kind is not NodeKind.FILE]
        return tuple(sorted((n for n in nodes if leaf(n.name) == name), key=lambda node: node.id)) or None

    def _leaves(self) -> Mapping[str, Any]:
        known = self.world.read(lambda state: list(state.names.items()))
        return dict.fromkeys(sorted(name for name, said in known if said.get("d")))
