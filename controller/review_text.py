"""A review in words: expected, claimed and actual side by side, then checks and findings."""

from controller.store.records import AttemptRecord
from packets.graph import Expectation
from packets.verdict import CheckResult, Severity, Verdict


def review_text(attempt: AttemptRecord, *, gone: bool = False) -> str:
    """Return the review of one attempt for people; the difference itself is printed after it. `gone`: it is undone."""
    packet, verdict = attempt.packet, attempt.verdict
    title = f"{packet.module_id}  attempt {packet.attempt}{' (undone)' if gone else ''}"
    if verdict is None:
        return f"{title}  not judged yet\n"
    lines = [f"{title}  {verdict.decision}", f"  packet {packet.packet_id}", f"  tree   {verdict.head_tree}"]
    lines += _section("expected", [_mark(e) for e in verdict.graph.expected])
    lines += _section("claimed", [_mark(e) for e in verdict.graph.claimed])
    lines += _section("actual", _actual(verdict))
    lines += _section("checks", [f"{_ok(c)} {c.command} ({c.duration:.1f}s)" for c in verdict.checks])
    lines += _section("findings", [_finding(verdict, i) for i in range(len(verdict.findings))])
    return "\n".join(lines) + "\n\n"


def _ok(check: CheckResult) -> str:
    return "ok " if check.passed else "RED"


def _section(name: str, rows: list[str]) -> list[str]:
    return [f"  {name}:", *(f"    {row}" for row in rows)] if rows else []


def _mark(expectation: Expectation) -> str:
    where = f"  [{expectation.evidence[0]}]" if expectation.evidence else ""
    return f"{'ok ' if expectation.met else 'NOT'} {expectation.text}{where}{_because(expectation)}"


def _because(expectation: Expectation) -> str:
    return f"  ({expectation.reason})" if expectation.reason and not expectation.met else ""


def _actual(verdict: Verdict) -> list[str]:
    graph, tests = verdict.graph.actual, verdict.verification
    pairs = (
        ("+ ", graph.nodes_added), ("- ", graph.nodes_removed),
        ("+ ", graph.edges_added), ("- ", graph.edges_removed),
        ("+ scenario ", tests.scenarios_added), ("- scenario ", tests.scenarios_removed),
        ("~ scenario ", tests.scenarios_changed), ("skipped ", tests.scenarios_skipped),
        ("weakened ", tests.scenarios_weakened), ("+ marker ", tests.markers_added),
        ("- marker ", tests.markers_removed),
    )  # fmt: skip
    return [f"{sign}{name}" for sign, names in pairs for name in names]


def _finding(verdict: Verdict, index: int) -> str:
    finding = verdict.findings[index]
    sign = {Severity.ERROR: "error  ", Severity.WARNING: "warning", Severity.NOTE: "note   "}[finding.severity]
    more = [*finding.evidence.strip("\n").splitlines(), *([f"hint: {finding.hint}"] if finding.hint else [])]
    return "\n".join([f"{sign} {finding.text()}", *(f"            {text}".rstrip() for text in more)])
