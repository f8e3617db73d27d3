"""What a worker says of its own work. Nothing in it is believed; each claim is compared."""

from enum import StrEnum

from packets.deltas import GraphDelta, VerificationDelta
from packets.value import Value


class ReportStatus(StrEnum):
    """How the worker says it ended."""

    DONE = "done"
    BLOCKED = "blocked"
    FAILED = "failed"


class Decisions(Value):
    """What later packets may carry."""

    goal: str = ""
    verified_facts: tuple[str, ...] = ()
    hypothesis: str = ""
    rejected_alternatives: tuple[str, ...] = ()
    open_risks: tuple[str, ...] = ()


class Usage(Value):
    """What the agent says it used; metered elsewhere."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


class WorkerReport(Value):
    """`/grace/out/report.json`. A missing file means: claimed nothing."""

    status: ReportStatus = ReportStatus.DONE
    summary: str = ""
    graph_delta: GraphDelta = GraphDelta()
    verification_delta: VerificationDelta = VerificationDelta()
    checks_passed: tuple[str, ...] = ()
    files_changed: tuple[str, ...] | None = None
    decisions: Decisions = Decisions()
    usage: Usage = Usage()
    heard: tuple[str, ...] = ()  # messages of people that it read while it worked
