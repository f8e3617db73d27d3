"""Waves: earliest, disjoint, ordered, numbered through, the same each time, each with its reasons."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.plan.waves import waves
from packets.agent import CommandAgent
from packets.plan import Module, Phase, Plan
from packets.scope import Scope

SCOPES = ["a/", "a/b.py", "b/", "b/*.py", "c.py", "**/d.py", "e/"]


def made(*phases):
    """Make a plan from [{id: (depends_on, scope)}]."""
    return Plan(
        version=1,
        name="p",
        agents={"a": CommandAgent(kind="command", run=("x",))},
        phases=tuple(
            Phase(
                id=f"phase{i}",
                modules=tuple(
                    Module(id=name, purpose="x", depends_on=tuple(needs), write_scope=tuple(scope))
                    for name, (needs, scope) in phase.items()
                ),
            )
            for i, phase in enumerate(phases, start=1)
        ),
    )


def shapes(plan):
    return [(wave.number, wave.phase, wave.modules) for wave in waves(plan)]


def test_each_as_early_as_it_can_and_numbered_through():
    plan = made(
        {"D": (["B"], ["d/"]), "A": ([], ["a/"]), "B": (["A"], ["b/"]), "C": ([], ["c/"])},
        {"E": (["A", "D"], ["a/"]), "F": (["E"], ["f/"])},
    )
    assert shapes(plan) == [
        (1, "phase1", ("A", "C")),
        (2, "phase1", ("B",)),
        (3, "phase1", ("D",)),
        (4, "phase2", ("E",)),
        (5, "phase2", ("F",)),
    ]
    assert [reason for wave in waves(plan) for reason in wave.reasons] == [
        "A: depends on nothing",
        "C: depends on nothing",
        "B: after A (wave 1)",
        "D: after B (wave 2)",
        "E: what it depends on landed with an earlier phase: A, D",
        "F: after E (wave 4)",
    ]


def test_overlapping_scopes_never_share_a_wave_even_unchecked():
    plan = made({"A": ([], ["x/"]), "B": ([], ["x/y.py"]), "C": ([], ["z/"])})
    assert shapes(plan) == [(1, "phase1", ("A", "C")), (2, "phase1", ("B",))]
    assert waves(plan)[1].reasons == ("B: after A (wave 1), because both may write x/y.py",)


def test_the_shared_path_is_part_of_the_reason():
    plan = made({"A": ([], ["x/"]), "B": (["A"], ["x/y.py"])})
    assert waves(plan)[1].reasons == ("B: after A (wave 1); both may write x/y.py",)


def test_a_cycle_is_no_plan():
    with pytest.raises(ValueError, match="circle"):
        waves(made({"A": (["B"], ["a/"]), "B": (["A"], ["b/"])}))


@st.composite
def plans(draw):
    names = [f"M{i}" for i in range(draw(st.integers(1, 9)))]
    order = draw(st.permutations(names))
    phase = {}
    for name in names:
        before = order[: order.index(name)]
        needs = draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else []
        phase[name] = (needs, draw(st.lists(st.sampled_from(SCOPES), min_size=1, max_size=2, unique=True)))
    return made(phase)


@settings(max_examples=80, deadline=None)
@given(plans())
def test_waves_of_any_plan(plan):
    found = waves(plan)
    place = {name: wave.number for wave in found for name in wave.modules}
    scopes = {module.id: Scope.parse(module.write_scope) for module in plan.modules()}
    listed = [module.id for module in plan.modules()]
    assert sorted(place) == sorted(listed)
    assert [wave.number for wave in found] == list(range(1, len(found) + 1))
    for wave in found:
        assert list(wave.modules) == sorted(wave.modules, key=listed.index)
        assert len(wave.reasons) == len(wave.modules)
        for i, one in enumerate(wave.modules):
            assert all(scopes[one].overlaps(scopes[other]) is None for other in wave.modules[i + 1 :])
    for module in plan.modules():
        assert all(place[needed] < place[module.id] for needed in module.depends_on)
        # As early as it can: in the wave before, something it needs or something that shares its scope was in the way.
        held = [
            other
            for other in place
            if place[other] == place[module.id] - 1
            and (other in module.depends_on or scopes[other].overlaps(scopes[module.id]) is not None)
        ]
        assert held or place[module.id] == 1


def test_the_same_in_every_process():
    code = (
        "from controller.plan.waves import waves; from packets.plan import Plan;"
        " print(waves(Plan.model_validate_json(input())))"
    )
    plan = made({f"M{i}": ([f"M{j}" for j in range(i) if (i * j) % 3 == 1], [f"{i % 4}/"]) for i in range(12)})
    said = {
        subprocess.run(
            [sys.executable, "-P", "-c", code],
            input=plan.model_dump_json(by_alias=True),
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
