"""`grace init`: write a starter plan that fits the repository."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from packets.errors import UsageError
from sandbox.effect import effect
from sandbox.git import Git

if TYPE_CHECKING:
    from controller.plan.communities import Proposal

_SCHEMA = ".grace/plan.schema.json"
_MAX_FILES = 20_000
_MAX_READ = 1 << 20


def init(path: Path = Path("plan.yaml"), force: bool = False) -> None:
    """Write a commented plan for the repository around the working directory; raises UsageError."""
    from controller.plan.schema import shipped
    from controller.plan.starter import starter
    from controller.plan.survey import survey

    with Git.discover(Path.cwd()) as git:
        top = git.top.resolve()
        plan = path.parent.resolve() / path.name
        if not plan.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent}", "make it first, or name another place")
        inside = plan.relative_to(top).as_posix() if plan.is_relative_to(top) else ""
        found = survey(_paths(git, top), lambda name: _text(top / name), inside)
        proposals = _proposals(git, inside)
        text = starter(found, top.name, os.path.relpath(top / _SCHEMA, plan.parent).replace(os.sep, "/"), proposals)
        _write(path, text, force=force)
        with suppress(OSError):  # an editor's help is no reason to fail
            git.exclude("/.grace/")
            (top / _SCHEMA).parent.mkdir(exist_ok=True)
            (top / _SCHEMA).write_text(shipped(), encoding="utf-8")
    sys.stdout.write(f"wrote {path}{f', for {found.language}' if found.language else ''}\n")
    what = f"{len(proposals)} modules" if proposals else f"may write: {', '.join(found.scope)}"
    sys.stdout.write(f"  {what}\n  check: {found.check or 'none found'}\n")
    sys.stdout.write(f"next: say in it what is to be done and by whom, then `grace plan check {path}`\n")


def _proposals(git: Git, plan: str) -> "Sequence[Proposal]":
    """Propose modules from the graph of the last commit; none where there is no code that can be parted."""
    from controller.graph.excerpt import is_test
    from controller.graph.opened import knowledge
    from controller.plan.communities import propose

    commit = git.find("HEAD")
    if commit is None:
        return []
    with knowledge(git) as graphs:
        graph = graphs.graph(git.tree(commit))
        return propose(graph, [path for path in graph.by_path if is_test(path)], besides=plan)


def _paths(git: Git, top: Path) -> Sequence[str]:
    """List the files of the last commit, or of the folder where there is none yet."""
    if commit := git.find("HEAD"):
        return [name for name, entry in git.entries(git.tree(commit)).items() if entry.mode.startswith("100")]
    paths: list[str] = []
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        paths += [(Path(folder) / name).relative_to(top).as_posix() for name in sorted(files)]
        if len(paths) > _MAX_FILES:
            break
    return paths


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_READ)
    except OSError:
        return ""


def _write(path: Path, text: str, *, force: bool) -> None:
    if force and path.is_symlink():
        raise UsageError(f"{path} is a symbolic link", "name the file itself")
    try:
        with effect("plan.write"), path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already", "name another file, or overwrite it with --force") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
