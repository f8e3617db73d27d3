"""The plan against the repository: its base, and whether its paths are what they seem in the base's tree."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from controller.plan.check_names import modules_at
from controller.plan.keys import did_you_mean
from controller.plan.places import LoadedPlan, Loc, Places
from packets.plan import Plan
from packets.problem import Problem
from packets.scope import Scope

if TYPE_CHECKING:
    from sandbox.git import Git

_KINDS = {"120000": "a symbolic link", "160000": "a submodule"}


class Files:
    """The paths of one tree, and the folders that they make."""

    def __init__(self, modes: dict[str, str]) -> None:
        self.modes = modes
        self.folders = {
            "/".join(names[:i]) for names in (path.split("/") for path in modes) for i in range(1, len(names))
        }


def repository_problems(loaded: LoadedPlan, git: "Git", commit: str | None) -> list[Problem]:
    """Return the problems that the repository shows; in one without a commit, only those of the plan's own place."""
    plan, places = loaded.plan, loaded.positions
    problems = list(_plan_in_scope(loaded, git))
    base = commit or git.find(plan.base or "HEAD")
    if base is None:
        if plan.base is not None:
            names = [ref.removeprefix("refs/heads/") for ref in git.refs("refs/heads/")]
            hint = did_you_mean(plan.base, names) or "see `git branch -a`"
            problems.append(places.problem(("base",), "plan.base_unknown", f"there is no commit {plan.base}", hint))
        return problems
    files = Files({path: entry.mode for path, entry in git.entries(git.tree(base)).items()})
    return [*problems, *_scopes(plan, places, files), *_map(plan, places, files)]


def _plan_in_scope(loaded: LoadedPlan, git: "Git") -> Iterator[Problem]:
    absolute = {Path(os.path.abspath(loaded.path)), loaded.path.resolve()}  # noqa: PTH100 - with and without links
    folders = {git.top.resolve(), git.main.resolve()}
    inside = {p.relative_to(f).as_posix() for p in absolute for f in folders if p.is_relative_to(f)}
    for loc, module in modules_at(loaded.plan):
        for index, entry in enumerate(module.write_scope):
            for path in sorted(filter(Scope.parse([entry]).matches, inside)):
                message = f"{module.id} could write the plan itself, {path}"
                hint = "narrow the scope, or keep the plan elsewhere"
                yield loaded.positions.problem((*loc, "write_scope", index), "plan.scope_has_plan", message, hint)


def _scopes(plan: Plan, places: Places, files: Files) -> Iterator[Problem]:
    for loc, module in modules_at(plan):
        for index, entry in enumerate(module.write_scope):
            place = (*loc, "write_scope", index)
            faults = list(_entry(entry, place, places, files))
            yield from faults or _new_folder(entry, place, places, files)


def _entry(text: str, loc: Loc, places: Places, files: Files) -> Iterator[Problem]:
    pattern = Scope.parse([text]).patterns[0]
    whole = "/".join(pattern.fixed)
    if pattern.literal and whole in files.folders:
        yield places.problem(loc, "plan.scope_is_folder", f"`{text}` is a folder in the base", f"write `{text}/`")
    # Nothing can lie beneath a file; beneath a link or a submodule it would lie elsewhere.
    for length in range(1, len(pattern.fixed) + (not pattern.literal)):
        above = "/".join(pattern.fixed[:length])
        if mode := files.modes.get(above):
            kind = _KINDS.get(mode, "a file")
            hint = f"write `{above}`" if length == len(pattern.fixed) else "name a path that is not beneath it"
            yield places.problem(loc, "plan.scope_blocked", f"`{above}` is {kind} in the base", hint)


def _new_folder(text: str, loc: Loc, places: Places, files: Files) -> Iterator[Problem]:
    """Warn of a folder that is not there while one of nearly that name is."""
    pattern = Scope.parse([text]).patterns[0]
    names = pattern.fixed[:-1] if pattern.literal else pattern.fixed
    for length in range(1, len(names) + 1):
        folder, above = "/".join(names[:length]), "/".join(names[: length - 1])
        if folder in files.folders:
            continue
        beside = [f.rpartition("/")[2] for f in files.folders if f.rpartition("/")[0] == above]
        if hint := did_you_mean(names[length - 1], beside):
            message = f"there is no folder {folder} in the base: it would be made"
            yield places.problem(loc, "plan.scope_new_folder", message, hint, severity="warning")
        return


def _map(plan: Plan, places: Places, files: Files) -> Iterator[Problem]:
    for name, entries in plan.modules_map.items():
        for index, entry in enumerate(entries):
            loc = ("modules_map", name, index)
            faults = list(_entry(entry, loc, places, files))
            yield from faults
            scope = Scope.parse([entry])
            if not faults and not any(map(scope.matches, files.modes)):
                hint = did_you_mean(entry, files.modes)
                message = f"{name} exists already, says the plan, but nothing in the base matches `{entry}`"
                yield places.problem(loc, "plan.map_nothing", message, hint)
