"""grace refresh: one level on demand; reads trees, runs checks in throwaway copies, changes nothing."""

import sys
from dataclasses import dataclass

from controller import refresh as levels
from controller.begin import open_context
from controller.cli.opened import opened
from controller.context import Context
from packets.errors import UsageError
from packets.refresh import RefreshLevel, RefreshReport
from sandbox.choose import close


@dataclass(frozen=True)
class Scope:
    """Which level was asked for; exactly one."""

    module: str = ""
    wave: int | None = None
    phase: str = ""
    full: bool = False

    def chosen(self) -> str:
        """Return the level's name; raises UsageError unless exactly one was asked for."""
        asked = {"module": self.module, "wave": self.wave is not None, "phase": self.phase, "full": self.full}
        levels_ = [name for name, given in asked.items() if given]
        if len(levels_) != 1:
            raise UsageError("name one level", "--module ID, --wave N, --phase ID or --full")
        return levels_[0]


def refresh(wanted: str | None, scope: Scope, *, no_cache: bool, checks: bool, as_json: bool) -> int:
    """Report drift at one level; exit 1 when a check is red."""
    level = scope.chosen()
    with opened(wanted) as (git, store, run):
        ctx = open_context(git, store, run)
        try:
            modules = _modules(ctx, scope, level)
            tree = _tree(ctx)
            commands = _commands(ctx, scope, modules) if checks else []
            before = ctx.git.tree(run.base_commit)
            span = levels.Span(RefreshLevel(level), before, tree, commands, f"refresh-{level}")
            report, results = levels.look(ctx, span, lambda: False, no_cache=no_cache)
        finally:
            close(ctx.sandbox)
    sys.stdout.write(report.model_dump_json() + "\n" if as_json else text(report))
    return int(any(not r.passed for r in results))


def _tree(ctx: Context) -> str:
    """Return the tree to look at: the integration branch while it lives, else the base branch."""
    from controller import refnames

    held = {**ctx.git.refs(ctx.run.base_ref), **ctx.git.refs(refnames.integration(ctx.run_id))}
    commit = held.get(refnames.integration(ctx.run_id)) or held.get(ctx.run.base_ref) or ctx.run.base_commit
    return ctx.git.tree(commit)


def _modules(ctx: Context, scope: Scope, level: str) -> list[str]:
    rows = ctx.store.modules(ctx.run_id)
    fits = {
        "module": [m["module"] for m in rows if m["module"] == scope.module],
        "wave": [m["module"] for m in rows if m["wave"] == scope.wave],
        "phase": [m["module"] for m in rows if m["phase"] == scope.phase],
        "full": [m["module"] for m in rows],
    }[level]
    if not fits:
        names = ", ".join(m["module"] for m in rows)
        raise UsageError(f"run {ctx.run_id} has no such {level}", f"modules: {names}")
    merged = levels.merged(ctx)
    return [m for m in fits if m in merged]


def _commands(ctx: Context, scope: Scope, modules: list[str]) -> list[str]:
    own = [c for m in modules for c in ctx.plan.module(m).verification.module_local_checks]
    phases = [p for p in ctx.plan.phases if scope.full or p.id == scope.phase]
    return list(dict.fromkeys([*own, *(c for p in phases for c in p.checks)]))


def text(report: RefreshReport) -> str:
    """Return the report for people."""
    skipped = report.files_total - report.files_parsed
    lines = [
        f"{report.level} refresh: {report.files_parsed} files parsed, {skipped} unchanged, {report.duration_ms} ms"
    ]
    for drift in report.drift:
        place = f"{drift.path}:{drift.line}: " if drift.path and drift.line else f"{drift.path}: " if drift.path else ""
        lines.append(f"  {drift.kind}: {place}{drift.message}")
    lines.extend(f"  {'ok ' if c.passed else 'RED'} {c.command}" for c in report.checks)
    if not report.drift:
        lines.append("  no drift")
    return "\n".join(lines) + "\n"
