"""What a run refreshes by itself: a module when its tree is accepted, a wave when it is merged, a phase at its end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controller.context import Context
from controller.refreshing.bisect import SYNC, Found, Search
from controller.refreshing.look import Look, look, merged
from controller.refreshing.words import counted, red_line, some_drift
from controller.store.records import SagaStep
from packets.packet import ExecutionPacket
from packets.refresh import Bisection, DriftKind, RefreshLevel, RefreshReport
from packets.verdict import CheckResult, Finding, Severity
from reviewer.gates.checks import flaky


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found: the report, and when red the culprit (empty: none of the wave's) and what to tell it."""

    report: RefreshReport
    green: bool
    culprit: str = ""
    message: str = ""
    findings: tuple[Finding, ...] = ()
    bisection: Bisection | None = None


def module(ctx: Context, packet: ExecutionPacket, head: str) -> RefreshReport:
    """Refresh after an accepted tree, before it is merged: its checks are what the reviewer just proved on it."""
    name, attempt = packet.module_id, packet.attempt
    asked = Look(
        RefreshLevel.MODULE, packet.base.tree, head, (name,), f"module-{name}",
        wave=_of_wave(ctx, packet.wave), checks="known",
    )  # fmt: skip
    report = look(ctx, asked, ctx.stopping)
    reused = f", {len(report.checks_reused)} checks known to be green" if report.checks_reused else ""
    ctx.note(
        f"module refresh: {report.looked.changed} files changed,"
        f" {report.files_parsed} of {report.files_total} parsed{reused}",
        name, attempt,
        level="module", reached=str(report.reached), files_total=report.files_total, files_parsed=report.files_parsed,
        dependents=list(report.dependents),
    )  # fmt: skip
    _tell(ctx, report, name, attempt)
    return report


def wave(ctx: Context, number: int, cancelled: Callable[[], bool]) -> Refreshed:
    """Refresh after a wave's merges: the union of its files, checks of touched modules and of their dependents."""
    done = [s for s in ctx.records.saga() if s.kind in {"merge", SYNC} and s.state == "done"]
    first = next((n for n, s in enumerate(done) if s.kind == "merge" and s.wave == number), len(done))
    steps, tip = done[first:], ctx.git.tree(ctx.tip())
    touched = tuple(dict.fromkeys(s.module for s in steps if s.wave == number and s.module))
    before = ctx.git.tree(steps[0].before) if steps else tip
    report = look(ctx, Look(RefreshLevel.WAVE, before, tip, touched, f"wave-{number}"), cancelled)
    _tell(ctx, report)
    red, doubts = [r for r in report.checks if not r.passed], _doubts(ctx, report.checks, tip)
    if not red:
        return Refreshed(report, green=True, findings=doubts)
    found = _culprit(ctx, steps, red, tip, f"wave-{number}", cancelled)
    findings = (*(_finding(r, _names_nowhere(report)) for r in red), *doubts)
    return Refreshed(report, not red, found.culprit, found.message, findings, found.how)


def _culprit(  # noqa: PLR0917 - what the wave's refresh knows
    ctx: Context,
    steps: Sequence[SagaStep],
    red: Sequence[CheckResult],
    tip: str,
    name: str,
    cancelled: Callable[[], bool],
) -> Found:
    added = {s.module for s in steps}
    always = {c for phase in ctx.plan.phases for c in (*phase.wave_checks, *phase.checks)}
    for other in merged(ctx) - added:
        always |= set(ctx.plan.module(other).verification.module_local_checks)
    return Search(ctx, steps, red, tip, name, cancelled, always).find()


def phase(ctx: Context, phase_id: str, cancelled: Callable[[], bool]) -> Refreshed:
    """Refresh at a phase's end: everything is linked anew, the phase's checks run on the integrated tree."""
    tip, before = ctx.git.tree(ctx.tip()), ctx.git.tree(ctx.run.base_commit)
    asked = Look(RefreshLevel.PHASE, before, tip, (), f"phase-{phase_id}", ends=phase_id)
    report = look(ctx, asked, cancelled)
    if words := counted(report.drift):
        ctx.note(f"phase {phase_id}: plan and tree drifted apart: {words}; see grace refresh {ctx.run_id} --full")
    red, doubts = [r for r in report.checks if not r.passed], _doubts(ctx, report.checks, tip)
    message = "; ".join(map(red_line, red))
    return Refreshed(report, green=not red, message=message, findings=(*map(_finding, red), *doubts))


def _of_wave(ctx: Context, number: int) -> tuple[str, ...]:
    there = merged(ctx)
    return tuple(m["module"] for m in ctx.store.modules(ctx.run_id) if m["wave"] == number and m["module"] in there)


def _tell(ctx: Context, report: RefreshReport, module_id: str = "", attempt: int = 0) -> None:
    """Say why it went on to a wider level, and what drifted."""
    for step in report.escalations:
        said = f"{step.level} refresh goes on to {step.to}: {step.why}"
        ctx.note(said, module_id, attempt, level=str(step.level), to=str(step.to), why=step.why)
    for line in some_drift(report.drift):
        ctx.note(line, module_id, attempt)


def _doubts(ctx: Context, results: Sequence[CheckResult], tree: str) -> tuple[Finding, ...]:
    """Tell of each check that said different things of this very tree: nobody is blamed for it."""
    doubts = tuple(flaky(result, tree) for result in results if result.flaky)
    for doubt in doubts:
        ctx.note(f"flaky: {doubt.message}", code=doubt.code)
    return doubts


def _names_nowhere(report: RefreshReport) -> str:
    """Say which names lead nowhere on the integrated tree: often that is what a red check is about."""
    places = [d for d in report.drift if d.kind is DriftKind.STALE_EDGE and not d.note]
    return "; ".join(f"{d.place} {d.message}" for d in places[:5])


def _finding(result: CheckResult, hint: str = "") -> Finding:
    return Finding(
        code="verification.check_failed",
        severity=Severity.ERROR,
        message=f"on the integrated tree: {result.command} exits {result.exit_code} ({result.reason})",
        evidence=result.tail[-2000:],
        hint=hint,
    )
