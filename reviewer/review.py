"""One attempt is judged: gates in order, cheap ones first, missing evidence fails."""

from collections.abc import Sequence

from packets.errors import Interrupted, MachineLacks
from packets.graph import GraphReport
from packets.outcome import StopReason
from packets.verdict import Decision, Finding, Severity, Verdict
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import bounded, error, note
from reviewer.gate import Gate
from reviewer.inert import inert
from reviewer.registry import GATES
from sandbox.faults import transient


def review(case: Case, gates: Sequence[Gate] = GATES) -> Verdict:
    """Judge the case and return the verdict.

    A gate that raises is a failed gate. Only what says that the machine failed, or that somebody stopped us, goes
    through: MachineLacks, Transient, Interrupted. That is no judgement of the attempt.
    """
    evidence = Evidence(case)
    findings: list[Finding] = []
    ran: list[str] = []
    not_run: list[str] = []
    for gate in gates:
        if gate.costly and any(f.severity is Severity.ERROR for f in findings):
            not_run.append(gate.name)
            continue
        ran.append(gate.name)
        findings.extend(_judge(gate, case, evidence))
    if not_run:
        findings.append(note("review.not_run", f"not run, because of the errors above: {', '.join(not_run)}"))
    return Verdict(
        packet_id=case.packet.packet_id,
        base_tree=case.before,
        head_tree=case.outcome.head_tree,
        decision=_decide(case, findings),
        findings=tuple(findings),
        graph=_inert_report(evidence.known_graph()),
        verification=evidence.known_verification(),
        checks=evidence.known_checks(),
        proofs=evidence.known_proofs(),
        gates=tuple(ran),
        not_run=tuple(not_run),
    )


def _judge(gate: Gate, case: Case, evidence: Evidence) -> list[Finding]:
    try:
        return list(bounded(gate.judge(case, evidence)))
    except (MachineLacks, Interrupted):
        raise
    except Exception as fault:
        if weak := transient(fault):
            raise weak from fault
        return [
            error(
                f"{gate.name}.broken",
                f"the gate {gate.name} could not judge: {type(fault).__name__}: {fault}",
                hint="missing evidence counts as a failure; if this comes again, report it as a fault of grace",
            )
        ]


def _decide(case: Case, findings: Sequence[Finding]) -> Decision:
    """Decide: a deadline is final, every other error is worth a fresh attempt that knows the findings."""
    if not any(f.severity is Severity.ERROR for f in findings):
        return Decision.ACCEPT
    return Decision.REJECT if case.outcome.reason is StopReason.DEADLINE else Decision.REVISE


def _inert_report(report: GraphReport) -> GraphReport:
    """Return the report with the worker's own words made harmless."""
    claimed = tuple(
        claim.model_copy(update={"text": inert(claim.text), "reason": inert(claim.reason)}) for claim in report.claimed
    )
    return report.model_copy(update={"claimed": claimed})
