"""Names that led somewhere in the tree that a module left, and nowhere in the one that it was merged into."""

from collections.abc import Iterable

from controller.context import Context
from controller.graph.knowledge import readable
from packets.errors import UsageError
from packets.verdict import Decision

Lost = dict[str, tuple[tuple[int, str, str], ...]]


def clashes(ctx: Context, modules: Iterable[str], tree: str) -> Lost:
    """Say where the accepted work of these modules names what others took away meanwhile, whatever their checks say.

    Only files that are in `tree` as the module left them: what changed since then is not its work any more.
    """
    found: Lost = {}
    for name in modules:
        made = [
            a for a in ctx.records.attempts(name) if a.outcome and a.verdict and a.verdict.decision is Decision.ACCEPT
        ]
        if made and made[-1].outcome:
            found |= _clashes(ctx, made[-1].packet.base.tree, made[-1].outcome.head_tree, tree)
    return found


def _clashes(ctx: Context, base: str, head: str, tree: str) -> Lost:
    if head == tree:
        return {}
    try:
        own = {readable(change.path) for change in ctx.git.changes(base, ctx.git.tree(head))}
    except UsageError:  # somebody deleted its ref, and git has pruned it
        return {}
    own -= {readable(change.path) for change in ctx.git.changes(head, tree)}
    return ctx.knowledge.broken(head, tree, sorted(own))
