"""Refreshing again whenever something moves: the run, the branch, or the files of the checkout.

What is looked at is what would be on the branch if all came together now: the tree of the run (its integration branch
while it lives, else the branch that it lands on), with the commits and the edits of tracked files in the checkout where
the watch was started merged in, in memory. A checkout that shows another branch, or that conflicts, is left out, and
that is said.
"""

import time
from typing import NamedTuple

from controller.context import Context
from controller.refreshing.demand import Scope, refresh, tip
from packets.refresh import Drift, RefreshReport
from sandbox.git import Edit


class Place(NamedTuple):
    """Where everything stands; compared to tell whether anything moved. Cheap: no content is read."""

    run: str
    head: str
    branch: str
    edits: tuple[Edit, ...]
    merged: tuple[str, ...]


class View(NamedTuple):
    """The tree to look at, of what it is made, and what had to be left out."""

    tree: str
    of: str
    left_out: str


class Seen(NamedTuple):
    """One refresh of a watch: the report, and the drift that came and went since the one before."""

    view: View
    report: RefreshReport
    came: tuple[Drift, ...]
    went: tuple[Drift, ...]


def place(ctx: Context) -> Place:
    """Look where everything stands."""
    git = ctx.git
    states = tuple(f"{m['module']} {m['state']}" for m in ctx.store.modules(ctx.run_id))
    return Place(tip(ctx), git.find("HEAD") or "", git.head_branch() or "", git.edits(), states)


def view(ctx: Context, now: Place) -> View:
    """Make the tree that is looked at."""
    git, base = ctx.git, ctx.run.base_ref.removeprefix("refs/heads/")
    ours = git.tree(now.run)
    if now.branch != base:
        shown = now.branch or "no branch"
        return View(ours, "the run", f"the checkout shows {shown}, not {base}: what it holds is not looked at")
    edited = git.edited_tree(now.edits)
    if git.is_ancestor(now.run, now.head):
        return View(edited, f"{base}{' with your edits' if now.edits else ''}", "")
    whole = ours
    if not git.is_ancestor(now.head, now.run):
        merged = git.merge(now.run, now.head)
        if merged.tree is None:
            return View(ours, "the run", f"the run and {base} conflict in {', '.join(merged.conflicts)}")
        whole = merged.tree
    if now.edits:
        merged = git.merge_trees(git.tree(now.head), whole, edited)
        if merged.tree is None:
            return View(whole, "the run", f"your edits conflict with the run in {', '.join(merged.conflicts)}")
        whole = merged.tree
    return View(whole, "the run" if whole == ours else "the run with what your checkout holds", "")


class Watch:
    """Looks again when asked to, and says what is new. Something that is still moving is waited for."""

    def __init__(self, ctx: Context, scope: Scope, *, checks: bool, no_cache: bool) -> None:
        self.ctx = ctx
        self.scope = scope
        self.checks = checks
        self.no_cache = no_cache
        self.cost = 0.0  # seconds that the last look at where everything stands took
        self._done: Place | None = None
        self._coming: Place | None = None
        self._last: Seen | None = None
        self._merged: tuple[str, ...] = ()

    def look(self) -> Seen | None:
        """Refresh if something moved since the last time and has come to rest; raises GraceError as a refresh does."""
        began = time.monotonic()
        now = place(self.ctx)
        self.cost = time.monotonic() - began
        if now == self._done:
            return None
        if self._done is not None and now != self._coming:
            self._coming = now
            return None
        self._done = now
        return self._refreshed(view(self.ctx, now), now)

    def _refreshed(self, seen: View, now: Place) -> Seen | None:
        known = self._last
        if known and known.view == seen and self._merged == now.merged:
            return None  # touched, and the same
        self._merged = now.merged
        report = refresh(self.ctx, self.scope, tree=seen.tree, no_cache=self.no_cache, checks=self.checks)
        before = {drift.key: drift for drift in known.report.drift} if known else {}
        after = {drift.key: drift for drift in report.drift}
        came = tuple(drift for key, drift in after.items() if key not in before)
        went = tuple(drift for key, drift in before.items() if key not in after)
        self._last = Seen(seen, report, came, went)
        return self._last
