"""Programs of agents that lie in the checkout, but not as such in the commit that workers get."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from controller.plan.places import Places
from packets.agent import CommandAgent
from packets.plan import Plan
from packets.problem import Problem
from packets.scope import Scope

if TYPE_CHECKING:
    from sandbox.git import Git

_LINK = "120000"


def agent_problems(plan: Plan, places: Places, git: "Git", commit: str) -> Iterator[Problem]:
    """Warn of each file that an agent names, when the base lacks it or has another version of it."""
    entries = git.entries(git.tree(commit))
    made = Scope.parse([entry for module in plan.modules() for entry in module.write_scope])
    for name, agent in plan.agents.items():
        words = enumerate(agent.run) if isinstance(agent, CommandAgent) else ()
        for index, path in ((i, os.path.normpath(w)) for i, w in words if _is_file(git.top, w)):
            if made.matches(path):
                continue
            if path not in entries:
                message = f"{path} is not in the base commit, so workers do not have it"
            elif entries[path].mode != _LINK and not _same(git.blob(entries[path].blob), (git.top / path).read_bytes()):
                message = f"{path} was changed since the base commit, and workers have that commit's"
            else:
                continue
            loc = ("agents", name, "run", index)
            yield places.problem(loc, "plan.agent_uncommitted", message, "commit it", severity="warning")


def _is_file(top: Path, word: str) -> bool:
    """Say whether a word of a command is a file below the repository's root that can be read."""
    path = os.path.normpath(word)
    if not word or os.path.isabs(word) or path == ".." or path.startswith("../"):  # noqa: PTH117 - of the text
        return False
    try:
        return (top / path).is_file() and os.access(top / path, os.R_OK)
    except (OSError, ValueError):  # too long for a name, or none at all
        return False


def _same(committed: bytes, here: bytes) -> bool:
    return committed == here or committed.replace(b"\r\n", b"\n") == here.replace(b"\r\n", b"\n")
