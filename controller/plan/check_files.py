"""Files that a plan names beside itself: patches and the Dockerfile."""

import os
from collections.abc import Iterator
from pathlib import Path

from controller.plan.places import Loc, Places
from packets.agent import PatchAgent
from packets.plan import Plan
from packets.problem import Problem


def file_problems(plan: Plan, places: Places) -> Iterator[Problem]:
    """Return what is wrong with the files; they lie in the plan's folder, so that a plan can be moved with them."""
    folder = Path(places.file).resolve().parent
    for name, agent in plan.agents.items():
        if isinstance(agent, PatchAgent):
            yield from _judge(folder, agent.patch, ("agents", name, "patch"), "plan.patch", places)
    if plan.image.dockerfile is not None:
        yield from _judge(folder, plan.image.dockerfile, ("image", "dockerfile"), "plan.dockerfile", places)


def _judge(folder: Path, text: str, loc: Loc, code: str, places: Places) -> Iterator[Problem]:
    where = os.path.normpath(text)
    if os.path.isabs(text) or where == ".." or where.startswith("../"):  # noqa: PTH117 - of the text, on any system
        hint = "put it beside the plan and name it relative to the plan file"
        yield places.problem(loc, f"{code}_outside", f"{text!r} leaves the plan's folder", hint)
        return
    try:
        if not (folder / text).is_file():
            is_there = (folder / text).exists()
            message = f"{text} is no file" if is_there else f"there is no file {text} beside the plan"
            yield places.problem(loc, f"{code}_missing", message, "the path is relative to the plan file")
        elif not os.access(folder / text, os.R_OK):
            yield places.problem(loc, f"{code}_missing", f"{text} cannot be read", "check its permissions")
    except OSError as error:
        yield places.problem(loc, f"{code}_missing", f"{text[:60]!r} cannot be read: {error.strerror}")
