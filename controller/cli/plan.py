"""`grace plan check` and `grace plan show`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from packets.errors import MachineLacks, PlanInvalid, UsageError
from packets.problem import Problem

if TYPE_CHECKING:
    from controller.graph.knowledge import Knowledge
    from controller.plan.places import LoadedPlan
    from sandbox.git import Git

app = typer.Typer(help="Check a plan and show its waves.", no_args_is_help=True, rich_markup_mode=None)

PlanFile = Annotated[Path, typer.Argument(help="The plan file.")]


class Format(StrEnum):
    """How a plan is shown."""

    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


@app.command()
def check(
    plan: PlanFile = Path("plan.yaml"),
    as_json: Annotated[bool, typer.Option("--json", help="Print every problem as JSON.")] = False,
) -> int:
    """Say everything that is wrong with a plan, each with its line; exit 2 if anything is. Nothing is created."""
    loaded, problems = _judge(plan)
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if as_json:
        sys.stdout.write(json.dumps([_as_json(problem) for problem in problems], ensure_ascii=False) + "\n")
        return PlanInvalid.exit_code if errors else 0
    if errors or loaded is None:
        raise PlanInvalid(errors)
    for problem in problems:
        sys.stderr.write(problem.text() + "\n")
    sys.stdout.write(_shown(loaded, Format.TEXT))
    return 0


@app.command()
def show(
    plan: PlanFile = Path("plan.yaml"),
    form: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.TEXT,
) -> None:
    """Show modules, waves and why, what each module may write, and where a person is asked."""
    loaded, problems = _judge(plan)
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if errors or loaded is None:
        raise PlanInvalid(errors)
    sys.stdout.write(_shown(loaded, form))


def _shown(loaded: "LoadedPlan", form: Format) -> str:
    from controller.plan.outline import outline
    from controller.plan.show import FORMATS

    return FORMATS[form](outline(loaded))


def _as_json(problem: Problem) -> dict[str, Any]:
    """Return the six keys; what does not refuse the plan says so in a seventh."""
    return problem.model_dump(mode="json", exclude={"severity"} if problem.severity == "error" else None)


def _judge(path: Path) -> "tuple[LoadedPlan | None, tuple[Problem, ...]]":
    """Return the plan, if it could be read, and all of its problems."""
    from controller.plan.check import check_plan
    from controller.plan.load import load_plan

    try:
        loaded = load_plan(path)
    except PlanInvalid as fault:
        return None, fault.problems
    with _repository() as git:
        if git is None:
            return loaded, check_plan(loaded, None, None, None)
        with _knowledge(git, loaded) as knowledge:
            return loaded, check_plan(loaded, git, None, knowledge)


@contextmanager
def _repository() -> "Iterator[Git | None]":
    """Open the repository around the working directory, or say that its part of the check is left out."""
    from sandbox.git import Git

    try:
        git = Git.discover(Path.cwd())
    except (UsageError, MachineLacks) as fault:
        sys.stderr.write(f"grace: not compared with a repository: {fault.message}\n")
        yield None
        return
    with git:
        if git.find("HEAD") is None:
            sys.stderr.write("grace: not compared with the base: the repository has no commit yet\n")
        yield git


@contextmanager
def _knowledge(git: "Git", loaded: "LoadedPlan") -> "Iterator[Knowledge | None]":
    """Give the knowledge graph where the plan expects anything of it; its cache only where grace has been before."""
    if not any(module.expected_deltas.graph for module in loaded.plan.modules()):
        yield None
        return
    from controller.graph.opened import knowledge

    with knowledge(git) as graphs:
        yield graphs
