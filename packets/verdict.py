"""What a reviewer says: findings, and the verdict that binds a packet to a head tree."""

from enum import StrEnum

from packets.deltas import VerificationDelta
from packets.graph import GraphReport
from packets.proof import Proof, ScenarioRun
from packets.value import Value


class Severity(StrEnum):
    """Only `error` rejects."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(Value):
    """Code is stable (`scope.outside`); line 0 is the whole file, no path the whole module; evidence shows it."""

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int = 0
    evidence: str = ""
    hint: str = ""

    def text(self) -> str:
        """Return one line: code, place, message."""
        place = f"{self.path}:{self.line}: " if self.path and self.line else f"{self.path}: " if self.path else ""
        return f"{self.code}: {place}{self.message}"


class Decision(StrEnum):
    """`revise` leads to a fresh attempt with the findings; `reject` ends the module."""

    ACCEPT = "accept"
    REVISE = "revise"
    REJECT = "reject"


class CheckResult(Value):
    """One check that we ran. Seconds; `log`: where its output is kept; `ran_to_end` is None where no runner tells.

    `flaky` is empty for a check that always said the same of this very tree, on this engine and image; else it is what
    it said, oldest first: `failed, passed`.

    `reason` is exited, deadline, memory, disk, pids, or not_run. `junit` names the kept reports; `fault` says why
    `ran_to_end` is False. `runs` tells more of the scenarios that failed; and of all where they are proved.
    """

    command: str
    exit_code: int | None
    reason: str = "exited"
    duration: float = 0.0
    log: str = ""
    tail: str = ""
    scenarios_passed: tuple[str, ...] = ()
    scenarios_failed: tuple[str, ...] = ()
    scenarios_skipped: tuple[str, ...] = ()
    ran_to_end: bool | None = None
    junit: tuple[str, ...] = ()
    fault: str = ""
    flaky: str = ""
    runs: tuple[ScenarioRun, ...] = ()

    @property
    def passed(self) -> bool:
        """Exit 0, and where the runner can tell, it came to its end."""
        return self.exit_code == 0 and self.reason == "exited" and self.ran_to_end is not False


class Verdict(Value):
    """Bound to `packet_id` and `head_tree`: a new tree voids it.

    `gates` names the gates that ran; `not_run` those that did not, because cheaper ones had found errors: they count as
    not passed.
    """

    packet_id: str
    base_tree: str
    head_tree: str
    decision: Decision
    findings: tuple[Finding, ...] = ()
    graph: GraphReport = GraphReport()
    verification: VerificationDelta = VerificationDelta()
    checks: tuple[CheckResult, ...] = ()
    proofs: tuple[Proof, ...] = ()
    gates: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings that reject."""
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)
