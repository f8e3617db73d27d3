"""Rescue refs: what nobody accepted hangs on one before its folder goes, and none takes the place of another."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count

from controller import refnames
from controller.context import Context
from controller.messages import attempt_message
from controller.store.records import AttemptRecord, Records
from packets.outcome import StopReason
from packets.packet import ExecutionPacket
from sandbox.effect import effect
from sandbox.git import Git
from worker.attempt import discard_attempt, left_behind, workspace_of


def keep(ctx: Context, module: str, attempt: int, commit: str) -> str:
    """Hang the commit on a rescue ref of its own, unless one of the attempt holds this very tree; returns the ref."""
    first, git = refnames.rescue(ctx.run_id, module, attempt), ctx.git
    taken = git.refs(refnames.rescues(ctx.run_id))
    for number in count(1):
        ref = first if number == 1 else f"{first}-{number}"
        if ref not in taken:
            with effect("ref.rescue"):
                git.update_ref(ref, commit, "")
            return ref
        if git.tree(taken[ref]) == git.tree(commit):
            return ref
    raise AssertionError("count has no end")


def keep_tree(ctx: Context, packet: ExecutionPacket, tree: str) -> str:
    """Hang a tree that a worker left unfinished on a rescue ref; says so and returns the ref."""
    commit = ctx.git.commit(tree, [packet.base.commit], attempt_message(packet), ctx.plan.commit.author)
    ref = keep(ctx, packet.module_id, packet.attempt, commit)
    ctx.note(f"unfinished edits are kept: {ref}", packet.module_id, packet.attempt)
    return ref


def keep_edit(git: Git, packet: ExecutionPacket, tree: str, author: str | None) -> None:
    """Hang what a person made of an attempt's tree on a branch of the run, until an attempt has taken it in."""
    commit = git.commit(tree, [packet.base.commit], attempt_message(packet), author)
    with effect("ref.attempt"):
        git.update_ref(refnames.edited(packet.run_id, packet.module_id, packet.attempt), commit, None)


def unharvested(git: Git, records: Records) -> Iterator[AttemptRecord]:
    """Give the attempts whose workspace lies there with content that hangs on no ref yet."""
    for record in records.attempts():
        taken = record.outcome is not None and record.outcome.reason is not StopReason.CANCELLED
        if not taken and workspace_of(record.packet, git) is not None:
            yield record


def salvage(ctx: Context) -> list[str]:
    """Stop workers that nobody waits for, keep what they left and clear their places; returns the rescue refs."""
    kept = []
    for record in list(unharvested(ctx.git, ctx.records)):
        tree = left_behind(record.packet, git=ctx.git, sandbox=ctx.sandbox)
        if tree is not None and tree != record.packet.base.tree:
            kept.append(keep_tree(ctx, record.packet, tree))
        with suppress(OSError):  # its content is safe; the end of the run says what cannot be removed
            discard_attempt(record.packet, git=ctx.git, sandbox=ctx.sandbox)
    return kept
