"""One tree's world, read from its shelves as it is asked: no question costs more than what it is about."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self, TypeVar

from controller.graph.facts import NOTHING, FileFacts
from controller.graph.language import Files, family_of, kind_of
from controller.graph.link import FileLink, Linker
from controller.graph.store.reading import Reading
from controller.graph.store.shelf import Lost
from controller.graph.store.state import State
from controller.graph.world import World, absolute_modules, marked, said
from packets.nodes import Edge, EdgeKind

_T = TypeVar("_T")

_GROUP = 8
"""Bytes that tell a group of files from another."""


class LazyFacts(Mapping[str, FileFacts]):
    """The facts of a tree by path, in order; each is read when it is asked for."""

    def __init__(self, world: "StoredWorld") -> None:
        self._world = world

    def __getitem__(self, path: str) -> FileFacts:
        found = self._world.whole(path)
        if found is None:
            raise KeyError(path)
        return found

    def __contains__(self, path: object) -> bool:
        return self._world.entry(str(path)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._world.paths)

    def __len__(self) -> int:
        return self._world.state.files.count


class StoredWorld(World):
    """A `World` over a `State`. What it remembers besides is right for any tree with the same answers."""

    def __init__(self, state: State, reading: Reading) -> None:
        super().__init__({})
        self.state = state
        self.recover: Callable[[], State] | None = None
        self.reading = reading
        self.facts = LazyFacts(self)
        self.imported: dict[str, Watched] = {}
        self.looked: set[str] = set()
        self.remembered: dict[str, dict[str, Any]] = {}
        self._entries: dict[str, list[str] | None] = {}

    def settled(self, state: State) -> Self:
        """Take the final state of the same files."""
        self.state = state
        self._entries.clear()
        return self

    def read(self, question: Callable[[State], _T]) -> _T:
        """Ask the state; what is no longer stored is made again."""
        try:
            return question(self.state)
        except Lost:
            if self.recover is None:
                raise
            self.settled(self.recover())
            return question(self.state)

    def entry(self, path: str) -> list[str] | None:
        """Return blob and link of a path; None where there is none."""
        if path not in self._entries:
            self._entries[path] = self.read(lambda state: state.files.get(path))
        return self._entries[path]

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """All paths, sorted."""
        return tuple(self.read(lambda state: sorted(path for path, _ in state.files.items())))

    def file(self, path: str) -> FileFacts | None:
        """Return what others may ask about a file."""
        entry = self.entry(path)
        if entry is None:
            return None
        return self.reading.surface(kind_of(path), entry[0]) if entry[0] else NOTHING

    def whole(self, path: str) -> FileFacts | None:
        """Return all that a file says."""
        entry = self.entry(path)
        if entry is None:
            return None
        return self.reading.whole(kind_of(path), entry[0]) if entry[0] else NOTHING

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        if self.trace is not None:
            self.trace.add((path, "x", ""))
        return self.entry(path) is not None

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that have a file here, sorted."""
        return tuple(sorted(name for name, each in self.state.families.items() if each.count))

    def named(self, leaf_name: str) -> Mapping[str, Any]:
        """Return who says, defines and calls names that end so, as the shelf `names` has it."""
        return self.read(lambda state: state.names.get(leaf_name)) or {}

    def _under(self, name: str) -> tuple[str, ...]:
        numbers = self.named(leaf(name)).get("s", {}).get(name, ())
        paths = sorted(self.read(lambda state: list(state.all_paths(numbers))))
        return tuple(paths) if len(paths) == len(numbers) else tuple(p for p in paths if name in said(self._there(p)))

    def only_method(self, name: str) -> str | None:
        """Return the one method of this name in the whole tree, if there is one."""
        numbers = self.named(name).get("m", ())
        if len(numbers) != 1:
            return None
        found = [
            f"{path}::{each.qual}"
            for path in self.read(lambda state: state.paths(numbers[0]))
            for each in self._there(path).definitions
            if each.kind == "method" and leaf(each.qual) == name
        ]
        return found[0] if len(found) == 1 else None

    def _there(self, path: str) -> FileFacts:
        return self.file(path) or NOTHING

    # --- ecosystems

    def files(self, family: str) -> Files:
        """Return what the ecosystem of a family may know of this tree; it is noted whether it looks at imports."""
        known = self.read(lambda state: list(state.settings.items()))
        settings = {path: each for path, each in known if family_of(path) == family}
        start, counted = f"{family}\t", self.read(lambda state: [key for key, _ in state.modules.items()])
        modules = frozenset(key[len(start) :] for key in counted if key.startswith(start))
        self.imported[family] = Watched(modules)
        return Files(frozenset(self.paths), settings, self.imported[family])

    def _place(self, family: str, module: str, importer: str) -> str | None:
        known = self._known(importer)
        asked = f"p{module}"
        return known[asked] if asked in known else super()._place(family, module, importer)

    def _submodule(self, family: str, place: str, name: str) -> str | None:
        known = self._known(marked(family, place))
        asked = f"s{name}"
        return known[asked] if asked in known else super()._submodule(family, place, name)

    def _group(self, family: str, place: str) -> tuple[str, ...]:
        known = self._known(marked(family, place))
        return () if known.get("g") == "" else super()._group(family, place)

    def _known(self, home: str) -> Mapping[str, Any]:
        return self.read(lambda state: state.answers.get(home)) or {}

    # --- links

    def file_link(self, path: str) -> FileLink:
        """Return what a file leads to, as it was stored."""
        stored = self.read(lambda state: state.link(path))
        edges = (
            Edge(f"{path}::{source}" if source else path, target, EdgeKind(kind), line, True, via)  # noqa: FBT003
            for source, target, kind, line, via in stored.get("e", ())
        )
        guesses = tuple((source, name, line) for source, name, line in stored.get("g", ()))
        return FileLink(tuple(edges), guesses, frozenset((line, name) for line, name in stored.get("h", ())))


class StoredLinker(Linker):
    """A `Linker` that reads what was linked before."""

    def __init__(self, world: StoredWorld) -> None:
        super().__init__(world.facts, world)
        self.stored = world

    def link(self, path: str) -> FileLink:
        """Return the link of a file."""
        return self.stored.file_link(path)


class Watched(AbstractSet[str]):
    """A set that knows whether anybody looked into it."""

    def __init__(self, inner: frozenset[str]) -> None:
        self._inner = inner
        self.looked = False

    def __contains__(self, item: object) -> bool:
        self.looked = True
        return item in self._inner

    def __iter__(self) -> Iterator[str]:
        self.looked = True
        return iter(self._inner)

    def __len__(self) -> int:
        self.looked = True
        return len(self._inner)


def leaf(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]


def parted(node_id: str) -> tuple[str, str]:
    """Return the two keys under which the shelf `users` holds a node: its file, or the external, and the name."""
    if node_id.startswith("ext:"):
        return node_id, ""
    path, _, name = node_id.partition("::")
    return path, name


def digest(group: Sequence[str]) -> str:
    """Return what tells a group of files from another; nothing for none."""
    return blake2b("\0".join(group).encode("utf-8", "surrogatepass"), digest_size=_GROUP).hexdigest() if group else ""


def modules_of(family: str, facts: FileFacts) -> Iterator[str]:
    """Yield the keys under which the modules that a file imports are counted."""
    return (f"{family}\t{module}" for module in sorted(absolute_modules(facts)))
