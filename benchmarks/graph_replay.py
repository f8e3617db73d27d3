"""Walks a real history as deltas, first parents only, and holds every step against a graph made from the ground up.

At each commit the graph is brought forward from its parent through a cache on disk; then all files are linked anew in
memory, and nodes, edges, users and the delta must be the same. Prints the time of a step (bringing forward and delta;
not the check) as p50, p95 and max, and each mismatch. Exit 1 where there is one.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from controller.graph import Knowledge
from controller.graph.facts import FileFacts
from controller.graph.language import facts, kind_of
from controller.graph.link import Linker
from controller.graph.model import Graph, delta
from controller.graph.store.trees import readable
from sandbox.git import Git

_MODES = ("100644", "100755")
_SAID = 50
"""Steps between two signs of life."""


class Fresh:
    """Graphs from the ground up; only the facts of a blob are kept from step to step."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self.known: dict[tuple[str, str], FileFacts] = {}

    def graph(self, tree: str) -> Graph:
        """Link a whole tree."""
        found: dict[str, FileFacts] = {}
        for path, entry in sorted(self.git.entries(tree).items()):
            name = readable(path)
            key = (kind_of(name) if entry.mode in _MODES else "file", entry.blob)
            if key not in self.known:
                self.known[key] = facts(key[0], self.git.blob(entry.blob) if key[0] != "file" else b"")
            found[name] = self.known[key]
        return Linker(found).graph()


def differences(brought: Graph, fresh: Graph) -> Iterator[str]:
    """Yield what differs between the two."""
    for name, mine, theirs in (
        ("nodes", set(brought.nodes.items()), set(fresh.nodes.items())),
        ("edges", set(brought.edges), set(fresh.edges)),
    ):
        for each in sorted(mine - theirs)[:3]:
            yield f"{name}: only brought forward: {each}"
        for each in sorted(theirs - mine)[:3]:
            yield f"{name}: only from the ground up: {each}"
    for node in fresh.nodes:
        if brought.incoming.get(node) != fresh.incoming.get(node):
            yield f"users of {node}"


def replay(git: Git, commits: list[str], checked: int) -> int:
    """Walk, print, and return the number of mismatches."""
    fresh, steps, wrong, files, linked = Fresh(git), [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        knowledge = Knowledge(git, Path(folder) / "facts.db")
        trees = [git.tree(commit) for commit in commits]
        knowledge.graph(trees[0])
        before = fresh.graph(trees[0])
        for number, (old, new) in enumerate(pairwise(trees), 1):
            begin = time.perf_counter()
            looked, made = knowledge.bring(old, new, no_cache=False, anew=False)
            steps.append(time.perf_counter() - begin)
            files, linked = max(files, looked.files), linked + looked.relinked
            if number % _SAID == 0:
                print(f"… {number} steps, {wrong} mismatches", file=sys.stderr, flush=True)
            if number % checked and number != len(commits) - 1:
                continue
            after = fresh.graph(new)
            found = list(differences(knowledge.graph(new), after))
            if checked == 1 and made != delta(before, after):
                found.append("the delta")
            before = after
            for each in found:
                print(f"MISMATCH at {commits[number]}: {each}")
            wrong += bool(found)
    at = sorted(steps)
    print(
        f"{len(steps)} steps, up to {files} files, {linked / max(len(steps), 1):.1f} linked a step:"
        f" p50 {at[len(at) // 2] * 1000:.1f} ms, p95 {at[int(len(at) * 0.95)] * 1000:.1f} ms,"
        f" max {at[-1] * 1000:.1f} ms; {wrong} mismatches"
    )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gitdir", type=Path, help="a repository, bare or not")
    parser.add_argument("--last", type=int, default=300, help="steps, counted back from the tip")
    parser.add_argument("--tip", default="HEAD")
    parser.add_argument("--every", type=int, default=1, help="check each step, or only each so manyth")
    given = parser.parse_args()
    listed = ["git", "-C", str(given.gitdir), "rev-list", "--first-parent", f"-n{given.last + 1}", given.tip]
    commits = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()[::-1]
    found = ["git", "-C", str(given.gitdir), "rev-parse", "--absolute-git-dir"]
    common = Path(subprocess.run(found, capture_output=True, text=True, check=True).stdout.strip())
    with Git(common, common) as git:
        return 1 if replay(git, commits, given.every) else 0


if __name__ == "__main__":
    sys.exit(main())
