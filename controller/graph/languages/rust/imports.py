"""What `mod`, `use` and `extern crate` bind, once it is known what else the file defines."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from controller.graph.facts import Import
from controller.graph.languages.blocks import Scope, joined
from controller.graph.languages.rust.ecosystem import EXACT
from controller.graph.languages.rust.types import text
from controller.graph.languages.rust.uses import Used, flattened

if TYPE_CHECKING:
    from tree_sitter import Node

_BROUGHT = 5_000
"""Names that stars over classes of the same file may bring; more is no source."""

_PATH = re.compile(r'\bpath\s*=\s*"([^"\n]+)"')


class Imports:
    """Collects statements; `rows` reads them when every name of the file is known."""

    def __init__(self) -> None:
        self.mods: list[str] = []
        """Modules that the file declares: `inline::name`, and after `=` the path that an attribute gives."""
        self._rows: list[Import] = []
        self._uses: list[tuple[Scope, Used]] = []
        self._left = _BROUGHT
        self._files: set[tuple[int, str]] = set()
        """Scopes, by identity, and the modules in them that are files."""

    def module(self, node: "Node", scope: Scope, name: str) -> None:
        """Note `mod x;`."""
        scope.imported.add(name)
        self._files.add((id(scope), name))
        path = "::".join((*scope.qual.split("."), name) if scope.qual else (name,))
        written = f"self::{path}"
        self._rows.append(Import(scope.qual, name, _dotted(written), "", f"{EXACT}{written}", node.start_point.row + 1))
        paths = _paths(node)
        self.mods += [f"{path}={each}" for each in paths] or [path]

    def crate(self, node: "Node", scope: Scope) -> None:
        """Note `extern crate a as b;`."""
        name, alias = text(node.child_by_field_name("name")), text(node.child_by_field_name("alias"))
        bound, denotes = alias or name, "crate" if name == "self" else name
        scope.imported.add(bound)
        self._rows.append(Import(scope.qual, bound, name, "", denotes, node.start_point.row + 1))

    def use(self, node: "Node", scope: Scope) -> None:
        """Note `use a::{b, c as d, e::*};`."""
        for each in flattened(node.child_by_field_name("argument")):
            self._uses.append((scope, each))
            if each.bound != "*":
                scope.imported.add(each.bound)
            elif set(each.names) == {"super"} and _depth(scope) >= len(each.names):
                scope.apart = False
            else:
                scope.stars += 1

    def rows(self, definitions: Collection[str]) -> list[Import]:
        """Return what everything binds."""
        rows = list(self._rows)
        members: dict[str, list[str]] = {}
        for qual in definitions:
            holder, _, name = qual.rpartition(".")
            members.setdefault(holder, []).append(name)
        for scope, each in self._uses:
            rows += self._row(scope, each, members)
        return rows

    def _here(self, scope: Scope, module: Scope, each: Used) -> bool:
        """Tell whether a path begins with a name of this module or of the function around, and not with a crate's."""
        first = each.names[0]
        if first in module.members or first in scope.members or (id(module), first) in self._files:
            return True
        return first in module.imported and first != each.bound

    def _row(self, scope: Scope, each: Used, members: Mapping[str, list[str]]) -> Iterator[Import]:
        start, names, module = self._start(scope, each)
        star = each.bound == "*"
        inside = joined(*(module.qual.split(".") if not start else ()), *names)
        if star and not start:
            if not names:
                return  # `super::*` of a module inside the file: seen as it is
            for name in members.get(inside, ())[: self._left]:
                self._left -= 1
                yield Import(scope.qual, name, "", f"{inside}.{name}", "", each.line)
                scope.imported.add(name)
        base = start or "self"
        written = "::".join((base, *(inside.split(".") if inside else ())))
        if star:
            yield Import(scope.qual, "*", _dotted(written), "*", f"{EXACT}{written}", each.line)
        else:
            yield Import(scope.qual, each.bound, _dotted(written), inside, base, each.line)

    def _start(self, scope: Scope, each: Used) -> tuple[str, tuple[str, ...], Scope]:
        """Return with what a path begins outside the file, its other names, and else the module in which it begins."""
        names = each.names
        module = next(each for each in scope.outward() if each.kind in ("module", "file"))
        if names[0] == "crate":
            return "crate", names[1:], module
        if names[0] not in ("self", "super"):
            return ("", names, module) if self._here(scope, module, each) else (names[0], names[1:], module)
        rest, above = names[1:] if names[0] == "self" else names, 0
        while rest and rest[0] == "super":
            rest = rest[1:]
            if module.parent:
                module = next(outer for outer in module.parent.outward() if outer.kind in ("module", "file"))
            else:
                above += 1
        return "::".join(["super"] * above), rest, module


def _dotted(path: str) -> str:
    """Write a path with dots: `::` parts a file from a symbol in the names of nodes."""
    return path.replace("::", ".")


def _depth(scope: Scope) -> int:
    return sum(each.kind == "module" for each in scope.outward())


def _paths(node: "Node") -> list[str]:
    """Return the paths that the attributes before a module give."""
    found: list[str] = []
    at = node.prev_sibling
    while at and at.type in ("attribute_item", "line_comment", "block_comment"):
        if at.type == "attribute_item":
            found += _PATH.findall(text(at))
        at = at.prev_sibling
    return found
