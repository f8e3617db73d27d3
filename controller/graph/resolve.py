"""Where a name leads: through imports, re-exports, stars, attributes of modules, members and bases of classes."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.graph.facts import Definition, Import
from controller.graph.language import Ecosystem, exported, family_of, includes, outward
from controller.graph.noted import Definitions, Noted
from controller.graph.world import World, marked

if TYPE_CHECKING:
    from controller.graph.outward import Outward

_DEEPEST = 24
"""Steps of one name through re-exports and bases; deeper is a loop."""

_ASKED = 5_000, 50
"""Files asked for names that stars may bring to one file: a sum, and so many a reference. Beyond it are knots."""

_NO_CUT = 1 << 30


class Target(NamedTuple):
    """Where a name leads. `via` is the file that was asked when another one defines it."""

    id: str
    via: str = ""


class Resolver:
    """Resolves names over one tree, for one file at a time: what it remembers says nothing to another one.

    So the edges of a file do not depend on which file was linked before.
    """

    def __init__(self, world: World, references: int = 0) -> None:
        self.world = world
        self.facts: Mapping[str, Any] = Noted(world)
        self._bases: dict[str, tuple[Target, ...]] = {}
        self._names: dict[tuple[str, str, str], tuple[Target, ...]] = {}
        self._stars: dict[tuple[str, str], tuple[str, ...]] = {}
        self._open: dict[tuple[str, str, str], int] = {}
        self._cut = _NO_CUT
        self._left = _ASKED[0] + _ASKED[1] * references

    def ecosystem(self, family: str) -> Ecosystem:
        """Return how the files of a family find each other in this tree."""
        return self.world.ecosystem(family)

    @property
    def families(self) -> tuple[str, ...]:
        """The families that have a file here, sorted."""
        return self.world.families

    @cached_property
    def outward(self) -> "Outward":
        """What resolves names of kinds that look outward."""
        from controller.graph.outward import Outward

        return Outward(self)

    def _among(self, family: str, place: str, qual: str) -> str | None:
        """Return the first file of a package, or beside a file, that defines a name."""
        group = self.world.group(family, place) if family else ()
        known = self.world.under(qual) if group else ()
        return next((each for each in group if each in known and self.world.definition(each, qual)), None)

    def _beside(self, path: str, qual: str) -> str | None:
        """Return the file beside this one that defines a name."""
        return None if outward(path) else self._among(family_of(path), path, qual)

    def definitions(self, path: str) -> Mapping[str, Definition]:
        """Return the definitions of a file by their name inside it."""
        return Definitions(self.world, path)

    def imports(self, path: str, scope: str, name: str) -> Sequence[Import]:
        """Return the imports that bind a name in a scope of a file."""
        return self.world.imports(path, scope, name)

    def name(self, path: str, scope: str, name: str, depth: int = 0) -> tuple[Target, ...]:
        """Return where a name bound in a scope of a file leads: several where an import has a fallback.

        Re-exports may go in circles. What was found while an outer question was still open is kept only when it did not
        need that question's answer; so the answers do not depend on who asks first.
        """
        key = (path, scope, name)
        if key in self._names:
            return self._names[key]
        if not self._open:
            self._cut = _NO_CUT
        if key in self._open or depth > _DEEPEST:
            self._cut = min(self._cut, self._open.get(key, 0))
            return ()
        level, outer = len(self._open), self._cut
        self._open[key], self._cut = level, _NO_CUT
        found = self._name(path, scope, name, depth)
        del self._open[key]
        if self._cut >= level:
            self._names[key], self._cut = found, outer
        else:
            self._cut = min(outer, self._cut)
        return found

    def _name(self, path: str, scope: str, name: str, depth: int) -> tuple[Target, ...]:
        qual = f"{scope}.{name}" if scope else name
        found = [Target(f"{path}::{qual}")] if self.world.definition(path, qual) else []
        bound = self.imports(path, scope, name)
        for each in bound:
            found += self.imported(path, each, depth + 1)
        if outward(path):
            found = [self.outward.defined(each) for each in found]
            if not found and self.outward.forward_only(path, scope, name):
                found = self.outward.name(path, scope, name, depth)
        elif not found:
            found += self._starred(path, scope, name, depth)
            if not found and not scope and (home := self._beside(path, name)):
                found.append(Target(f"{home}::{name}"))
        return tuple(dict.fromkeys(found))

    def _starred(self, path: str, scope: str, name: str, depth: int) -> list[Target]:
        """Find a name that some `import *` brings: the last statement wins, each file is asked once."""
        todo, asked = list(self._stars_of(path, scope)), {path}
        while todo and self._left > 0:
            place = todo.pop()
            if place in asked or not self.world.exports(place, name):
                continue
            asked.add(place)
            self._left -= 1
            inside = exported(place)
            if self.imports(place, inside, name) or (not inside and self.world.definition(place, name)):
                return [_through(target, place) for target in self.name(place, inside, name, depth + 1)]
            todo += self._stars_of(place, inside)
        return []

    def _stars_of(self, path: str, scope: str = "") -> tuple[str, ...]:
        """Return the files of which a scope of a file imports everything; for a package, its members."""
        if (path, scope) not in self._stars:
            places = (self.place(path, each.denotes) or "" for each in self.imports(path, scope, "*"))
            files = (file for place in places for file in ((place,) if place[-1:] != "/" else self._members(place)))
            self._stars[path, scope] = tuple(file for file in files if self.world.exists(file) and file != path)
        return self._stars[path, scope]

    def _members(self, package: str) -> tuple[str, ...]:
        family, _, place = package.partition(":")
        return self.world.group(family, place)

    def place(self, path: str, module: str) -> str | None:
        """Return the place of a module as a file writes it; a package that is no file is marked with its family."""
        family = family_of(path)
        return _marked(family, self.world.place(family, module, path)) if family else None

    def anywhere(self, dotted: str) -> tuple[str, ...]:
        """Return every place that a dotted name may mean, whoever asks, in any family."""
        found = ((family, place) for family in self.families for place in self.ecosystem(family).anywhere(dotted))
        return tuple(dict.fromkeys(_marked(family, place) or place for family, place in found))

    def candidates(self, dotted: str) -> tuple[str, ...]:
        """Return the files in which a dotted name would lie."""
        return tuple(path for family in self.families for path in self.ecosystem(family).candidates(dotted))

    def folder(self, place: str) -> str | None:
        """Return the folder that a package stands for; None for a plain file."""
        if self.world.exists(place):
            family = family_of(place)
        else:
            family, _, place = place.partition(":")
        return self.ecosystem(family).folder(place) if family else None

    def imported(self, path: str, each: Import, depth: int = 0) -> list[Target]:
        """Return what one import binds; nothing when it is external or missing."""
        first, *rest = each.symbol.split(".")
        if not each.denotes and outward(path):
            targets, complete = self.follow(path, each.scope, first, tuple(rest), depth + 1)
            return targets if complete else []
        if not each.denotes:
            targets = list(self.name(path, "", first, depth + 1))
        else:
            place = self.place(path, each.denotes)
            targets = [Target(place)] if place is not None else []
            rest = [first, *rest] if first else []
        for name in rest:
            targets = [found for target in targets for found in self.attribute(target, name, depth)]
        return list(dict.fromkeys(targets))

    def attribute(self, start: Target, name: str, depth: int = 0) -> list[Target]:
        """Follow one attribute of a module, a namespace or a class."""
        if depth > _DEEPEST:
            return []
        path, _, qual = start.id.partition("::")
        if qual:
            return self._member(start, name, depth + 1) or self.outward.made(start, name)
        if not self.world.exists(path):
            return self._of_package(path, name)
        inside = self._submodule(family_of(path), path, name)
        if named := self.name(path, exported(path), name, depth + 1):
            found = [Target(t.id) if t.id == inside else _through(t, path) for t in named]
            return [target._replace(via=start.via) if start.via else target for target in found]
        return [Target(inside)] if inside else []

    def _of_package(self, package: str, name: str) -> list[Target]:
        """Find a name in a package that is no file: what its members define, or a module inside it."""
        family, _, place = package.partition(":")
        if home := self._among(family, place, name):
            return [Target(f"{home}::{name}")]
        inside = self._submodule(family, place, name)
        return [Target(inside)] if inside else []

    def _submodule(self, family: str, place: str, name: str) -> str | None:
        return _marked(family, self.world.submodule(family, place, name)) if family else None

    def _member(self, start: Target, name: str, depth: int) -> list[Target]:
        """Find a member in a class or the nearest of its ancestors; `super()` means its bases."""
        if name == "super()":
            return list(self._bases_of(start.id, depth))
        for each in (start, *self._ancestors(start.id, depth)):
            path, _, qual = each.id.partition("::")
            member = f"{qual}.{name}"
            home = path if self.world.definition(path, member) else self._beside(path, member)
            if home := home or self._elsewhere(path, qual, member, depth):
                found = each._replace(id=f"{home}::{member}")
                return [self.outward.defined(found) if outward(home) else found]
            if qual and self.imports(path, qual, name):
                return list(self.name(path, qual, name, depth + 1))
        return []

    def _elsewhere(self, path: str, qual: str, member: str, depth: int) -> str | None:
        """Find the file that defines a member of a class which it names and does not hold."""
        root, *attrs = qual.split(".")
        for each in self._scattered(member):
            owners, _ = self.follow(each, "", root, tuple(attrs), depth + 1)
            if any(owner.id == f"{path}::{qual}" for owner in owners):
                return each
        return None

    def _scattered(self, member: str) -> list[str]:
        """Return the files that define a member of a class which they do not hold."""
        holder = member.rpartition(".")[0]
        return [
            path
            for path in self.world.under(member)
            if (found := self.world.definition(path, member))
            and found.kind == "method"
            and not self.world.definition(path, holder)
        ]

    def _ancestors(self, class_id: str, depth: int) -> Iterator[Target]:
        """Yield what a class inherits from, each once, the nearest of the first base first."""
        seen, todo = {class_id}, list(reversed(self._bases_of(class_id, depth)))
        while todo:
            each = todo.pop()
            if each.id not in seen and "::" in each.id:
                seen.add(each.id)
                yield each
                todo += reversed(self._bases_of(each.id, depth))

    def _bases_of(self, class_id: str, depth: int) -> tuple[Target, ...]:
        if class_id in self._bases:
            return self._bases[class_id]
        self._bases[class_id] = ()  # a class among its own bases ends here
        outer, self._cut = self._cut, _NO_CUT
        path, _, qual = class_id.partition("::")
        found: list[Target] = []
        for base in self.world.inherits(path, qual):
            targets, complete = self.follow(path, base.scope, base.root, base.attrs, depth + 1)
            found += targets if complete else ()
        for row in self.imports(path, qual, "="):  # a variable has what its type has
            found += self.imported(path, row, depth + 1)
        bases = tuple(dict.fromkeys(found))
        if self._cut == _NO_CUT:
            self._bases[class_id] = bases
        else:
            del self._bases[class_id]  # some outer question is still open: ask again later
        self._cut = min(outer, self._cut)
        return bases

    def follow(
        self, path: str, scope: str, root: str, attrs: tuple[str, ...], depth: int = 0
    ) -> tuple[list[Target], bool]:
        """Return where a dotted name leads, and whether to its end: else to the deepest part that is known."""
        if depth > _DEEPEST:
            return [], False
        targets: list[Target] = list(self.name(path, scope, root, depth + 1))
        while not targets and attrs and includes(path):  # the beginning may be a namespace, which nobody holds
            root, attrs = f"{root}.{attrs[0]}", attrs[1:]
            targets = list(self.name(path, scope, root, depth + 1))
        if not targets:
            return [], False
        for attr in attrs:
            following = [found for target in targets for found in self.attribute(target, attr, depth + 1)]
            if not following:
                return targets, False
            targets = list(dict.fromkeys(following))
        return targets, True


def _marked(family: str, place: str | None) -> str | None:
    return marked(family, place) if place else place


def _through(target: Target, place: str) -> Target:
    """Note the file that was asked, where another one defines the name."""
    return target if target.via or target.id.partition("::")[0] == place else target._replace(via=place)
