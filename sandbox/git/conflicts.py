"""What is in the way of a merge, path by path, and how it looks when one side wins there."""

from typing import NamedTuple

from sandbox.git.objects import checked
from sandbox.git.process import Runner
from sandbox.git.trees import throwaway_commit, write_tree
from sandbox.git.values import Entry, decode

_THEIRS = "3"  # the stage of an index entry that the other side brought


class Resolved(NamedTuple):
    """A tree in which each conflict is settled; `theirs` names the conflicts with what was taken, None: nothing."""

    tree: str
    theirs: dict[str, Entry | None]


def taking_theirs(runner: Runner, base: str, ours: str, theirs: str) -> Resolved:
    """Merge trees that come from `base`; where they conflict, the whole path is as `theirs` has it."""
    root = throwaway_commit(runner, base, ())
    sides = [throwaway_commit(runner, tree, (root,)) for tree in (ours, theirs)]
    result = runner.ask("merge-tree", "--write-tree", "-z", "--no-messages", *map(checked, sides))
    tree, *records = [decode(raw) for raw in result.out.split(b"\0") if raw] or [""]
    if result.code not in {0, 1} or not tree:
        raise runner.failed(f"git cannot merge {ours[:12]} and {theirs[:12]}", result)
    taken: dict[str, Entry | None] = {}
    for record in records:
        about, _, path = record.partition("\t")
        mode, blob, stage = about.split(" ")
        taken.setdefault(path, None)
        if stage == _THEIRS:
            taken[path] = Entry(mode, blob)
    return Resolved(write_tree(runner, tree, taken), taken)
