"""What a plan may do, but should know of: nothing that verifies, and files that judge."""

import re
from collections.abc import Iterator, Mapping

from controller.plan.check_names import modules_at
from controller.plan.places import Loc, Places
from packets.plan import Module, Phase, Plan
from packets.problem import Problem
from packets.protected import is_protected, paths_in
from packets.scope import Scope, parse_entry

_FILE = re.compile(r"[\w.][\w./-]*\.[A-Za-z]\w*")
"""What looks like a file in a command."""


def note_problems(plan: Plan, places: Places) -> Iterator[Problem]:
    """Return warnings and notes; none of them refuses the plan."""
    named = {path: check for check in reversed(plan.checks()) for path in paths_in(check) if _FILE.fullmatch(path)}
    for loc, module in modules_at(plan):
        if not _checks(plan.phase_of(module.id), module):
            message = f"nothing verifies {module.id}: it has no checks, and neither has its phase"
            hint = "add module_local_checks; that nothing was verified is a finding of its review"
            yield places.problem((*loc, "id"), "plan.no_checks", message, hint, severity="warning")
        yield from _named(module, loc, places)
        yield from _judges(module, named, loc, places)


def _checks(phase: Phase, module: Module) -> tuple[str, ...]:
    return (*module.verification.module_local_checks, *phase.checks, *phase.wave_checks)


def _named(module: Module, loc: Loc, places: Places) -> Iterator[Problem]:
    for index, entry in enumerate(module.write_scope):
        pattern = parse_entry(entry)
        path = "/".join(pattern.fixed)
        if pattern.literal and (reason := is_protected(path)):
            message = f"{module.id} may write {path}, {reason}, because its scope names it"
            yield places.problem((*loc, "write_scope", index), "plan.protected_named", message, severity="note")


def _judges(module: Module, named: Mapping[str, str], loc: Loc, places: Places) -> Iterator[Problem]:
    """Warn of files that a check names while the scope only covers them: the module may not change those.

    `named` maps each file that a check names to the first such check.
    """
    scope = Scope.parse(module.write_scope)
    for path, check in sorted(named.items()):
        if scope.matches(path) and not scope.names(path):
            message = f"the check `{check}` names {path}, so {module.id} may write it only when its scope names it too"
            hint = f"add `{path}` to write_scope if the module is to change it"
            yield places.problem((*loc, "write_scope"), "plan.protected_judge", message, hint, severity="warning")
