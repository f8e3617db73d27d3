"""Which merge turned a wave red: the first module in plan order whose addition turns the prefix red.

Only checks that are red on the whole are run, on prefixes of the merges that exist as trees already, and only where
nobody knows the answer: green evidence and a check that is red for good count for the same tree over waves, lives and
runs. The prefixes are asked in order. Nothing shorter is exact: what is red may turn green again with the next merge,
so the first red one is known only when all before it are known to be green.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from controller.checks import always_red, checked, green
from controller.context import Context
from controller.refreshing.look import limits_of
from controller.refreshing.words import red_line
from controller.store.records import SagaStep
from packets.refresh import Bisection
from packets.verdict import CheckResult

SYNC = "sync"


class Found(NamedTuple):
    """The culprit (empty: none of the merges), what to tell, and how it was searched."""

    culprit: str
    message: str
    how: Bisection


@dataclass
class Search:
    """One search. `red` are the failed checks of the tree `tip`, which all `steps` together lead to."""

    ctx: Context
    steps: Sequence[SagaStep]
    red: Sequence[CheckResult]
    tip: str
    name: str
    cancelled: Callable[[], bool]
    always: Collection[str] = ()  # commands that count also before any of these merges
    tried: int = 0
    known: int = 0
    owners: dict[str, set[str]] = field(default_factory=dict)

    def find(self) -> Found:
        """Ask one prefix after the other; the last one is known to be red."""
        added = {step.module for step in self.steps if step.module}
        for command in (r.command for r in self.red if r.command not in self.always):
            self.owners[command] = {m for m in added if command in self._checks(m)}
        for end in range(len(self.steps) + 1):
            if failed := self._red_at(end):
                return self._said(end, failed)
        return Found("", "the wave is red, but no prefix of its merges is: a flaky check", self._how())

    def _checks(self, module: str) -> tuple[str, ...]:
        return self.ctx.plan.module(module).verification.module_local_checks

    def _red_at(self, end: int) -> CheckResult | None:
        """Return a check that is red with the first `end` merges; a check counts from its first owner on."""
        present = {step.module for step in self.steps[:end]}
        asked = [r for r in self.red if not self.owners.get(r.command) or self.owners[r.command] & present]
        tree = self.ctx.git.tree(self.steps[end - 1].after if end else self.steps[0].before)
        if tree == self.tip or not asked:
            return asked[0] if asked else None
        if known := next((r for r in asked if always_red(self.ctx, tree, r.command)), None):
            self.known += 1
            return known
        missing = [r.command for r in asked if not green(self.ctx, tree, r.command)]
        if not missing:
            self.known += 1
            return None
        self.tried += 1
        job, limits = f"grace-{self.ctx.run_id}-{self.name}-prefix-{end}", limits_of(self.ctx)
        results = checked(self.ctx, tree, missing, name=job, limits=limits, cancelled=self.cancelled, blames=True)
        return next((r for r in results if not r.passed), None)

    def _said(self, end: int, failed: CheckResult) -> Found:
        how, why = self._how(), red_line(failed)
        if not end:
            return Found("", f"{why}; it was red before this wave's merges; none of them is at fault", how)
        step = self.steps[end - 1]
        if step.kind == SYNC:
            return Found("", f"{why}; it turns red when the base that moved is merged in", how)
        trees = f"{how.tried} tree{'' if how.tried == 1 else 's'} tried"
        return Found(
            step.module, f"{why}; it turns red when {step.module} is added ({how.merges} merges, {trees})", how
        )

    def _how(self) -> Bisection:
        return Bisection(merges=len(self.steps), tried=self.tried, known=self.known)
