"""What is in the way of a merge, path by path, and how it looks when one side wins there."""

from collections import defaultdict
from typing import NamedTuple

from sandbox.git.objects import checked
from sandbox.git.process import Runner
from sandbox.git.trees import throwaway_commit, write_tree
from sandbox.git.values import Entry, decode

_DELETED = frozenset("13")  # the stages of a path that our side deleted and the other changed
_THEIRS = "3"


class Resolved(NamedTuple):
    """A tree in which each conflict is settled; `taken` names the conflicts with what took the place, None: nothing."""

    tree: str
    taken: dict[str, Entry | None]


def taking_theirs(runner: Runner, base: str, ours: str, theirs: str) -> Resolved:
    """Merge trees that come from `base`; where they conflict, the path is as `theirs` has it, or gone where ours is."""
    root = throwaway_commit(runner, base, ())
    sides = [throwaway_commit(runner, tree, (root,)) for tree in (ours, theirs)]
    result = runner.ask("merge-tree", "--write-tree", "-z", "--no-messages", *map(checked, sides))
    tree, *records = [decode(raw) for raw in result.out.split(b"\0") if raw] or [""]
    if result.code not in {0, 1} or not tree:
        raise runner.failed(f"git cannot merge {ours[:12]} and {theirs[:12]}", result)
    found: defaultdict[str, dict[str, Entry]] = defaultdict(dict)
    for record in records:
        about, _, path = record.partition("\t")
        mode, blob, stage = about.split(" ")
        found[path][stage] = Entry(mode, blob)
    taken = {path: None if stages.keys() == _DELETED else stages.get(_THEIRS) for path, stages in found.items()}
    return Resolved(write_tree(runner, tree, taken), taken)
