"""No text and no structure brings the loader to its knees: it gives a plan, or problems with places inside the file."""

import copy
import json
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.plan.check import check_plan
from controller.plan.load import load_plan
from controller.plan.outline import outline
from controller.plan.show import FORMATS
from packets.errors import PlanInvalid

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "coupons" / "plan.yaml"
TEXT = EXAMPLE.read_text()
LIMITED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=6),
    st.sampled_from(["x/", "../x", "**", "A -> B", "1h", "gold", "command", [], {}, [[]], {"kind": "patch"}, [None]]),
)  # fmt: skip
spans = st.tuples(
    st.integers(0, len(TEXT)), st.integers(0, 30), st.text("\n\t :-[]{}#&*!|>'\"%@`,?ax\\\x00\u2028é", max_size=6)
)


@pytest.fixture(autouse=True)
def _patches(desk):
    shutil.copytree(EXAMPLE.parent / "patches", desk.folder / "patches")


def holds(path):
    """Load, check and show; every problem must stand in the file."""
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    try:
        loaded = load_plan(path)
        found = check_plan(loaded, None, None, None)
        if not any(problem.severity == "error" for problem in found):
            for form in FORMATS.values():
                assert form(outline(loaded))
    except PlanInvalid as fault:
        found = fault.problems
        assert found
    for problem in found:
        assert 1 <= problem.line <= len(lines) + 1
        assert 1 <= problem.column <= max(map(len, lines)) + 2
        assert "\n" not in problem.message
    assert list(found) == sorted(found, key=lambda problem: (problem.line, problem.column))
    return found


@LIMITED
@given(st.lists(spans, min_size=1, max_size=3))
def test_any_text(desk, cuts):
    text = TEXT
    for at, length, new in cuts:
        text = text[:at] + new + text[at + length :]
    holds(desk.write(text))


@LIMITED
@given(st.binary(max_size=40), st.integers(0, len(TEXT)))
def test_any_bytes(desk, data, at):
    holds(desk.write(TEXT.encode()[:at] + data + TEXT.encode()[at:]))


def places(value, way=()):
    """Give the way to every part of a value."""
    yield way
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*way, key))


PLAN = yaml.safe_load(TEXT)
WAYS = [way for way in places(PLAN) if way]


@LIMITED
@given(
    st.lists(st.tuples(st.sampled_from(WAYS), st.sampled_from(["set", "drop", "add"]), leaves), min_size=1, max_size=4)
)
def test_any_structure(desk, changes):
    plan = copy.deepcopy(PLAN)
    for way, how, leaf in changes:
        holder = plan
        try:
            for key in way[:-1]:
                holder = holder[key]
            if how == "set":
                holder[way[-1]] = leaf
            elif how == "drop":
                del holder[way[-1]]
            elif isinstance(holder, dict):
                holder["purposes"] = leaf
            else:
                holder.append(leaf)
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took it away
    holds(desk.write(json.dumps(plan, ensure_ascii=True, indent=1)))


@pytest.mark.parametrize("leaf", [None, 7, "~", [], {}], ids=str)
def test_each_part_replaced(desk, leaf):
    """Whatever stands in for one part: most of it is seen, all of it is said in order."""
    seen = 0
    for way in WAYS:
        plan = copy.deepcopy(PLAN)
        holder = plan
        for key in way[:-1]:
            holder = holder[key]
        holder[way[-1]] = leaf
        seen += bool(holds(desk.write(json.dumps(plan, indent=1))))
    assert seen > len(WAYS) // 3
