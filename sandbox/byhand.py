"""A person changes a candidate by hand: a throwaway checkout, their own shell or editor, the tree they leave."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from packets.errors import GraceError
from sandbox.checkout import candidate
from sandbox.git import Git
from sandbox.harvest import Harvest, harvest_layers
from sandbox.layers import whole
from sandbox.scratch import scratch

_LARGEST = 1 << 30  # bytes of one file


def by_hand(git: Git, tree: str, paths: Sequence[str], *, shell: bool) -> Harvest:
    """Open the tree in the person's shell, or `paths` of it in their editor, and return what they left.

    It runs as the person, on the host: it is their hand. What they leave is judged like any worker's tree.
    Raises GraceError when there is no such program.
    """
    with scratch("by-hand") as place:
        folder = candidate(git, tree, place / "repo", None)
        _run(_argv(paths, shell=shell), folder)
        return harvest_layers(git, tree, [(folder, whole().layers[0])], _LARGEST)


def _run(argv: list[str], folder: Path) -> None:
    try:
        subprocess.run(argv, cwd=folder, check=False)
    except OSError as fault:
        raise GraceError(f"cannot start {argv[0]}: {fault.strerror}", "name another one: export EDITOR=…") from fault


def _argv(paths: Sequence[str], *, shell: bool) -> list[str]:
    if shell:
        return [os.environ.get("SHELL", "/bin/sh")]
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    return [*shlex.split(editor), "--", *paths] if paths else [*shlex.split(editor), "."]
