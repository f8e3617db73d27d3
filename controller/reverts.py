"""Undoing what has landed: revert commits on top of the base branch, which is never rewritten."""

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from controller.context import Context
from controller.leftovers import unlocking
from controller.messages import revert_message
from controller.saga import Left, again, held_back, merges, needs
from controller.store.records import SagaStep
from packets.errors import GraceError, WaitingForPerson
from packets.permissions import Tier
from sandbox.effect import effect
from sandbox.git import Entry
from sandbox.git.identity import has_identity

_REVERTS = re.compile(r"^(?:This reverts commit |Grace-Reverts: )([0-9a-f]{40,64})", re.MULTILINE)


class Reverts(NamedTuple):
    """Revert commits that are made but on no branch yet: where the base branch was, and where it is to go.

    `modules` are reverted by it; `left` stay, the last merged first.
    """

    old: str = ""
    new: str = ""
    modules: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()

    def without_base(self, ctx: Context, fault: GraceError) -> "Reverts":
        """Return what is left to a person when the base branch cannot be moved: everything."""
        why = f"{ctx.run.base_ref} cannot be moved: {fault.message}"
        last = {s.module: s.after for s in merges(ctx)}
        stay = tuple(Left(m, last[m], why, (*unlocking(fault), again(ctx, m))) for m in reversed(self.modules))
        return Reverts(self.old, self.old, (), (*self.left, *stay))


def reverted(ctx: Context, modules: Sequence[str], stay: Mapping[str, str]) -> Reverts:
    """Make revert commits for as many of `modules` as can go, newest merge first.

    `stay` names, for modules that have to stay, who depends on them. Raises GraceError when the base branch is gone.
    """
    steps = [s for s in merges(ctx) if s.module in modules]
    if not steps:
        return Reverts()
    old = ctx.git.refs(ctx.run.base_ref).get(ctx.run.base_ref)
    if old is None:
        raise GraceError(f"{ctx.run.base_ref} is gone; nothing was undone", "make the branch again, then repeat it")
    steps = [s for s in steps if s.after not in _reverted_already(ctx, old)]
    if ctx.plan.permissions.land is Tier.DENY:
        left = _left(ctx, steps, dict.fromkeys(modules, "the plan says `land: deny`"), {}, old)
        return Reverts(old, old, tuple(m for m in modules if m not in {one.module for one in left}), left)
    clashes: dict[str, str] = {}
    held = dict(stay)
    while True:
        going = [s for s in steps if s.module not in clashes and s.module not in held]
        new, clash, paths = _on_top(ctx, going, old)
        if clash is None:
            break
        clashes[clash.module] = f"{', '.join(paths)} changed since it landed"
        held |= {m: clash.module for m in needs(ctx, clash.module) if m in modules and m not in clashes}
    gone = tuple(m for m in modules if m not in clashes and m not in held)
    return Reverts(old, new, gone, _left(ctx, steps, clashes, held, new))


def _left(
    ctx: Context, steps: list[SagaStep], clashes: Mapping[str, str], held: Mapping[str, str], head: str
) -> tuple[Left, ...]:  # fmt: skip
    found: dict[str, Left] = {}
    for step in reversed(steps):
        if step.module in found:
            continue
        if step.module in clashes:
            own = [s for s in steps if s.module == step.module]
            found[step.module] = Left(step.module, step.after, clashes[step.module], _by_hand(ctx, own, head))
        elif step.module in held:
            found[step.module] = held_back(ctx, step, held[step.module])
    return tuple(found.values())


def _reverted_already(ctx: Context, head: str) -> set[str]:
    """Return the commits that a commit on the branch says it reverts, and that no later one brought back."""
    gone: set[str] = set()
    for commit in ctx.git.log(ctx.run.base_commit, head):
        if commit.sha not in gone:
            gone.update(_REVERTS.findall(commit.message))
    return gone


def _on_top(ctx: Context, steps: list[SagaStep], head: str) -> tuple[str, SagaStep | None, tuple[str, ...]]:
    """Put a revert of each step on `head`, newest first; or return the first that conflicts, and where."""
    git = ctx.git
    for step in reversed(steps):
        tree, paths = _taken_back(ctx, step, git.tree(head))
        if tree is None:
            return head, step, paths
        if tree != git.tree(head):
            message = revert_message(step.module, ctx.run_id, step.after)
            head = git.commit(tree, [head], message, ctx.plan.commit.author)
    return head, None, ()


def _taken_back(ctx: Context, step: SagaStep, tree: str) -> tuple[str | None, tuple[str, ...]]:
    """Return `tree` without what the step brought; files that it added are found where the user moved them."""
    git = ctx.git
    after, before = git.tree(step.after), git.tree(step.before)
    merged = git.merge_trees(after, tree, before)
    if merged.tree is None and (home := _moved_home(ctx, step, tree)) != tree:
        merged = git.merge_trees(after, home, before)
    return merged.tree, merged.conflicts


def _moved_home(ctx: Context, step: SagaStep, tree: str) -> str:
    """Return `tree` with each file that the step added, and that was moved as it was, back at its first place."""
    git = ctx.git
    now, after, before = git.entries(tree), git.entries(git.tree(step.after)), git.entries(git.tree(step.before))
    updates: dict[str, Entry | None] = {}
    for path, entry in after.items():
        if path in before or path in now:
            continue
        spots = [spot for spot, held in now.items() if held == entry and spot not in after]
        if len(spots) == 1:
            updates |= {path: entry, spots[0]: None}
    return git.write_tree(tree, updates)


def _by_hand(ctx: Context, steps: list[SagaStep], head: str) -> tuple[str, ...]:
    """Return the commands that revert the steps on `head`; where they conflict, over the later change of the path."""
    git, lines = ctx.git, []
    start, where, end = _checkout(ctx)
    tree = git.tree(head)
    for step in reversed(steps):
        made = git.merge_taking_theirs(git.tree(step.after), tree, git.tree(step.before))
        lines += _resolving(where, step, made.taken) if made.tree != tree else _saying(where, step)
        tree = made.tree
    return (*start, *lines, *end, again(ctx, steps[0].module))


def _resolving(where: str, step: SagaStep, taken: Mapping[str, Entry | None]) -> list[str]:
    kept = " ".join(_quoted(path) for path, entry in taken.items() if entry)
    gone = " ".join(_quoted(path) for path, entry in taken.items() if not entry)
    lines = [f"{where} revert --no-edit {step.after}"]
    lines += [f"{where} checkout --theirs -- {kept}", f"{where} add -- {kept}"] if kept else []
    lines += [f"{where} rm -q -- {gone}"] if gone else []
    return [*lines, f"{where} -c core.editor=true revert --continue"] if taken else lines


def _saying(where: str, step: SagaStep) -> list[str]:
    """Say in the history that nothing of it is left to revert: git makes no empty revert."""
    subject, body = shlex.quote(f"Revert {step.module}"), f"'This reverts commit {step.after}.'"
    return [f"{where} commit -q --only --allow-empty -m {subject} -m {body}"]


def _checkout(ctx: Context) -> tuple[list[str], str, list[str]]:
    """Return git in a checkout of the base branch, and what makes one before and removes it after, where none is."""
    git, ref = ctx.git, ctx.run.base_ref
    who = "" if has_identity(git.main) else " -c user.name=grace -c user.email=grace@localhost"
    main = f"git -C {shlex.quote(str(git.main))}"
    for worktree in git.worktrees():
        if worktree.branch == ref:
            return [], f"git -C {shlex.quote(str(worktree.path))}{who}", []
    folder = shlex.quote(str(ctx.folder / "by-hand"))
    branch = shlex.quote(ref.removeprefix("refs/heads/"))
    return [f"{main} worktree add -q {folder} {branch}"], f"git -C {folder}{who}", [f"{main} worktree remove {folder}"]


def _quoted(path: str) -> str:
    plain = path[:1] != ":" and not any(char in path for char in "*?[\\")
    return shlex.quote(path if plain else f":(top,literal){path}")


def move_base(ctx: Context, to: Reverts) -> None:
    """Update each checkout of the base branch, then the branch; refused by local edits in the way, as a landing is.

    Whatever it raises (but a crash, which is finished by doing it again), nothing was changed.
    """
    git, ref, moved = ctx.git, ctx.run.base_ref, []
    if to.old == to.new:
        return
    old, new = git.tree(to.old), git.tree(to.new)
    try:
        for worktree in git.worktrees():
            if worktree.branch == ref:
                with effect("checkout.revert"):
                    git.update_worktree(worktree.path, old, new)
                moved.append(worktree.path)
        with effect("ref.revert"):
            git.update_ref(ref, to.new, to.old)
    except GraceError as fault:
        for path in moved:
            with suppress(GraceError), effect("checkout.land"):
                git.update_worktree(path, new, old)
        if isinstance(fault, WaitingForPerson):
            hint = fault.hint.replace("`grace resume`", "the rollback again")
            raise WaitingForPerson(f"{fault.message}; nothing was undone", hint) from fault
        raise
