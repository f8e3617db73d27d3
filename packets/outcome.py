"""How an attempt ended on our side of the wall: facts, not claims."""

from enum import StrEnum

from packets.report import WorkerReport
from packets.value import Value


class StopReason(StrEnum):
    """Why a sandboxed process is no more."""

    EXITED = "exited"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    MEMORY = "memory"
    DISK = "disk"
    PIDS = "pids"


class AnomalyKind(StrEnum):
    """What a git tree cannot or must not hold; found at harvest by lstat, never followed."""

    SPECIAL = "special_file"
    NESTED_REPO = "nested_repo"
    UNREADABLE = "unreadable"
    NAME = "bad_name"
    TOO_BIG = "too_big"
    HARD_LINK = "hard_link"


class Anomaly(Value):
    """A thing the harvest left out, and where."""

    kind: AnomalyKind
    path: str
    detail: str = ""


class AttemptOutcome(Value):
    """Exit code and harvested tree of one attempt; `head_tree` is complete also when the attempt failed."""

    head_tree: str
    exit_code: int | None
    reason: StopReason = StopReason.EXITED
    duration: float = 0.0
    report: WorkerReport | None = None
    report_fault: str = ""
    anomalies: tuple[Anomaly, ...] = ()
    log: str = ""
    tail: str = ""
    refusal: str = ""
    image: str = ""
    engine: str = ""
