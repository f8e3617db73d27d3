"""Names that are looked up from where they stand outward: through what classes inherit, packages, included headers.

Java and C++ see the members of a class bare inside it, wherever its bases are; a header's names are those of whoever
includes it, at any depth; and what one file declares, another one defines. `Resolver` comes here for the kinds of
files of which `language.outward` says so.
"""

from collections.abc import Mapping

from controller.graph.facts import Import
from controller.graph.language import includes
from controller.graph.resolve import Resolver, Target

_VARIANTS = 4
"""Files that define what a header declares, one for each platform, before nobody can say which is meant."""


class Outward:
    """Answers for one tree, by asking its resolver for the parts."""

    def __init__(self, resolver: Resolver) -> None:
        self.ask = resolver
        self._visible: dict[str, Mapping[str, int]] = {}

    def name(self, path: str, scope: str, name: str, depth: int) -> list[Target]:
        """Return where a name leads that its own scope does not bind."""
        qual = f"{scope}.{name}" if scope else name
        if found := self.included(path, qual, depth) or self._forward(path, scope, name):
            return found
        if scope:
            return self._inherited(path, scope, name, depth) or list(
                self.ask.name(path, scope.rpartition(".")[0], name, depth)
            )
        return self._around(path, name, depth)

    def forward_only(self, path: str, scope: str, name: str) -> bool:
        """Tell whether a file binds a name to nothing but a class of this name, if at all."""
        return all(not each.denotes and each.symbol == name for each in self.ask.imports(path, scope, name))

    def _forward(self, path: str, scope: str, name: str) -> list[Target]:
        """Find the one class of which a file says no more than that there is one: `struct order;`."""
        qual = f"{scope}.{name}" if scope else name
        if not includes(path) or not self.ask.imports(path, scope, name):
            return []
        homes = [each for each in self.named(qual) if self._defines(each, qual)]
        return [Target(f"{homes[0]}::{qual}")] if len(homes) == 1 else []

    def _inherited(self, path: str, scope: str, name: str, depth: int) -> list[Target]:
        """Find a member that the class of this scope has or gets from its bases."""
        classes = [Target(f"{path}::{scope}")] if scope in self.ask.definitions(path) else []
        classes = classes or self.included(path, scope, depth)
        return [found for each in classes for found in self.ask.attribute(each, name, depth + 1)]

    def _around(self, path: str, name: str, depth: int) -> list[Target]:
        """Find a name of the package, or of what is imported whole."""
        for each in self._whole(path):
            if found := self._starred(path, each, name, depth):
                return found
        return []

    def _whole(self, path: str) -> list[Import]:
        """Return what a file sees without naming it: its own package, then what it imports whole."""
        whole = [each for each in self.ask.imports(path, "", "*") if not (includes(path) and each.denotes)]
        if includes(path):
            return whole
        package = dict(self.ask.facts[path].settings).get("package", "")
        return [Import("", "*", package, "*", package, 0), *whole]

    def _starred(self, path: str, each: Import, name: str, depth: int) -> list[Target]:
        """Find a name in a package, in a namespace, or in a class, of which a file imports everything."""
        if includes(path):  # `using namespace`: nobody holds it, but names begin with it
            return self.within(path, f"{each.symbol}.{name}", depth)
        place = self.ask.place(path, each.denotes)
        starts = [] if place is None else [Target(place)]
        if each.symbol != "*":
            starts = self.ask.imported(path, each, depth + 1)
        return [found for start in starts for found in self.ask.attribute(start, name, depth + 1)]

    def within(self, path: str, qual: str, depth: int) -> list[Target]:
        """Find a name, written out with its namespaces, in a file or the headers that it includes."""
        scope, _, name = qual.rpartition(".")
        if qual in self.ask.definitions(path) or self.ask.imports(path, scope, name):
            return list(self.ask.name(path, scope, name, depth + 1))
        return self.included(path, qual, depth)

    def included(self, path: str, qual: str, depth: int) -> list[Target]:
        """Find a name in the headers that a file includes: where it is defined rather than where it is declared."""
        if not includes(path):
            return []
        named = self.named(qual)
        visible = self.visible(path) if named else {}
        places = [each for each in named if each in visible]
        if not places:
            return []
        place = min(
            places, key=lambda each: (not self._defines(each, qual), not self.declares(each, qual), visible[each])
        )
        if qual in self.ask.definitions(place):
            return [self.defined(Target(f"{place}::{qual}"))]
        scope, _, name = qual.rpartition(".")
        return list(self.ask.name(place, scope, name, depth + 1))

    def made(self, start: Target, name: str) -> list[Target]:
        """Return the class itself for what a call of it makes: `Log().write()`, where no `new` says so."""
        path, _, qual = start.id.partition("::")
        found = self.ask.definitions(path).get(qual) if name == "()" and includes(path) else None
        return [start] if found is not None and found.kind == "class" else []

    def visible(self, path: str) -> Mapping[str, int]:
        """Return the files that a file includes, at any depth, in the order in which they are read."""
        if path not in self._visible:
            found: dict[str, int] = {}
            todo = [path]
            while todo:
                at = todo.pop()
                if at not in found:
                    found[at] = len(found)
                    todo += reversed(self._includes(at))
            del found[path]
            self._visible[path] = found
        return self._visible[path]

    def _includes(self, path: str) -> list[str]:
        places = (self.ask.place(path, each.module) for each in self.ask.imports(path, "", "*") if each.denotes)
        return [place for place in places if place is not None and place in self.ask.facts]

    def named(self, qual: str) -> list[str]:
        """Return the files that define, declare or alias a name, over all that includes may bring."""
        return [path for path in self.ask.world.under(qual) if includes(path)]

    def declares(self, path: str, qual: str) -> bool:
        """Tell whether a file only declares what another one defines."""
        found = self.ask.definitions(path).get(qual)
        return found is not None and found.signature.endswith(";")

    def defined(self, target: Target) -> Target:
        """Return the definition of what is declared, in the nearest file that has one; else what was given."""
        path, _, qual = target.id.partition("::")
        if not qual or not includes(path) or not self.declares(path, qual):
            return target
        others = [each for each in self.named(qual) if each != path and self._defines(each, qual)]
        homes = [each for each in others if not self._private(each, qual)]
        if not homes:
            return target
        nearest = sorted(homes, key=lambda each: (-_near(path, each), each))
        if len(homes) > _VARIANTS and _near(path, nearest[0]) == _near(path, nearest[1]):
            return target
        return target._replace(id=f"{nearest[0]}::{qual}", via=target.via or path)

    def _defines(self, path: str, qual: str) -> bool:
        found = self.ask.definitions(path).get(qual)
        return found is not None and not found.signature.endswith(";")

    def _private(self, path: str, qual: str) -> bool:
        """Tell whether a function is seen in its own file only."""
        found = self.ask.definitions(path).get(qual)
        return found is not None and found.kind == "function" and "static" in found.signature.partition("(")[0].split()


def _near(header: str, source: str) -> int:
    """Say how near a source lies to a header: the same name without suffix counts most, then shared folders."""
    same = _stem(header) == _stem(source)
    shared = 0
    for left, right in zip(header.split("/")[:-1], source.split("/")[:-1], strict=False):
        if left != right:
            break
        shared += 1
    return shared + 100 * same


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
