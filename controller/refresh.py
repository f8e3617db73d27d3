"""Refresh: graph and verification brought in line with the tree, and a red wave traced to its culprit.

A level says what is looked at: module, wave, phase or full (docs/architecture.md). Checks run on the integrated tree;
green evidence for the very same tree is reused, a red check is run once more before anybody is blamed. A red wave is
bisected over its merges: the culprit is the first module in plan order whose addition turns the prefix red.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from controller.checks import checked
from controller.context import Context
from controller.store.records import SagaStep
from packets.limits import Limits
from packets.refresh import Drift, RefreshLevel, RefreshReport
from packets.verdict import CheckResult, Finding, Severity
from reviewer.compare import compare_tests
from reviewer.gates.checks import flaky
from reviewer.paths import is_python_test

MERGED = frozenset({"asleep", "done"})


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found: the report, and when red the culprit (empty: none of the wave's) and what to tell it."""

    report: RefreshReport
    green: bool
    culprit: str = ""
    message: str = ""
    findings: tuple[Finding, ...] = ()


def limits_of(ctx: Context) -> Limits:
    """Return the limits under which integrated trees are checked: the plan's defaults."""
    return ctx.plan.defaults.limits.over(Limits())


def wave(ctx: Context, number: int, cancelled: Callable[[], bool]) -> Refreshed:
    """Refresh after a wave's merges: the union of its files, checks of touched modules and of their dependents."""
    steps = [s for s in _merges(ctx) if s.wave == number]
    tip = ctx.git.tree(ctx.tip())
    before = ctx.git.tree(steps[0].before) if steps else tip
    touched = [s.module for s in steps]
    commands = [*_module_checks(ctx, tip, touched), *_wave_checks(ctx, number)]
    span = Span(RefreshLevel.WAVE, before, tip, commands, f"wave-{number}")
    report, results = look(ctx, span, cancelled)
    red = [r for r in results if not r.passed]
    doubts = _doubts(ctx, results, tip)
    if not red:
        return Refreshed(report, green=True, findings=doubts)
    culprit, message = _culprit(ctx, steps, red, tip, f"wave-{number}", cancelled)
    findings = (*map(_finding, red), *doubts)
    return Refreshed(report, green=False, culprit=culprit, message=message, findings=findings)


def phase(ctx: Context, phase_id: str, cancelled: Callable[[], bool]) -> Refreshed:
    """Refresh at a phase's end: everything is scanned, the phase's checks run on the integrated tree."""
    tip = ctx.git.tree(ctx.tip())
    checks = next(p.checks for p in ctx.plan.phases if p.id == phase_id)
    before = ctx.git.tree(ctx.run.base_commit)
    span = Span(RefreshLevel.PHASE, before, tip, checks, f"phase-{phase_id}")
    report, results = look(ctx, span, cancelled)
    red = [r for r in results if not r.passed]
    message = "; ".join(map(_red, red))
    return Refreshed(
        report, green=not red, message=message, findings=(*map(_finding, red), *_doubts(ctx, results, tip))
    )


def _doubts(ctx: Context, results: Sequence[CheckResult], tree: str) -> tuple[Finding, ...]:
    """Tell of each check that said different things of this very tree: nobody is blamed for it."""
    doubts = tuple(flaky(result, tree) for result in results if result.flaky)
    for doubt in doubts:
        ctx.note(f"flaky: {doubt.message}", code=doubt.code)
    return doubts


@dataclass(frozen=True)
class Span:
    """What a refresh looks at: its level, the trees before and after, the checks to run there, a name for the job."""

    level: RefreshLevel
    before: str
    after: str
    commands: Sequence[str]
    name: str


def look(
    ctx: Context, span: Span, cancelled: Callable[[], bool], *, no_cache: bool = False
) -> tuple[RefreshReport, tuple[CheckResult, ...]]:
    """Bring the graph to the tree after, run the checks there, and report drift."""
    began = time.monotonic()
    total, parsed, delta = ctx.knowledge.refresh(span.before, span.after, no_cache)
    found = _drift(ctx, span.after)
    job = f"grace-{ctx.run_id}-{span.name}"
    limits = limits_of(ctx)
    results = checked(ctx, span.after, span.commands, name=job, limits=limits, cancelled=cancelled, blames=True)
    report = RefreshReport(
        level=span.level,
        files_total=total,
        files_parsed=parsed,
        duration_ms=round((time.monotonic() - began) * 1000, 1),
        graph_delta=delta,
        drift=found,
        checks=results,
    )
    return report, results


def _drift(ctx: Context, tree: str) -> tuple[Drift, ...]:
    """Set the plan beside the tree: files, edges, scenarios and markers."""
    from controller.graph.drift import drift

    base, present = ctx.git.tree(ctx.run.base_commit), merged(ctx)
    entries = ctx.git.entries(tree)
    tests = {path: entry.blob for path, entry in entries.items() if is_python_test(path)}
    return drift(
        ctx.plan,
        ctx.knowledge.graph(tree),
        entries,
        set(compare_tests({}, tests, ctx.git.blobs).added_ids),
        ctx.knowledge.markers(tree, ctx.plan, present),
        merged=present,
        changed=[change.path for change in ctx.git.changes(base, tree)],
        before=ctx.knowledge.graph(base),
    )


def merged(ctx: Context) -> frozenset[str]:
    """Return the modules whose work is on the integration branch."""
    return frozenset(m["module"] for m in ctx.store.modules(ctx.run_id) if m["state"] in MERGED and not m["reverted"])


def _merges(ctx: Context) -> list[SagaStep]:
    return [s for s in ctx.records.saga() if s.kind == "merge" and s.state == "done"]


def _module_checks(ctx: Context, tree: str, touched: Sequence[str]) -> list[str]:
    """Return the checks of the touched modules and of merged modules that depend on them directly, in plan order."""
    near = set(touched) | (set(ctx.knowledge.touched_dependents(ctx.plan, tree, touched)) & merged(ctx))
    commands = [c for m in ctx.plan.modules() if m.id in near for c in m.verification.module_local_checks]
    return list(dict.fromkeys(commands))


def _wave_checks(ctx: Context, number: int) -> tuple[str, ...]:
    rows = {m["module"]: m["wave"] for m in ctx.store.modules(ctx.run_id)}
    return next((p.wave_checks for p in ctx.plan.phases if rows.get(p.modules[0].id, 0) and
                 number in {rows[m.id] for m in p.modules}), ())  # fmt: skip


def _culprit(  # noqa: PLR0917 - what the wave's refresh knows
    ctx: Context,
    steps: Sequence[SagaStep],
    red: Sequence[CheckResult],
    tip: str,
    name: str,
    cancelled: Callable[[], bool],
) -> tuple[str, str]:
    """Find the first module in plan order whose addition turns the prefix red; the tip is known to be."""
    owners: dict[str, set[str]] = {r.command: set() for r in red}
    for step in steps:
        for command in owners.keys() & set(ctx.plan.module(step.module).verification.module_local_checks):
            owners[command].add(step.module)
    for end in range(len(steps) + 1):
        present = {s.module for s in steps[:end]}
        commands = [c for c, owned in owners.items() if not owned or owned & present]
        tree = ctx.git.tree(steps[end - 1].after if end else steps[0].before)
        job, limits = f"grace-{ctx.run_id}-{name}-prefix-{end}", limits_of(ctx)
        known = [r for r in red if r.command in commands] if tree == tip else None
        results = known or checked(ctx, tree, commands, name=job, limits=limits, cancelled=cancelled, blames=True)
        failed = [r for r in results if not r.passed]
        if failed and not end:
            return "", f"{_red(failed[0])}; it was red before this wave's merges; none of them is at fault"
        if failed:
            return steps[end - 1].module, f"{_red(failed[0])}; it turns red when {steps[end - 1].module} is added"
    return "", "the wave is red, but no prefix of its merges is: a flaky check"


def _red(result: CheckResult) -> str:
    """Say in a line how a check failed: its exit, the last thing it said, where all of it is."""
    how = f"exits {result.exit_code}" if result.reason == "exited" else f"ended by {result.reason}"
    said = next((line.strip()[:160] for line in reversed(result.tail.splitlines()) if line.strip()), "no output")
    return f"{result.command} {how}: {said} (all of it: {result.log})"


def _finding(result: CheckResult) -> Finding:
    return Finding(
        code="verification.check_failed",
        severity=Severity.ERROR,
        message=f"on the integrated tree: {result.command} exits {result.exit_code} ({result.reason})",
        evidence=result.tail[-2000:],
    )
