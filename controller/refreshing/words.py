"""A refresh in words for people."""

from collections import Counter
from collections.abc import Iterable, Iterator

from packets.refresh import Drift, RefreshReport
from packets.verdict import CheckResult

_MOST = 6
"""Lines of one kind that a run says by itself."""


def red_line(result: CheckResult) -> str:
    """Say in a line how a check failed: its exit, the last thing it said, where all of it is."""
    how = f"exits {result.exit_code}" if result.reason == "exited" else f"ended by {result.reason}"
    said = next((line.strip()[:160] for line in reversed(result.tail.splitlines()) if line.strip()), "no output")
    return f"{result.command} {how}: {said} (all of it: {result.log})"


def drift_line(drift: Drift) -> str:
    """Say one drift in a line."""
    return f"{drift.kind}: {f'{drift.place}: ' if drift.place else ''}{drift.message}"


def some_drift(found: Iterable[Drift]) -> Iterator[str]:
    """Say what needs repair, a few lines of it."""
    wanted = [drift for drift in found if not drift.note]
    yield from (f"drift: {drift_line(drift)}; {drift.todo}" for drift in wanted[:_MOST])
    if len(wanted) > _MOST:
        yield f"drift: {len(wanted) - _MOST} more"


def counted(found: Iterable[Drift]) -> str:
    """Say how much of each kind needs repair; empty for nothing."""
    kinds = Counter(drift.kind for drift in found if not drift.note)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items())


def text(report: RefreshReport) -> str:
    """Return the report for people."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RefreshReport) -> Iterator[str]:
    looked = report.looked
    yield f"{report.level} refresh: {files(report)}, {report.duration_ms} ms"
    for step in report.escalations:
        yield f"  wider: {step.level} -> {step.to}: {step.why}"
    if report.modules:
        near = f"; direct dependents: {', '.join(report.dependents)}" if report.dependents else ""
        yield f"  looked at: {', '.join(report.modules)}{near}"
    yield f"  skipped: {looked.known} files known by content, {looked.opaque} that no language reads"
    for drift in report.drift:
        yield f"  {drift_line(drift)}"
        yield f"      {'maybe' if drift.note else 'do'}: {drift.todo}"
        if drift.patch:
            yield from (f"      {line}" for line in drift.patch.splitlines())
    if not report.drift:
        yield "  no drift"
    for check in report.checks:
        reused = " (green on this very tree before, not run again)" if check.command in report.checks_reused else ""
        yield f"  {'ok ' if check.passed else 'RED'} {check.command}{reused}"
    for out in report.checks_left_out:
        yield f"  --  {out.command}: left out, {out.why}"


def files(report: RefreshReport) -> str:
    """Say how many files were looked at and how."""
    looked = report.looked
    return f"{looked.files} files, {looked.changed} changed, {looked.parsed} parsed, {looked.relinked} relinked"
