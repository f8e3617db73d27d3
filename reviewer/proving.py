"""One trial of new scenarios: the tests of the result on the sources of the base, and then on those of the result.

Both in one fresh sandbox: the result's sources are laid over the base's only where something was red before, and only
for pytest, where it can be watched which changed lines a scenario runs.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packets.verdict import CheckResult
from sandbox.checkout import write_files
from sandbox.git import Content, Entry, Git

Spans = Sequence[tuple[int, int]]
"""Lines, first and last of each stretch, from 1."""


@dataclass(frozen=True)
class Trial:
    """What is to be tried: checks that ran the scenarios on the result, and all that tells its two trees apart.

    `tests` and `grafts` make the tree of the trial from `base`: files of the result, None for gone; and files that hold
    sources and tests at once, as bytes. `sources` make the result from the tree of the trial. `only` and `lines` are
    for pytest: ids from the repository's root, and the changed lines of Python sources.
    """

    base: str
    commands: tuple[str, ...]
    watched: tuple[str, ...] = ()
    """Those of `commands` that run once more on the result."""
    tests: Mapping[str, Entry | None] = field(default_factory=dict)
    grafts: Mapping[str, Content] = field(default_factory=dict)
    sources: Mapping[str, Entry | None] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    lines: Mapping[str, Spans] = field(default_factory=dict)

    def tree(self, git: Git) -> str:
        """Write the tree of the trial: the sources of the base with the tests of the result."""
        tree = git.write_tree(self.base, dict(self.tests))
        return git.import_entries(tree, dict(self.grafts)) if self.grafts else tree

    @property
    def all(self) -> tuple[str, ...]:
        """Return the commands in order: on the base, then on the result."""
        return (*self.commands, *self.watched)

    def lay(self, git: Git, check: Path) -> None:
        """Put what the plugin and the driver have to know into the folder of grace's own files."""
        first = len(self.commands)
        body = {"only": list(self.only), "lines": {path: list(spans) for path, spans in self.lines.items()}}
        (check / "proof.json").write_text(json.dumps({**body, "trace": first}), encoding="utf-8")
        if not self.watched:
            return
        over = check / "over"
        over.mkdir()
        write_files(git, {path: entry for path, entry in self.sources.items() if entry is not None}, over)
        gone = "".join(f"rm -rf -- {shlex.quote(path)}\n" for path in self.sources)
        script = check / f"{first}.first"
        text = f'set -e\n{gone}cp -RP "$GRACE_CHECK/over/." .\n'
        script.write_text(text, encoding="utf-8", errors="surrogateescape")


@dataclass(frozen=True)
class Tried:
    """What came of it: results on the base, in the order of the commands, and those on the result, if they ran.

    `cannot` says why nothing was tried.
    """

    base: tuple[CheckResult, ...] = ()
    head: tuple[CheckResult, ...] = ()
    cannot: str = ""

    @classmethod
    def split(cls, trial: Trial, results: Sequence[CheckResult]) -> "Tried":
        """Tell apart what ran on the base and what ran on the result."""
        first = len(trial.commands)
        return cls(tuple(results[:first]), tuple(results[first:]))
