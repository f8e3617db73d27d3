"""What may be asked of one tree while its files are linked, and what was asked.

A link is a pure function of the answers. They are written down by file, so that after a change only those files are
linked again to which something would be answered differently. There are three sorts of questions, told by the first
letter of how they are written (`Trace`):

- of a file (the home is its path): `n` what it binds under a name in a scope, `e` whether a star brings a name, `b`
  what a class of it is said to inherit, `x` whether it is there, `@` one whole part of its facts;
- of an ecosystem: `p` the place of a module in an importer (the home), `s` a module inside a place, `g` the files
  beside a file or in a package (the home is the place);
- of the whole tree: which files say anything under a full name (the home is `~` and that name). An index over all
  files may be asked by such a name only, and its answer may depend only on what files say under this name and the
  names that hold it or are held by it.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from controller.graph.facts import Definition, FileFacts, Import, Reference
from controller.graph.language import Ecosystem, Files, ecosystem, exported, family_of, outward
from packets.nodes import EdgeKind

Trace = set[tuple[str, str, str]]
"""(home, letter with scope or attribute, name)."""

NO_FILE = FileFacts()


class World:
    """The facts of one tree, with what is found once for all its files. `trace` takes what is asked meanwhile."""

    def __init__(self, found: Mapping[str, FileFacts]) -> None:
        self.facts = found
        self.trace: Trace | None = None
        self._ecosystems: dict[str, Ecosystem] = {}
        self._asked: dict[str, Asked] = {}
        self._definitions: dict[str, dict[str, Definition]] = {}
        self._bindings: dict[str, dict[tuple[str, str], list[Import]]] = {}
        self._inherits: dict[str, dict[str, list[Reference]]] = {}
        self._places: dict[tuple[str, str], str | None] = {}
        self._submodules: dict[tuple[str, str], str | None] = {}
        self._groups: dict[str, tuple[str, ...]] = {}

    # --- one file

    def file(self, path: str) -> FileFacts | None:
        """Return what a file says; None where there is none."""
        return self.facts.get(path)

    def whole(self, path: str) -> FileFacts | None:
        """Return the same with all references: in `file` only those to bases of classes need be there."""
        return self.file(path)

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        if self.trace is not None:
            self.trace.add((path, "x", ""))
        return path in self.facts

    def definitions(self, path: str) -> dict[str, Definition]:
        """Return the definitions of a file by their name in it. Nothing is noted."""
        if path not in self._definitions:
            self._definitions[path] = {each.qual: each for each in (self.file(path) or NO_FILE).definitions}
        return self._definitions[path]

    def definition(self, path: str, qual: str) -> Definition | None:
        """Return what a file defines under a name."""
        if self.trace is not None:
            scope, _, name = qual.rpartition(".")
            self.trace.add((path, f"n{scope}", name))
        return self.definitions(path).get(qual)

    def imports(self, path: str, scope: str, name: str) -> Sequence[Import]:
        """Return the imports that bind a name in a scope of a file."""
        if self.trace is not None:
            self.trace.add((path, f"n{scope}", name))
        if path not in self._bindings:
            bound: dict[tuple[str, str], list[Import]] = {}
            for each in (self.file(path) or NO_FILE).imports:
                bound.setdefault((each.scope, each.bound), []).append(each)
            self._bindings[path] = bound
        return self._bindings[path].get((scope, name), ())

    def exports(self, path: str, name: str) -> bool:
        """Tell whether a star brings this name."""
        if self.trace is not None:
            self.trace.add((path, "e", name))
        exports = (self.file(path) or NO_FILE).exports
        if exported(path):
            return name != "default"
        return not name.startswith("_") if exports is None else name in exports

    def inherits(self, path: str, qual: str) -> Sequence[Reference]:
        """Return what a class of a file is said to inherit."""
        if self.trace is not None:
            self.trace.add((path, "b", qual))
        if path not in self._inherits:
            bases: dict[str, list[Reference]] = {}
            for each in (self.file(path) or NO_FILE).references:
                if each.kind == EdgeKind.INHERITS:
                    bases.setdefault(each.source, []).append(each)
            self._inherits[path] = bases
        return self._inherits[path].get(qual, ())

    def part(self, path: str, attribute: str) -> Any:
        """Return one whole part of what a file says."""
        if self.trace is not None:
            self.trace.add((path, "@", attribute))
        return getattr((self.whole(path) if attribute == "references" else self.file(path)) or NO_FILE, attribute)

    # --- the whole tree

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families that have a file here, sorted."""
        return tuple(sorted({family_of(path) for path in self.facts} - {""}))

    def under(self, name: str) -> tuple[str, ...]:
        """Return the files that define a full name or bind it by an import, sorted."""
        if self.trace is not None:
            self.trace.add((f"~{name}", "", ""))
        return self._under(name)

    def _under(self, name: str) -> tuple[str, ...]:
        return self._said.get(name, ())

    @cached_property
    def _said(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.facts):
            for name in said(self.facts[path]):
                found.setdefault(name, []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def only_method(self, name: str) -> str | None:
        """Return the one method of this name in the whole tree, if there is one. Links do not ask: nothing is noted."""
        found = self._methods.get(name, ())
        return found[0] if len(found) == 1 else None

    @cached_property
    def _methods(self) -> Mapping[str, Sequence[str]]:
        methods: dict[str, list[str]] = {}
        for path, facts in self.facts.items():
            for each in facts.definitions:
                if each.kind == "method":
                    methods.setdefault(each.qual.rpartition(".")[2], []).append(f"{path}::{each.qual}")
        return methods

    # --- ecosystems

    def ecosystem(self, family: str) -> "Asked":
        """Return how the files of a family find each other in this tree."""
        if family not in self._asked:
            self._asked[family] = Asked(self, family)
        return self._asked[family]

    def plain(self, family: str) -> Ecosystem:
        """Return the ecosystem itself, which notes nothing."""
        if family not in self._ecosystems:
            self._ecosystems[family] = ecosystem(family, self.files(family))
        return self._ecosystems[family]

    def files(self, family: str) -> Files:
        """Return what the ecosystem of a family may know of this tree."""
        ours = {path: facts for path, facts in self.facts.items() if family_of(path) == family}
        absolute = {module for facts in ours.values() for module in absolute_modules(facts)}
        settings = {path: dict(facts.settings) for path, facts in ours.items() if facts.settings}
        return Files(self.facts.keys(), settings, absolute)

    def place(self, family: str, module: str, importer: str) -> str | None:
        """Return the place of a module as a file writes it."""
        if self.trace is not None:
            self.trace.add((importer, "p", module))
        key = (importer, module)
        if key not in self._places:
            self._places[key] = self._place(family, module, importer)
        return self._places[key]

    def submodule(self, family: str, place: str, name: str) -> str | None:
        """Return the place of a module inside a place."""
        home = marked(family, place)
        if self.trace is not None:
            self.trace.add((home, "s", name))
        key = (home, name)
        if key not in self._submodules:
            self._submodules[key] = self._submodule(family, place, name)
        return self._submodules[key]

    def group(self, family: str, place: str) -> tuple[str, ...]:
        """Return the members of a package, or the files beside a file."""
        home = marked(family, place)
        if self.trace is not None:
            self.trace.add((home, "g", ""))
        if home not in self._groups:
            self._groups[home] = self._group(family, place)
        return self._groups[home]

    def _place(self, family: str, module: str, importer: str) -> str | None:
        return self.plain(family).place(module, importer)

    def _submodule(self, family: str, place: str, name: str) -> str | None:
        return self.plain(family).submodule(place, name)

    def _group(self, family: str, place: str) -> tuple[str, ...]:
        known = self.plain(family)
        return known.members(place) if place.endswith("/") else known.beside(place)


class Asked:
    """An ecosystem whose answers are remembered and noted; those for names in a plan are not."""

    def __init__(self, world: World, family: str) -> None:
        self._world, self._family = world, family

    def place(self, module: str, importer: str) -> str | None:
        """Return the place of a module in a file."""
        return self._world.place(self._family, module, importer)

    def submodule(self, place: str, name: str) -> str | None:
        """Return the place of a module inside a place."""
        return self._world.submodule(self._family, place, name)

    def members(self, place: str) -> tuple[str, ...]:
        """Return the files of a package."""
        return self._world.group(self._family, place)

    def beside(self, path: str) -> tuple[str, ...]:
        """Return the files whose names a file sees without an import."""
        return self._world.group(self._family, path)

    def package(self, module: str, importer: str) -> str:
        """Return the third-party package that a module comes from."""
        return self._world.plain(self._family).package(module, importer)

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return every place that a dotted name may mean."""
        return self._world.plain(self._family).anywhere(dotted)

    def folder(self, place: str) -> str | None:
        """Return the folder that a place stands for."""
        return self._world.plain(self._family).folder(place)

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files in which a dotted name would lie."""
        return self._world.plain(self._family).candidates(dotted)


def marked(family: str, place: str) -> str:
    """Write a place so that it says whose it is: a package that is no file is marked with its family."""
    return f"{family}:{place}" if place.endswith("/") else place


def absolute_modules(facts: FileFacts) -> set[str]:
    """Return the modules that a file imports by other than relative names, as written."""
    return {each.module for each in facts.imports if each.module[:1] != "."}


def said(facts: FileFacts) -> dict[str, None]:
    """Return the full names under which a file says something: what it defines, and what imports bind in it."""
    names = dict.fromkeys(each.qual for each in facts.definitions)
    for each in facts.imports:
        if not each.denotes and each.bound not in ("*", "()"):
            names[f"{each.scope}.{each.bound}" if each.scope else each.bound] = None
    return names


def answer(world: World, home: str, letter: str, name: str) -> Any:
    """Answer a question of a file again, without what does not matter to a link, such as lines."""
    if letter == "x":
        return world.exists(home)
    if letter == "e":
        return world.exports(home, name)
    if letter == "b":
        return [(each.scope, each.root, each.attrs) for each in world.inherits(home, name)]
    if letter == "@":
        return world.part(home, name)
    scope = letter[1:]
    found = world.definition(home, f"{scope}.{name}" if scope else name)
    defined = found and (found.kind, found.signature if outward(home) else "")
    return defined, [each[1:-1] for each in world.imports(home, scope, name)]
