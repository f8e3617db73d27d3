"""A review in words: expected, claimed and actual side by side, then checks and findings."""

from collections.abc import Iterator

from controller.proof_text import proof_rows
from controller.review_facts import Row, review_facts
from controller.store.records import AttemptRecord
from packets.graph import Fact, FactState
from packets.verdict import CheckResult, Severity, Verdict
from reviewer.inert import inert

SHOWN = 60
"""Rows of the table that are shown; of those that are wrong, all."""

_WRONG = (FactState.MISSING, FactState.UNTRUE)
_COLOURS = {
    FactState.AS_EXPECTED: "\x1b[32m",
    FactState.MISSING: "\x1b[1;31m",
    FactState.UNTRUE: "\x1b[1;31m",
    FactState.UNANNOUNCED: "\x1b[33m",
    FactState.UNKNOWN: "\x1b[33m",
}
_PLAIN = "\x1b[m"
_MARKS = {FactState.MISSING: "!", FactState.UNTRUE: "!", FactState.UNANNOUNCED: "?", FactState.UNKNOWN: "?"}
_SPOKEN = {
    FactState.MISSING: "missing",
    FactState.UNTRUE: "untrue",
    FactState.UNANNOUNCED: "unannounced",
    FactState.UNKNOWN: "not looked at",
}
"""What is said of a row besides its columns; the others are as they should be."""


def review_text(attempt: AttemptRecord, *, gone: bool = False, color: bool = False) -> str:
    """Return the review of one attempt for people; the difference itself is printed after it. `gone`: it is undone."""
    packet, verdict = attempt.packet, attempt.verdict
    title = f"{packet.module_id}  attempt {packet.attempt}{' (undone)' if gone else ''}"
    if verdict is None:
        return f"{title}  not judged yet\n"
    lines = [f"{title}  {verdict.decision}", f"  packet {packet.packet_id}", f"  tree   {verdict.head_tree}"]
    lines += _table(*review_facts(attempt), color=color)
    lines += _section("modules", list(_modules(verdict)))
    lines += _section("checks", [f"{_ok(c)} {c.command} ({c.duration:.1f}s)" for c in verdict.checks])
    lines += _section("proof", proof_rows(verdict))
    lines += _section("findings", [_finding(verdict, i) for i in range(len(verdict.findings))])
    return "\n".join(lines) + "\n\n"


def _ok(check: CheckResult) -> str:
    return "ok " if check.passed else "RED"


def _section(name: str, rows: list[str]) -> list[str]:
    return [f"  {name}:", *(f"    {row}" for row in rows)] if rows else []


def _table(rows: list[Row], left: int, *, color: bool) -> list[str]:
    """Return one row a fact: what is wrong always, of the rest as many as can be read."""
    if not rows:
        return []
    room = SHOWN - sum(row.fact.state in _WRONG for row in rows)
    lines = ["    expected claimed actual  fact"]
    for row in rows:
        if row.fact.state in _WRONG or room > 0:
            room -= row.fact.state not in _WRONG
            lines += _row(row.fact, color=color)
        else:
            left += 1
    more = [f"                             and {left} more: --json lists them"] if left else []
    return [*lines, *more]


def _row(fact: Fact, *, color: bool) -> list[str]:
    actual = {True: "yes", False: "NO", None: "?"}[fact.actual]
    expected, claimed = ("yes" if each else "-" for each in (fact.expected, fact.claimed))
    count = f" ({fact.count} changes)" if fact.count > 1 else ""
    at = f"  [{inert(fact.at)}]" if fact.at else ""
    said = f"  {_SPOKEN[fact.state]}" if fact.state in _SPOKEN else ""
    columns = f"  {_MARKS.get(fact.state, ' ')} {expected:^8} {claimed:^7} {actual:^6}"
    line = f"{columns}  {inert(fact.fact)}{count}{at}{said}"
    begin = _COLOURS.get(fact.state, "") if color else ""
    note = [f"{'':29}{inert(fact.note)}"] if fact.note else []
    return [f"{begin}{each}{_PLAIN}" if begin else each for each in (line, *note)]


def _modules(verdict: Verdict) -> Iterator[str]:
    """Yield what came and went between modules of the plan."""
    lifted = verdict.graph.modules
    for sign, lines in (("+", lifted.edges_added), ("-", lifted.edges_removed)):
        yield from (f"{sign} {inert(line)}" for line in lines)


def _finding(verdict: Verdict, index: int) -> str:
    finding = verdict.findings[index]
    sign = {Severity.ERROR: "error  ", Severity.WARNING: "warning", Severity.NOTE: "note   "}[finding.severity]
    more = [*finding.evidence.strip("\n").splitlines(), *([f"hint: {finding.hint}"] if finding.hint else [])]
    return "\n".join([f"{sign} {finding.text()}", *(f"            {text}".rstrip() for text in more)])
