"""What a module has on the branch already: one that was woken works on top of its first merge."""

from controller.context import Context
from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import Base, ExecutionPacket
from packets.verdict import Finding, Severity


def without_own_work(ctx: Context, module: str, base: Base) -> str:
    """Return the base's tree without what the module's own merges brought to it.

    The plan says what the module as a whole changes, so a further attempt at one that is merged is held against this
    tree. Read from the history of the base itself, which no undo of other modules rewrites. Where somebody else changed
    the same path since, it is as it was before the module.
    """
    git, tree = ctx.git, base.tree
    mark = f"\nGrace-Run: {ctx.run_id}\nGrace-Module: {module}\nGrace-Attempt: "
    for commit in git.log(ctx.run.base_commit, base.commit, first_parent=True):
        if mark in commit.message:
            tree = git.merge_taking_theirs(commit.tree, tree, git.tree(commit.parents[0])).tree
    return tree


def told_of_it(ctx: Context, module: str, base: Base) -> tuple[Finding, ...]:
    """Return what the packet says of it, where there is any."""
    if without_own_work(ctx, module, base) == base.tree:
        return ()
    text = "the base holds what this module made before; what is expected of it counts from without that"
    return (Finding(code="base.own_work", severity=Severity.NOTE, message=text),)


def compared(ctx: Context, packet: ExecutionPacket, before: str, head: str, claimed: GraphDelta) -> GraphReport:
    """Compare with the tree that has nothing of the module; what others use of the base must stay all the same."""
    report = ctx.knowledge.compare(ctx.plan, packet, before, head, claimed)
    if before == packet.base.tree:
        return report
    since = ctx.knowledge.compare(ctx.plan, packet, packet.base.tree, head, claimed)
    return report.model_copy(update={"surface_in_use": since.surface_in_use})
