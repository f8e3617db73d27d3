"""What one file says, before anybody knows the other files: immutable per blob, so it can be kept by blob sha.

`language.facts(kind, blob)` reads one file; `link` joins the facts of many into a graph.
"""

import json
from typing import Any, NamedTuple

VERSION = 5
"""Raised whenever an extractor says something else about the same bytes."""


class Definition(NamedTuple):
    """`qual` is the dotted name inside the file (`Money.add`); kind is class, function, method or variable."""

    qual: str
    kind: str
    line: int
    signature: str


class Import(NamedTuple):
    """One name that an import binds.

    In Python: `import a.b` binds `a` to `a`; `import a.b as c` binds `c` to `a.b`; `from m import s as t` binds `t` to
    `s` of `m`; `from m import *` binds `*`. `module` is as written; `scope` is the qual of the definition that holds
    the statement, empty for the file. Other languages say the same in the same way: `bound` is the name that the file
    may use, `denotes` the module that is asked for `symbol`, or that is meant itself where `symbol` is empty. A
    `denotes` that is empty is the file itself: what it exports under another name. `symbol` may be dotted: a name and
    what is asked of it in turn. In the scope of a class such a name is a field with its type, and `()` in the scope of
    a function is what it returns.
    """

    scope: str
    bound: str
    module: str
    symbol: str
    denotes: str
    line: int


class Reference(NamedTuple):
    """A name in use. `root` is bound in `scope` of this file, `attrs` follow it; an empty root is a bare method call.

    `kind` is an edge kind: calls, uses or inherits. `super()` as first attribute starts at the bases of the root.
    """

    source: str
    kind: str
    scope: str
    root: str
    attrs: tuple[str, ...]
    line: int


class FileFacts(NamedTuple):
    """All that linking needs.

    `exports` are the only names that a star import brings, where the file says so (`__all__`); `error_line` is the
    first syntax error or 0; `settings` are what a configuration file says to its ecosystem.
    """

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    references: tuple[Reference, ...] = ()
    exports: tuple[str, ...] | None = None
    error_line: int = 0
    settings: tuple[tuple[str, str], ...] = ()


NOTHING = FileFacts()


def pack(found: FileFacts) -> tuple[str, str]:
    """Write facts as two lines of JSON: what other files ask about, with bases of classes, and all references."""
    inherits = [each for each in found.references if each.kind == "inherits"]
    return _json(found._replace(references=tuple(inherits))), _json(found.references)


def unpack(surface: str, rest: str = "") -> FileFacts:
    """Read what `pack` wrote; raises ValueError, TypeError or KeyError for anything else. Without `rest`: no uses."""
    definitions, imports, inherits, exports, error_line, settings = json.loads(surface)
    return FileFacts(
        tuple(map(Definition._make, definitions)),
        tuple(map(Import._make, imports)),
        tuple(Reference(a, b, c, d, tuple(attrs), line) for a, b, c, d, attrs, line in _read(rest, inherits)),
        None if exports is None else tuple(exports),
        int(error_line),
        tuple((str(key), str(value)) for key, value in settings),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _read(text: str, otherwise: list[list[Any]]) -> list[list[Any]]:
    found: list[list[Any]] = json.loads(text) if text else otherwise
    return found
