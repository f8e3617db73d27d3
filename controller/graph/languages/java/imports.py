"""Package and import clauses of Java, and qualified names in code, which are imports without a clause."""

import re

from controller.graph.facts import Import

_CLAUSE = re.compile(r"import\s+(static\s+)?([\w$.\s]+?)(\.\s*\*)?\s*;?\s*\Z")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TOPS = frozenset(("com", "org", "net", "io", "java", "javax", "jakarta", "jdk", "sun", "edu", "gov"))


def read_import(text: str, line: int) -> Import | None:
    """Return what one clause binds. The first part with a capital is where the package ends and a class begins."""
    found = _CLAUSE.match(_COMMENT.sub(" ", text))
    if found is None:
        return None
    parts = tuple("".join(part.split()) for part in found[2].split("."))
    package, inside = split(parts)
    if found[3]:  # everything in a package, or everything inside a class
        if not inside and found[1]:
            package, inside = package[:-1], package[-1:]
        return _import("*", package, ".".join(inside) or "*", line)
    if not inside:
        last = 2 if found[1] else 1
        package, inside = parts[:-last], parts[-last:]
    return _import(inside[-1], package, ".".join(inside), line) if inside else None


def split(parts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a name into package and class by the custom that only classes begin with a capital."""
    for index, part in enumerate(parts):
        if part[:1].isupper():
            return parts[:index], parts[index:]
    return parts, ()


def _import(bound: str, package: tuple[str, ...], symbol: str, line: int) -> Import:
    module = ".".join(package)
    return Import("", bound, module, symbol, module, line)


class Qualified:
    """Names in code that begin with a package: `com.shop.Money.of(1)`."""

    def __init__(self, package: str, imports: list[Import]) -> None:
        self._tops = _TOPS | {name.partition(".")[0] for name in (package, *(each.module for each in imports))} - {""}
        self.found: dict[str, Import] = {}

    def name(self, chain: tuple[str, ...], line: int) -> str:
        """Return the name by which the class of a chain may be asked for; empty where it names no package."""
        package, inside = split(chain)
        if len(package) < 2 or not inside or package[0] not in self._tops:  # noqa: PLR2004 - `com.shop` at least
            return ""
        dotted = ".".join((*package, inside[0]))
        self.found.setdefault(dotted, _import(dotted, package, inside[0], line))
        return dotted
