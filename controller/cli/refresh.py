"""grace refresh: one level on demand; reads trees, runs checks in throwaway copies, changes nothing."""

import sys

from controller.begin import open_context
from controller.cli.opened import opened
from controller.refreshing.demand import Scope
from controller.refreshing.demand import refresh as look
from controller.refreshing.words import text
from sandbox.choose import close

__all__ = ["Scope", "refresh"]


def refresh(wanted: str | None, scope: Scope, *, no_cache: bool, checks: bool, as_json: bool) -> int:
    """Report drift at one level; exit 1 when a check is red."""
    scope.level  # noqa: B018 - wrong usage is said before anything is opened
    with opened(wanted) as (git, store, run):
        ctx = open_context(git, store, run)
        try:
            report = look(ctx, scope, no_cache=no_cache, checks=checks)
        finally:
            close(ctx.sandbox)
    sys.stdout.write(report.model_dump_json() + "\n" if as_json else text(report))
    return int(any(not r.passed for r in report.checks))
