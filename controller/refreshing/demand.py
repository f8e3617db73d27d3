"""grace refresh: one level of one run, on the tree as it is now. Reads trees, runs checks in throwaway copies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controller import refnames
from controller.context import Context
from controller.graph.knowledge import readable
from controller.refreshing.look import Look, look, merged
from controller.refreshing.scenarios import scenarios_in
from packets.errors import UsageError
from packets.refresh import DriftKind, RefreshLevel, RefreshReport


@dataclass(frozen=True)
class Scope:
    """Which level was asked for; exactly one."""

    module: str = ""
    wave: int | None = None
    phase: str = ""
    full: bool = False

    @property
    def level(self) -> RefreshLevel:
        """Return the level; raises UsageError unless exactly one was asked for."""
        asked = {"module": self.module, "wave": self.wave is not None, "phase": self.phase, "full": self.full}
        levels = [RefreshLevel(name) for name, given in asked.items() if given]
        if len(levels) != 1:
            raise UsageError("name one level", "--module ID, --wave N, --phase ID or --full")
        return levels[0]


def tip(ctx: Context) -> str:
    """Return the commit to look at: the integration branch while it lives, else the branch that the run lands on."""
    ref = refnames.integration(ctx.run_id)
    held = {**ctx.git.refs(ctx.run.base_ref), **ctx.git.refs(ref)}
    return held.get(ref) or held.get(ctx.run.base_ref) or ctx.run.base_commit


def refresh(
    ctx: Context, scope: Scope, *, tree: str = "", no_cache: bool = False, checks: bool = True
) -> RefreshReport:
    """Refresh at one level; raises UsageError for one that the run does not have.

    What a run did before its modules' first merge is the tree before; for a phase and for all, where the run began.
    """
    level, names = scope.level, _modules(ctx, scope)
    tree = tree or ctx.git.tree(tip(ctx))
    asked = Look(
        level,
        _before(ctx, level, names),
        tree,
        names,
        f"refresh-{level}",
        wave=_same_wave(ctx, names),
        expected=ctx.git.tree(ctx.expected_tip()),
        ends=scope.phase,
        checks="run" if checks else "none",
        no_cache=no_cache,
    )
    with _alone(ctx):
        report = look(ctx, asked, lambda: False)
    return _suggesting(ctx, report, tree)


@contextmanager
def _alone(ctx: Context) -> Iterator[None]:
    """Let one refresh of a run at a time run checks: their sandboxes are found, and removed, by their name."""
    ctx.folder.mkdir(parents=True, exist_ok=True)
    with (ctx.folder / "refresh.lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _suggesting(ctx: Context, report: RefreshReport, tree: str) -> RefreshReport:
    """Add what changes of the plan would settle the drift."""
    if not report.drift:
        return report
    from controller.refreshing.suggest import Suggestions

    there, missing = merged(ctx), {d.module for d in report.drift if d.kind is DriftKind.MISSING_SCENARIO}
    modules = [m for m in ctx.plan.modules() if m.id in there & missing]
    scenarios = scenarios_in(ctx, modules, ctx.git.entries(tree))
    changes = ctx.git.changes(ctx.git.tree(ctx.run.base_commit), tree)
    came = {change.new_blob: readable(change.path) for change in changes if change.status == "A"}
    moved = {readable(c.path): came[c.old_blob] for c in changes if c.status == "D" and c.old_blob in came}
    suggestions = Suggestions(ctx, ctx.knowledge.graph(tree), scenarios, moved)
    found = suggestions.each(report.drift)
    return report.model_copy(update={"drift": found, "patch": suggestions.together(found)})


def _modules(ctx: Context, scope: Scope) -> tuple[str, ...]:
    """Return the modules of the level whose work is on the tree."""
    rows, level = ctx.store.modules(ctx.run_id), scope.level
    fits = {
        "module": [m["module"] for m in rows if m["module"] == scope.module],
        "wave": [m["module"] for m in rows if m["wave"] == scope.wave],
        "phase": [m["module"] for m in rows if m["phase"] == scope.phase],
        "full": [m["module"] for m in rows],
    }[level]
    if not fits:
        names = ", ".join(m["module"] for m in rows)
        raise UsageError(f"run {ctx.run_id} has no such {level}", f"modules: {names}")
    there = merged(ctx)
    return tuple(m for m in fits if m in there)


def _before(ctx: Context, level: RefreshLevel, names: tuple[str, ...]) -> str:
    """Return the tree before the first merge of these modules, or the one that the run began with."""
    narrow = level in {RefreshLevel.MODULE, RefreshLevel.WAVE}
    merges = [s for s in ctx.records.saga() if s.kind == "merge" and s.state == "done" and s.module in names]
    return ctx.git.tree(merges[0].before if narrow and merges else ctx.run.base_commit)


def _same_wave(ctx: Context, names: tuple[str, ...]) -> tuple[str, ...]:
    rows, there = ctx.store.modules(ctx.run_id), merged(ctx)
    waves = {m["wave"] for m in rows if m["module"] in names}
    return tuple(m["module"] for m in rows if m["wave"] in waves and m["module"] in there)
