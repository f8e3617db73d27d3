"""Nodes and edges of the knowledge graph: plain tuples, since a graph holds them by the hundred thousand."""

from enum import StrEnum
from typing import NamedTuple


class NodeKind(StrEnum):
    """What a node is."""

    FILE = "file"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"  # a name assigned at the top of a file
    EXTERNAL = "external"  # a third-party or unresolved import, kept as written


class EdgeKind(StrEnum):
    """How a node depends on another."""

    DEFINES = "defines"
    IMPORTS = "imports"
    CALLS = "calls"
    INHERITS = "inherits"
    USES = "uses"  # named without a call: an annotation, an argument, a decorator


class Node(NamedTuple):
    """`id` is the path for files, `path::Qual.Name` for symbols, `ext:name` for externals. Lines count from 1."""

    id: str
    kind: NodeKind
    name: str
    path: str
    line: int
    signature: str = ""


class Edge(NamedTuple):
    """`resolved` is False for calls that were matched by their bare name alone: a note, never a reason to reject.

    `via` is the file that the code names when it re-exports what another file defines.
    """

    source: str
    target: str
    kind: EdgeKind
    line: int
    resolved: bool = True
    via: str = ""
