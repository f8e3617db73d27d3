"""grace refresh: one level on demand, once or whenever something moves; changes nothing, runs checks in copies."""

import json
import signal
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from controller.begin import open_context
from controller.cli.opened import opened
from controller.context import Context
from controller.refreshing.demand import Scope
from controller.refreshing.demand import refresh as look
from controller.refreshing.words import drift_line, files, text
from controller.voice import say
from packets.errors import GraceError
from packets.refresh import RefreshReport
from sandbox.choose import close

if TYPE_CHECKING:
    from controller.prompt import Keys
    from controller.refreshing.watching import Seen, Watch

__all__ = ["How", "Scope", "refresh"]

POLL = 0.5
"""Seconds between two looks, or ten times as long as a look takes where that is longer."""


@dataclass(frozen=True)
class How:
    """The options that are no level."""

    no_cache: bool = False
    checks: bool = True
    watch: bool = False
    patch: bool = False
    as_json: bool = False


def refresh(wanted: str | None, scope: Scope, how: How) -> int:
    """Report drift at one level; exit 1 when a check is red. A watch, and who wants the patch, may name no level."""
    if (how.watch or how.patch) and scope == Scope():
        scope = Scope(full=True)
    scope.level  # noqa: B018 - wrong usage is said before anything is opened
    with opened(wanted) as (git, store, run):
        ctx = open_context(git, store, run)
        try:
            if how.watch:
                return _watch(ctx, scope, how)
            report = look(ctx, scope, no_cache=how.no_cache, checks=how.checks and not how.patch)
        finally:
            close(ctx.sandbox)
    sys.stdout.write(report.patch if how.patch else report.model_dump_json() + "\n" if how.as_json else text(report))
    return int(any(not r.passed for r in report.checks))


# --- watching


def _watch(ctx: Context, scope: Scope, how: How) -> int:
    """Refresh whenever something moves, until q or Ctrl-C; exit 0."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts it in the background ignores it
    from controller.refreshing.watching import Watch

    watch = Watch(ctx, scope, checks=how.checks, no_cache=how.no_cache)
    try:
        with _listening(how) as keys:
            if not how.as_json:
                leave = "q or Ctrl-C" if keys else "Ctrl-C"
                say(f"grace: watching run {ctx.run_id} at level {scope.level}; {leave} ends it\n", error=True)
            while True:
                _once(ctx, watch, how)
                pause = max(POLL, 10 * watch.cost)
                if keys is None:
                    time.sleep(pause)
                elif keys.pressed(pause).lower() == "q":
                    return 0
    except KeyboardInterrupt:
        return 0


def _listening(how: How) -> "nullcontext[Keys | None]":
    if how.as_json or not sys.stdin.isatty():
        return nullcontext(None)
    from controller.prompt import keys

    return keys()  # type: ignore[return-value]


def _once(ctx: Context, watch: "Watch", how: How) -> None:
    try:
        seen = watch.look()
    except GraceError as fault:
        say(f"grace: {fault.message}{f' ({fault.hint})' if fault.hint else ''}\n", error=True)
        return
    if seen is not None:
        say(_as_json(ctx, seen) if how.as_json else _as_text(seen))


def _as_json(ctx: Context, seen: "Seen") -> str:
    body = seen.report.model_dump(mode="json")
    head = {
        "run_id": ctx.run_id,
        "at": datetime.now().astimezone().isoformat(timespec="seconds"),
        **seen.view._asdict(),
    }
    drift = {name: [d.model_dump(mode="json") for d in getattr(seen, name)] for name in ("came", "went")}
    return json.dumps(head | body | drift, ensure_ascii=False) + "\n"


def _as_text(seen: "Seen") -> str:
    report = seen.report
    at = f"{datetime.now().astimezone():%H:%M:%S}"
    lines = [f"{at}  {_standing(report)}  {seen.view.of} {seen.view.tree[:10]}: {files(report)}"]
    lines += [f"          {seen.view.left_out}"] if seen.view.left_out else []
    lines += [f"          wider: {step.to}: {step.why}" for step in report.escalations]
    lines += [f"        + {drift_line(drift)}" for drift in seen.came]
    lines += [f"        - {drift_line(drift)}" for drift in seen.went]
    lines += [f"        RED {check.command}" for check in report.checks if not check.passed]
    return "\n".join(lines) + "\n"


def _standing(report: RefreshReport) -> str:
    red = sum(not check.passed for check in report.checks)
    drift = f"{len(report.drift)} drift" if report.drift else "no drift"
    checks = f"{red} RED" if red else f"{len(report.checks)} green" if report.checks else "no checks"
    return f"{report.reached}: {checks}, {drift}"
