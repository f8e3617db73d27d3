"""What only the whole plan or the repository can show: every problem, with its place, before anything is created."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from controller.plan.check_agents import agent_problems
from controller.plan.check_files import file_problems
from controller.plan.check_names import modules_at, name_problems
from controller.plan.check_notes import note_problems
from controller.plan.check_permissions import permission_notes, permission_problems, remote_problems
from controller.plan.check_repo import repository_problems
from controller.plan.check_scopes import scope_problems
from controller.plan.nodes import Items, Keys, Scalar
from controller.plan.places import LoadedPlan, Loc, Places, bounded
from packets.deltas import parse_graph, parse_verification
from packets.plan import Plan
from packets.problem import NameProblem, Problem

if TYPE_CHECKING:
    from sandbox.git import Git


class KnowsNames(Protocol):
    """The knowledge graph, as far as a plan's check needs it.

    Says of each graph expectation what it names that is ambiguous or unknown in `tree`, with the candidates.
    """

    def name_problems(self, tree: str, plan: Plan) -> Sequence[NameProblem]:
        """Return what is wrong with the names, in plan order."""


@dataclass(frozen=True)
class Tolerance:
    """What may only look wrong because faulty parts of the plan were left out."""

    ids: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    modules: int = 0
    bent: bool = False

    def ordered(self, plan: Plan) -> bool:
        """Say whether everything that orders modules is still there: none of them, and no dependency, was left out."""
        return not self.bent and self.modules <= len(plan.modules())

    @classmethod
    def of(cls, places: Places, faults: Sequence[Loc]) -> Self:
        """Read the words of the whole file, also of its faulty parts."""
        agents, mapped = places.find(("agents",)), places.find(("modules_map",))
        ids = {*(mapped.pairs if isinstance(mapped, Keys) else ())}
        phases, count = places.find(("phases",)), 0
        for i, phase in enumerate(phases.items if isinstance(phases, Items) else ()):
            modules = phase.pairs.get("modules") if isinstance(phase, Keys) else None
            count += len(modules.items) if isinstance(modules, Items) else 1
            for j in range(len(modules.items) if isinstance(modules, Items) else 0):
                name = places.find(("phases", i, "modules", j, "id"))
                ids |= {name.text} if isinstance(name, Scalar) else set()
        agent_names = frozenset(agents.pairs if isinstance(agents, Keys) else ())
        return cls(frozenset(ids), agent_names, count, bent=any("depends_on" in loc for loc in faults))


def check_plan(
    loaded: LoadedPlan, git: "Git | None", commit: str | None, knowledge: KnowsNames | None
) -> tuple[Problem, ...]:
    """Return every problem in file order; only those with severity `error` refuse the plan.

    Without `git` the repository's part is left out; without `commit` the plan's own `base` is taken, else HEAD.
    """
    plan, places = loaded.plan, loaded.positions
    problems = [*word_problems(plan, places), *note_problems(plan, places), *permission_notes(plan, places)]
    if git is not None:
        problems += [*repository_problems(loaded, git, commit), *remote_problems(plan, places, git)]
        base = commit or git.find(plan.base or "HEAD")
        if base is not None:
            problems += agent_problems(plan, places, git, base)
        if knowledge is not None and base is not None:
            problems += _unknown_names(plan, places, knowledge.name_problems(git.tree(base), plan))
    return bounded(problems)


def word_problems(plan: Plan, places: Places, tolerance: Tolerance | None = None) -> list[Problem]:
    """Return the errors that the plan's own words show, without a repository."""
    tolerance = tolerance or Tolerance()
    names = name_problems(plan, places, known_ids=tolerance.ids, known_agents=tolerance.agents)
    scopes = scope_problems(plan, places) if tolerance.ordered(plan) else []
    files, permissions = file_problems(plan, places), permission_problems(plan, places)
    return [*names, *scopes, *files, *permissions, *_expectations(plan, places), *_markers(plan, places)]


def _expectations(plan: Plan, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    for loc, module in modules_at(plan):
        deltas = module.expected_deltas
        for key, lines, parse in (
            ("graph", deltas.graph, parse_graph),
            ("verification", deltas.verification, parse_verification),
        ):
            for index, line in enumerate(lines):
                try:
                    parse(line)
                except ValueError as error:
                    place = (*loc, "expected_deltas", key, index)
                    problems.append(places.problem(place, "plan.bad_expectation", str(error)))
    return problems


def _markers(plan: Plan, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    for loc, module in modules_at(plan):
        for index, marker in enumerate(module.verification.forbidden_markers):
            if marker in module.verification.required_markers:
                place = (*loc, "verification", "forbidden_markers", index)
                problems.append(places.problem(place, "plan.marker_conflict", f"{marker} is required and forbidden"))
    return problems


def _unknown_names(plan: Plan, places: Places, found: Sequence[NameProblem]) -> list[Problem]:
    where = {module.id: loc for loc, module in modules_at(plan)}
    problems = []
    for each in found:
        loc = (*where[each.module], "expected_deltas", "graph", each.nth)
        code = "plan.unknown_name" if each.severity == "error" else "plan.pending_name"
        code = "plan.undeclared_edge" if each.undeclared else code
        problems.append(places.problem(loc, code, each.message, each.hint, severity=each.severity))
    return problems
