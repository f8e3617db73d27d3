"""What one file says, before anybody knows the other files: immutable per blob, so it can be kept by blob sha.

`facts(kind, blob)` reads one file; `controller.graph.link` joins the facts of many into a graph. A language is one
extractor behind `facts`; every other file is a node and nothing more.
"""

import json
from typing import NamedTuple

VERSION = 1
"""Raised whenever an extractor says something else about the same bytes."""

MAX_BLOB = 8 << 20
"""Bytes. Larger sources are generated; they stay at file level."""

_KINDS = {".py": "python", ".pyi": "python", ".pyw": "python"}


class Definition(NamedTuple):
    """`qual` is the dotted name inside the file (`Money.add`); kind is class, function, method or variable."""

    qual: str
    kind: str
    line: int
    signature: str


class Import(NamedTuple):
    """One name that an import binds.

    `import a.b` binds `a` to `a`; `import a.b as c` binds `c` to `a.b`; `from m import s as t` binds `t` to `s` of `m`;
    `from m import *` binds `*`. `module` is as written, with its leading dots; `scope` is the qual of the definition
    that holds the statement, empty for the module.
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
    """All that linking needs. `exports` is `__all__` where it can be read, `error_line` the first syntax error or 0."""

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    references: tuple[Reference, ...] = ()
    exports: tuple[str, ...] | None = None
    error_line: int = 0


NOTHING = FileFacts()


def kind_of(path: str) -> str:
    """Return the kind of a path: the extractor's name, or `file` where none reads it."""
    dot = path.rfind(".")
    return _KINDS.get(path[dot:], "file") if dot > path.rfind("/") + 1 else "file"


def facts(kind: str, blob: bytes) -> FileFacts:
    """Read one file. Never raises for bad input: a syntax error leaves what can be read."""
    if kind == "python" and len(blob) <= MAX_BLOB:
        from controller.graph.python import extract

        return extract(blob)
    return NOTHING


def pack(found: FileFacts) -> str:
    """Write facts as one line of JSON."""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def unpack(text: str) -> FileFacts:
    """Read what `pack` wrote; raises ValueError, TypeError or KeyError for anything else."""
    definitions, imports, references, exports, error_line = json.loads(text)
    return FileFacts(
        tuple(Definition(*row) for row in definitions),
        tuple(Import(*row) for row in imports),
        tuple(Reference(a, b, c, d, tuple(attrs), line) for a, b, c, d, attrs, line in references),
        None if exports is None else tuple(exports),
        int(error_line),
    )
