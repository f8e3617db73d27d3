"""How the attempt itself ended: an attempt that failed is not merged, however good its tree looks."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.outcome import StopReason
from packets.report import ReportStatus
from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error

_TAIL = 1500
_STOPPED = {
    StopReason.DEADLINE: ("worker.deadline", "was stopped at its deadline of {limits.deadline} s"),
    StopReason.MEMORY: ("worker.memory", "ran out of its {limits.memory} bytes of memory"),
    StopReason.DISK: ("worker.disk", "wrote more than its {limits.disk} bytes of disk"),
    StopReason.PIDS: ("worker.pids", "started more than its {limits.pids} processes"),
    StopReason.CANCELLED: ("worker.cancelled", "was cancelled"),
}


class WorkerGate:
    """Exit code, limits, refusals and `blocked`: facts of our side, besides the worker's own word that it failed."""

    name = "worker"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "worker.refused": "the agent refused the work before it wrote anything, e.g. a patch outside the scope",
        "worker.deadline": "the attempt was stopped at its deadline",
        "worker.memory": "the attempt ran out of memory",
        "worker.disk": "the attempt wrote more than its disk limit",
        "worker.pids": "the attempt started more processes than its limit",
        "worker.cancelled": "the attempt was cancelled before its end",
        "worker.exit": "the worker ended with an exit code other than 0",
        "worker.failed": "the worker's own report says that it failed",
        "worker.blocked": "the worker's report says that it cannot go on without a person",
        "worker.empty": "the attempt changed nothing",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give the first of: refused, stopped, exit code; then what the report says; then an empty diff."""
        ended = list(_ending(case))
        yield from ended
        status, summary = evidence.report.status, evidence.report.summary or "no reason given"
        if status is ReportStatus.BLOCKED:
            yield error("worker.blocked", f"the worker is blocked: {summary}", hint="answer it, or change the plan")
        elif status is ReportStatus.FAILED:
            yield error("worker.failed", f"the worker says that it failed: {summary}")
        if not ended and status is ReportStatus.DONE and not evidence.changes:
            yield error("worker.empty", "the attempt changed nothing", evidence=case.outcome.tail[-_TAIL:])


def _ending(case: Case) -> Iterable[Finding]:
    outcome = case.outcome
    tail = outcome.tail[-_TAIL:]
    if outcome.refusal:
        yield error("worker.refused", f"the agent refused: {outcome.refusal}")
    elif outcome.reason in _STOPPED:
        code, text = _STOPPED[outcome.reason]
        yield error(code, f"the worker {text.format(limits=case.packet.limits)}", evidence=tail)
    elif outcome.exit_code != 0:
        how = "without an exit code" if outcome.exit_code is None else f"with exit code {outcome.exit_code}"
        yield error("worker.exit", f"the worker ended {how}", evidence=tail)
