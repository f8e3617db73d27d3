"""What a refresh says: how much was looked at, what changed in the graph, and where plan and tree drifted apart."""

from enum import StrEnum

from packets.deltas import GraphDelta
from packets.value import Value
from packets.verdict import CheckResult


class RefreshLevel(StrEnum):
    """How wide a refresh looks."""

    MODULE = "module"
    WAVE = "wave"
    PHASE = "phase"
    FULL = "full"


class DriftKind(StrEnum):
    """How plan and tree drifted apart."""

    ORPHAN_MODULE = "orphan_module"  # a module that should be there has no file
    STALE_EDGE = "stale_edge"  # a declared dependency that no code has; only a note
    MISSING_SCENARIO = "missing_scenario"
    MISSING_MARKER = "missing_marker"
    UNPLANNED_FILE = "unplanned_file"  # changed since the run began, and in nobody's scope
    UNPLANNED_EDGE = "unplanned_edge"  # a new dependency between modules that nobody declared


class Drift(Value):
    """One place; line 0 is the whole file, no path the whole module."""

    kind: DriftKind
    message: str
    path: str = ""
    line: int = 0

    @property
    def is_note(self) -> bool:
        """True for what is worth saying, but needs no repair."""
        return self.kind is DriftKind.STALE_EDGE


class RefreshReport(Value):
    """One refresh. `files_parsed` counts what was parsed now; facts of the other files were known by their content."""

    level: RefreshLevel
    files_total: int
    files_parsed: int
    duration_ms: float
    graph_delta: GraphDelta = GraphDelta()
    drift: tuple[Drift, ...] = ()
    checks: tuple[CheckResult, ...] = ()
