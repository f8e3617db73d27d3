"""What crosses rooms of the knowledge graph: nodes, edges, and the comparison that the reviewer judges."""

from enum import StrEnum

from packets.deltas import GraphDelta
from packets.nodes import Edge, EdgeKind, Node, NodeKind
from packets.value import Value

__all__ = [
    "Edge",
    "EdgeKind",
    "Expectation",
    "Fact",
    "FactState",
    "GraphReport",
    "Node",
    "NodeKind",
    "PackageUse",
    "Rename",
    "SignatureChange",
    "SurfaceUse",
    "UndeclaredUse",
]


class Expectation(Value):
    """One expected or claimed line and whether the trees show it. `evidence` is `path:line …`."""

    text: str
    met: bool
    reason: str = ""
    evidence: tuple[str, ...] = ()


class UndeclaredUse(Value):
    """Code inside the module came to depend on another module that its plan entry does not name.

    `depends_on` is what the entry would have to say; empty where that would close a circle.
    """

    source: str
    target: str
    target_module: str
    path: str
    line: int
    depends_on: tuple[str, ...] = ()


class SurfaceUse(Value):
    """A public symbol was removed while somebody outside still uses it: `users` are `path:line`.

    `now` is where it went, if it was renamed or moved.
    """

    symbol: str
    users: tuple[str, ...]
    now: str = ""


class SignatureChange(Value):
    """A public function takes other arguments than before, and `users` (`path:line`) outside call it."""

    symbol: str
    before: str
    after: str
    why: str
    path: str
    line: int
    users: tuple[str, ...]


class PackageUse(Value):
    """The module came to import a third-party package that nothing in the repository imported before.

    `listed_in` is the manifest that names it; `manifests` are those that do not and would have to, if there are any.
    """

    package: str
    path: str
    line: int
    listed_in: str = ""
    manifests: tuple[str, ...] = ()


class Rename(Value):
    """The same thing under another id. `likeness` of the two texts is 0 to 1; `inside`: parts that came along."""

    before: str
    after: str
    likeness: float
    inside: int = 0


class FactState(StrEnum):
    """What expected, claimed and actual say of one fact together."""

    AS_EXPECTED = "as_expected"
    MISSING = "missing"  # expected, and not so
    UNTRUE = "untrue"  # claimed, not expected, and not so
    CLAIMED = "claimed"  # so, and claimed, but not expected
    UNANNOUNCED = "unannounced"  # so, and neither expected nor claimed
    UNKNOWN = "unknown"  # expected or claimed, and nothing has looked


class Fact(Value):
    """One row of the three-way table. `fact` is written as a plan writes it; `at` is `path:line`.

    `actual` is None where nothing has looked; `count` says how many changes between the two trees the row stands for.
    """

    fact: str
    state: FactState
    expected: bool = False
    claimed: bool = False
    actual: bool | None = False
    at: str = ""
    count: int = 1
    note: str = ""


class GraphReport(Value):
    """Expected, claimed and actual, side by side, for one module between two trees.

    `actual` is the delta at symbol level; `files` and `modules` are the same, lifted. `facts` are the three-way table,
    and `facts_left` counts the rows that did not fit in.
    """

    actual: GraphDelta = GraphDelta()
    expected: tuple[Expectation, ...] = ()
    claimed: tuple[Expectation, ...] = ()
    undeclared: tuple[UndeclaredUse, ...] = ()
    surface_in_use: tuple[SurfaceUse, ...] = ()
    notes: tuple[str, ...] = ()
    files: GraphDelta = GraphDelta()
    modules: GraphDelta = GraphDelta()
    renames: tuple[Rename, ...] = ()
    signatures: tuple[SignatureChange, ...] = ()
    packages: tuple[PackageUse, ...] = ()
    facts: tuple[Fact, ...] = ()
    facts_left: int = 0
