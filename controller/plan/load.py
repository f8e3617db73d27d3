"""From a file to a valid plan, or every problem of it at once.

A plan with faulty keys is read a second time without them, so that what is wrong with its modules, dependencies and
scopes is said in the same go; what might only look wrong because of the parts left out is not said.
"""

import hashlib
import json
import stat
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from controller.plan.keys import explain, in_file
from controller.plan.nodes import MAX_BYTES, Items, Keys, Reader, Scalar, Unreadable, plain
from controller.plan.places import MAX_PROBLEMS, LoadedPlan, Loc, Places, bounded, in_order
from packets.errors import PlanInvalid, UsageError
from packets.plan import Plan
from packets.problem import Problem

__all__ = ["LoadedPlan", "digest", "load_plan"]

_ROUNDS = 6
_STAND_INS: dict[str | int, int | str] = {"version": 1, "name": "x", "purpose": "x", "write_scope": ""}
"""What takes the place of a missing key, so that the rest can be judged; of a scope, a file that is nobody's."""


def load_plan(path: Path) -> LoadedPlan:
    """Read the plan; raises PlanInvalid with all problems, UsageError when there is no such file."""
    text = _read(path)
    reader = Reader(str(path))
    try:
        root = reader.read(text)
    except Unreadable:
        raise PlanInvalid(in_order(reader.problems)) from None
    if any(problem.code != "plan.duplicate_key" for problem in reader.problems):
        raise PlanInvalid(bounded(reader.problems))
    places = Places(str(path), root)
    try:
        plan = Plan.model_validate_json(json.dumps(plain(root)))
    except ValidationError as error:
        raise PlanInvalid(bounded([*reader.problems, *_all_problems(error, places)])) from None
    if reader.problems:
        from controller.plan.check import word_problems

        raise PlanInvalid(bounded([*reader.problems, *word_problems(plan, places)]))
    return LoadedPlan(plan=plan, digest=digest(plan), path=path, text=text, positions=places)


def digest(plan: Plan) -> str:
    """Return sha256 of the plan's canonical JSON: comments, order of keys and writing of values do not count."""
    body = plan.model_dump(mode="json", by_alias=True)
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def _read(path: Path) -> bytes:
    hint = "`grace init` writes a plan to start from"
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is no file", "name a plan file, for example plan.yaml")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"there is no plan at {path}", hint) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"the plan {path} cannot be read: {reason}", "check its name and permissions") from None


def _all_problems(error: ValidationError, places: Places) -> list[Problem]:
    """Return the problems of the keys, and those of the words in what is left without the faulty keys."""
    details = _details(error)
    problems = [explain(detail, places) for detail in details[: MAX_PROBLEMS + 1]]
    if not isinstance(places.root, Keys) or len(details) > MAX_PROBLEMS:
        return problems
    from controller.plan.check import Tolerance, word_problems

    tolerance = Tolerance.of(places, [in_file(detail["loc"]) for detail in details])
    plan = _without_faults(places.root, error, places)
    return problems if plan is None else [*problems, *word_problems(plan, places, tolerance)]


def _details(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors without those that only echo one further in: a list is not too short for a faulty item."""
    found = error.errors(include_url=False, include_input=False)
    around = {detail["loc"][:length] for detail in found for length in range(len(detail["loc"]))}
    return [detail for detail in found if detail["type"] != "too_short" or detail["loc"] not in around]


def _without_faults(root: Keys, error: ValidationError, places: Places) -> Plan | None:
    """Take the faulty parts out of the tree, in place, until what is left is a plan."""
    for _ in range(_ROUNDS):
        _prune([(detail["type"], in_file(detail["loc"])) for detail in _details(error)], places)
        try:
            return Plan.model_validate_json(json.dumps(plain(root)))
        except ValidationError as again:
            error = again
    return None


def _prune(faults: list[tuple[str, Loc]], places: Places) -> None:
    doomed: dict[tuple[int, int], Items] = {}
    for kind, loc in faults:
        if kind == "missing" and loc[-1] in _STAND_INS:
            _stand_in(places.find(loc[:-1]), str(loc[-1]))
            continue
        way = loc[:-1] if kind == "missing" else loc
        holder = places.find(way[:-1]) if way else None
        if isinstance(holder, Keys):
            holder.pairs.pop(str(way[-1]), None)
        elif isinstance(holder, Items) and isinstance(way[-1], int):
            doomed[id(holder), way[-1]] = holder
    for (_, index), items in sorted(doomed.items(), key=lambda entry: -entry[0][1]):
        del items.items[index]


def _stand_in(holder: object, key: str) -> None:
    if isinstance(holder, Keys):
        place = holder.line, holder.column
        alone = Items(*place, [Scalar(*place, "", f"left out/{id(holder)}")])
        holder.pairs[key] = alone if key == "write_scope" else Scalar(*place, "", _STAND_INS[key])
        holder.places[key] = place
