"""What a refresh says: what it looked at, what changed in the graph, where plan and tree drifted apart, what it ran."""

from enum import StrEnum

from packets.deltas import GraphDelta
from packets.value import Value
from packets.verdict import CheckResult


class RefreshLevel(StrEnum):
    """How wide a refresh looks; each level is within the next, but a phase and full both look at everything."""

    MODULE = "module"
    WAVE = "wave"
    PHASE = "phase"
    FULL = "full"


class DriftKind(StrEnum):
    """How plan and tree drifted apart."""

    ORPHAN_MODULE = "orphan_module"  # a module that should be there has no file
    STALE_EDGE = "stale_edge"  # a declared dependency that no code has, or code that names what is no more
    MISSING_SCENARIO = "missing_scenario"
    MISSING_MARKER = "missing_marker"
    UNPLANNED_FILE = "unplanned_file"  # changed since the run began, and in nobody's scope
    UNPLANNED_EDGE = "unplanned_edge"  # a new dependency between modules that nobody declared


class Drift(Value):
    """One place; line 0 is the whole file, no path the whole module.

    `module` is the module it is about, `subject` the other thing: a dependency, a scenario, a marker, a file. `todo`
    says what to do; `patch` is a change of the plan that settles it, as `git apply` takes it; empty where none can.
    """

    kind: DriftKind
    message: str
    path: str = ""
    line: int = 0
    module: str = ""
    subject: str = ""
    todo: str = ""
    note: bool = False  # worth saying, but needs no repair
    patch: str = ""

    @property
    def place(self) -> str:
        """Return `path:line`, or as much of it as there is."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what makes two drifts the same one, wherever its line moved."""
        return (self.kind, self.path, self.module, self.subject)


class Looked(Value):
    """Files of the tree by how much work they were.

    `changed` differ from the tree before, `parsed` were read now, `known` were known by their content, `opaque` no
    language reads; of `relinked` the edges were looked up anew.
    """

    files: int = 0
    changed: int = 0
    parsed: int = 0
    known: int = 0
    opaque: int = 0
    relinked: int = 0


class LeftOut(Value):
    """A check of the plan that was not run at this level, and why."""

    command: str
    why: str


class Escalation(Value):
    """The level was too narrow for what it found: it went on to the level `to`, because of `why`."""

    level: RefreshLevel
    to: RefreshLevel
    why: str


class Bisection(Value):
    """How the culprit of a red wave was searched: checks were run on `tried` trees, those of `known` were known."""

    merges: int = 0
    tried: int = 0
    known: int = 0


class RefreshReport(Value):
    """One refresh. `level` is the one that was asked for, `reached` the widest that it came to.

    `modules` are those that the level is about, `dependents` the merged ones with code that uses theirs directly.
    `patch` holds all suggested changes of the plan that go together. `files_parsed` counts what was parsed now; facts
    of the other files were known by their content. Of the commands in `checks`, those in `checks_reused` have green
    evidence of this very tree and were not run again.
    """

    level: RefreshLevel
    reached: RefreshLevel
    files_total: int
    files_parsed: int
    duration_ms: float
    looked: Looked = Looked()
    modules: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    graph_delta: GraphDelta = GraphDelta()
    drift: tuple[Drift, ...] = ()
    patch: str = ""
    checks: tuple[CheckResult, ...] = ()
    checks_reused: tuple[str, ...] = ()
    checks_left_out: tuple[LeftOut, ...] = ()
