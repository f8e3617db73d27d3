"""What crosses rooms of the knowledge graph: nodes, edges, and the comparison that the reviewer judges."""

from enum import StrEnum
from typing import NamedTuple

from packets.deltas import GraphDelta
from packets.value import Value


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


class Expectation(Value):
    """One expected or claimed line and whether the trees show it. `evidence` is `path:line …`."""

    text: str
    met: bool
    reason: str = ""
    evidence: tuple[str, ...] = ()


class UndeclaredUse(Value):
    """Code inside the module came to depend on another module that its plan entry does not name."""

    source: str
    target: str
    target_module: str
    path: str
    line: int


class SurfaceUse(Value):
    """A public symbol was removed while somebody outside still uses it: `users` are `path:line`."""

    symbol: str
    users: tuple[str, ...]


class GraphReport(Value):
    """Expected, claimed and actual, side by side, for one module between two trees."""

    actual: GraphDelta = GraphDelta()
    expected: tuple[Expectation, ...] = ()
    claimed: tuple[Expectation, ...] = ()
    undeclared: tuple[UndeclaredUse, ...] = ()
    surface_in_use: tuple[SurfaceUse, ...] = ()
    notes: tuple[str, ...] = ()
