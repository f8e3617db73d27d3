"""Which checks a level runs, and why it leaves the others out."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from controller.refreshing.reach import Reach
from packets.plan import Phase, Plan
from packets.refresh import LeftOut, RefreshLevel


class Commands(NamedTuple):
    """The commands, those of modules first, each once and in plan order; and what is left out."""

    run: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


class Standing(NamedTuple):
    """Where the run stands: the state and the wave of each module, and whose work is on the tree."""

    states: Mapping[str, str]
    waves: Mapping[str, int]
    merged: AbstractSet[str]


def commands(plan: Plan, reach: Reach, stands: Standing, *, ends: str = "") -> Commands:
    """Return the checks of a level. `ends` is the phase that is at its end, where a phase is refreshed.

    module: its own. wave: those of its modules and of direct dependents, and the wave checks of its phase. phase: its
    own, and those of its modules where they are named. full: all that can be green by now.
    """
    wide = reach.level is RefreshLevel.FULL
    near = reach.near if reach.level is RefreshLevel.WAVE else ()
    touched = stands.merged if wide else {*reach.modules, *near}
    chosen = [c for m in plan.modules() if m.id in touched for c in m.verification.module_local_checks]
    for phase in plan.phases:
        here = {m.id for m in phase.modules}
        begun = not here.isdisjoint(stands.merged) if wide else not here.isdisjoint(reach.modules)
        if begun and reach.level in {RefreshLevel.WAVE, RefreshLevel.FULL}:
            chosen += phase.wave_checks
        if phase.id == ends or (wide and _is_complete(phase, stands)):
            chosen += phase.checks
    run = tuple(dict.fromkeys(chosen))
    left = {out.command: out for out in reversed([*_left_out(plan, reach, stands)])}
    return Commands(run, tuple(left[c] for c in plan.checks() if c in left and c not in run))


def _is_complete(phase: Phase, stands: Standing) -> bool:
    """Tell whether a phase's own checks can be green: all of its modules that must be there are."""
    wanted = {m.id for m in phase.modules if not m.optional}
    return wanted <= stands.merged and not stands.merged.isdisjoint(m.id for m in phase.modules)


def _left_out(plan: Plan, reach: Reach, stands: Standing) -> Iterator[LeftOut]:
    for phase in plan.phases:
        for module in phase.modules:
            if module.id not in stands.merged and module.id not in reach.modules:
                why = f"{module.id} is {stands.states.get(module.id, 'queued')}: nothing of it is on the tree"
            elif reach.level is RefreshLevel.PHASE:
                why = f"{module.id} was checked at its wave"
            else:
                why = f"{module.id} is neither looked at nor a direct dependent of what is"
            yield from (LeftOut(command=c, why=why) for c in module.verification.module_local_checks)
        for command in phase.wave_checks:
            yield LeftOut(command=command, why=f"a wave check of phase {phase.id}: not at this level")
        for command in phase.checks:
            why = "not at this level" if reach.level is not RefreshLevel.FULL else "not all of its modules are merged"
            yield LeftOut(command=command, why=f"a check of phase {phase.id}: {why}")
