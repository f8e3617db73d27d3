"""One look: bring the graph to a tree, set the plan beside it, run the level's checks; wider where that is needed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from controller.checks import checked, green
from controller.context import Context
from controller.graph.drift import Sight, drift
from controller.graph.knowledge import readable
from controller.graph.territory import Territory
from controller.refreshing.clashes import clashes
from controller.refreshing.commands import Commands, Standing, commands
from controller.refreshing.reach import Broken, Reach, further, reach_of
from controller.refreshing.scenarios import scenarios_in
from packets.deltas import GraphDelta
from packets.limits import Limits
from packets.refresh import Drift, Escalation, LeftOut, Looked, RefreshLevel, RefreshReport
from packets.verdict import CheckResult

MERGED = frozenset({"asleep", "done"})
_WIDER = {RefreshLevel.MODULE: RefreshLevel.WAVE, RefreshLevel.WAVE: RefreshLevel.FULL}


@dataclass(frozen=True)
class Look:
    """What is asked for. Trees before and after; the modules that the level is about, and those of their waves.

    `expected` is the tree that the run's own record gives: what differs from it changed behind the plan's back. `ends`
    is the phase at whose end it is. `checks`: "run" them, take what is "known" of this tree, or "none". `name` is that
    of the checks' sandbox.
    """

    level: RefreshLevel
    before: str
    after: str
    modules: tuple[str, ...]
    name: str
    wave: tuple[str, ...] = ()
    expected: str = ""
    ends: str = ""
    checks: str = "run"
    no_cache: bool = False


class Seen(NamedTuple):
    """What the graph and git say of the two trees; paths are readable."""

    looked: Looked
    delta: GraphDelta
    changed: frozenset[str]
    strays: frozenset[str]
    broken: Broken


def limits_of(ctx: Context) -> Limits:
    """Return the limits under which integrated trees are checked: the plan's defaults."""
    return ctx.plan.defaults.limits.over(Limits())


def merged(ctx: Context) -> frozenset[str]:
    """Return the modules whose work is on the integration branch, or has landed."""
    return frozenset(m["module"] for m in ctx.store.modules(ctx.run_id) if m["state"] in MERGED and not m["reverted"])


def look(ctx: Context, asked: Look, cancelled: Callable[[], bool]) -> RefreshReport:
    """Look at the level that is asked for, then at wider ones as long as what is found lies further away."""
    began = time.monotonic()
    there = merged(ctx)
    seen = _see(ctx, asked, there)
    reach, escalations = _widened(ctx, asked, seen, there)
    chosen = commands(ctx.plan, reach, _standing(ctx, there), ends=asked.ends)
    found = _drift(ctx, asked, seen, reach, there)
    results, reused, chosen = _checks(ctx, asked, chosen, cancelled)
    return RefreshReport(
        level=asked.level,
        reached=reach.level,
        files_total=seen.looked.files,
        files_parsed=seen.looked.parsed,
        duration_ms=round((time.monotonic() - began) * 1000, 1),
        looked=seen.looked,
        modules=reach.modules,
        dependents=reach.near,
        escalations=escalations,
        graph_delta=seen.delta,
        drift=found,
        checks=results,
        checks_reused=reused,
        checks_left_out=chosen.left_out,
    )


def _standing(ctx: Context, there: frozenset[str]) -> Standing:
    rows = ctx.store.modules(ctx.run_id)
    return Standing({m["module"]: m["state"] for m in rows}, {m["module"]: m["wave"] for m in rows}, there)


def _see(ctx: Context, asked: Look, there: frozenset[str]) -> Seen:
    anew = asked.level in {RefreshLevel.PHASE, RefreshLevel.FULL}
    looked, delta = ctx.knowledge.bring(asked.before, asked.after, no_cache=asked.no_cache, anew=anew)
    changed = _between(ctx, asked.before, asked.after)
    planned = [scope for name, scope in Territory(ctx.plan).planned.items() if name in there or name in asked.modules]
    strays = {path for path in changed if not any(scope.matches(path) for scope in planned)} - {plan_path(ctx)}
    if asked.expected:
        strays |= _between(ctx, asked.expected, asked.after)
    lost = {edge.partition(" -> ")[0].partition("::")[0] for edge in delta.edges_removed} - changed
    broken = ctx.knowledge.broken(asked.before, asked.after, sorted(lost)) | clashes(ctx, asked.modules, asked.after)
    return Seen(looked.model_copy(update={"changed": len(changed)}), delta, changed, frozenset(strays), broken)


def _between(ctx: Context, before: str, after: str) -> frozenset[str]:
    return frozenset(readable(change.path) for change in ctx.git.changes(before, after))


def plan_path(ctx: Context) -> str:
    """Return the path of the plan in the repository; empty for one that lies elsewhere.

    It was written down as it was given. Where it does not lead to a file from the root, somebody began the run in a
    folder further in: then it is the file of that name which held the plan when the run began.
    """
    main, given = ctx.git.main.resolve(), Path(ctx.run.plan_path)
    whole = (main / given).resolve()
    if whole.is_relative_to(main) and (given.is_absolute() or whole.is_file()):
        return whole.relative_to(main).as_posix()
    entries = ctx.git.entries(ctx.git.tree(ctx.run.base_commit))
    named = [path for path in entries if path.rpartition("/")[2] == given.name]
    held = {
        path: data for path in named for _, data in ctx.git.blobs([entries[path].blob]) if data == ctx.run.plan_text
    }
    return readable(next(iter(held), given.as_posix() if whole.is_relative_to(main) else ""))


def _widened(ctx: Context, asked: Look, seen: Seen, there: frozenset[str]) -> tuple[Reach, tuple[Escalation, ...]]:
    """Return the level that holds all that is found, and the steps to it."""
    territory, graphs = Territory(ctx.plan), [ctx.knowledge.graph(tree) for tree in (asked.before, asked.after)]
    reach = reach_of(asked.level, territory, asked.modules, graphs, there)
    steps: list[Escalation] = []
    while why := further(reach, seen.strays, seen.broken):
        wider = _WIDER[reach.level]
        steps.append(Escalation(level=reach.level, to=wider, why=why))
        names = (*asked.modules, *(m for m in asked.wave if m not in asked.modules))
        reach = reach_of(wider, territory, names, graphs, there)
    return reach, tuple(steps)


def _drift(ctx: Context, asked: Look, seen: Seen, reach: Reach, there: frozenset[str]) -> tuple[Drift, ...]:
    """Set the plan beside the tree, as far as the level reaches: files, edges, scenarios and markers."""
    present = there | (set(asked.modules) if asked.checks == "known" else set())  # one that is accepted is judged, too
    held = [m for m in ctx.plan.modules() if m.id in present and (reach.held is None or m.id in reach.held)]
    entries = ctx.git.entries(asked.after)
    changed = _between(ctx, ctx.git.tree(ctx.run.base_commit), asked.after) - {plan_path(ctx)}
    gained = seen.changed | {edge.partition(" -> ")[0].partition("::")[0] for edge in seen.delta.edges_added}
    sight = Sight(
        plan=ctx.plan,
        graph=ctx.knowledge.graph(asked.after),
        entries=tuple(map(readable, entries)),
        merged=present,
        scenarios=scenarios_in(ctx, held, entries),
        markers=ctx.knowledge.markers(asked.after, ctx.plan, [m.id for m in held]),
        held=reach.held,
        changed=sorted(path for path in changed if reach.holds(path)),
        before=ctx.knowledge.graph(asked.before),
        gained=gained,
        broken={path: places for path, places in seen.broken.items() if reach.holds(path)},
    )
    return drift(sight)


def _checks(
    ctx: Context, asked: Look, chosen: Commands, cancelled: Callable[[], bool]
) -> tuple[tuple[CheckResult, ...], tuple[str, ...], Commands]:
    """Run what has no green evidence of this very tree; or only take what is known, or nothing."""
    known = tuple(c for c in chosen.run if green(ctx, asked.after, c)) if asked.checks != "none" else ()
    wanted = chosen.run if asked.checks == "run" else known
    if missing := [c for c in chosen.run if c not in wanted]:
        why = "--no-checks" if asked.checks == "none" else "it runs on the integrated tree, at the wave's refresh"
        chosen = replace_left(chosen, missing, why)
    job = f"grace-{ctx.run_id}-{asked.name}"
    results = checked(ctx, asked.after, wanted, name=job, limits=limits_of(ctx), cancelled=cancelled, blames=True)
    return results, known, chosen


def replace_left(chosen: Commands, missing: list[str], why: str) -> Commands:
    """Leave these commands out as well."""
    left = tuple(LeftOut(command=command, why=why) for command in missing)
    return Commands(tuple(c for c in chosen.run if c not in missing), (*left, *chosen.left_out))
