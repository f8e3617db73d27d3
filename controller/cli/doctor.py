"""`grace doctor`."""

import json
import sys
from pathlib import Path

from packets.effects import EFFECTS

_STATE = frozenset({"state", "database", "journals", "strays"})


def doctor(as_json: bool) -> int:
    """Print what the machine has; 3 when no plan can run here."""
    from controller.doctor import Check, examine

    report = examine(Path.cwd())
    if as_json:
        checks = [check._asdict() for check in report.checks]
        sys.stdout.write(json.dumps({"ready": report.ready, "checks": checks}) + "\n")
        return 0 if report.ready else 3

    def line(check: Check) -> str:
        word = "ok" if check.ok else "wrong" if check.name in _STATE else "missing"
        text = f"{word:<7} {check.name:<10} {check.detail}"
        steps = check.hint.splitlines() if not check.ok else []
        return text + "".join(f"\n{'':19}{step}" for step in steps)

    sys.stdout.write("\n".join(line(check) for check in report.checks) + "\n")
    sys.stdout.write("this machine is ready\n" if report.ready else "no plan can run here\n")
    return 0 if report.ready else 3


def effects(as_json: bool) -> int:
    """Print everything that grace does to the outside world or to durable state, and how it is undone."""
    if as_json:
        sys.stdout.write(json.dumps([one._asdict() for one in EFFECTS.values()]) + "\n")
        return 0
    lines = []
    for one in EFFECTS.values():
        asked = f"   permission: {one.permission}" if one.permission else ""
        lines += [f"{one.name:<18} {one.reversal:<13} {one.what}{asked}", f"{'':<18} undone by: {one.undone_by}"]
        lines += [f"{'':<18} before: {one.intent}   after: {one.outcome}"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
