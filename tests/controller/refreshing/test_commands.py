"""Which checks each level runs, and what it says of the others."""

import pytest

from controller.refreshing.commands import Standing, commands
from controller.refreshing.reach import Reach
from packets.plan import Plan
from packets.refresh import RefreshLevel

PHASES = {"one": ["A", "B", "C"], "two": ["D", "E"]}


def module(name):
    checks = {"module_local_checks": [f"check {name}", "shared"]}
    return {"id": name, "purpose": "x", "write_scope": [f"{name}/"], "verification": checks, "optional": name == "E"}


@pytest.fixture
def plan():
    phases = [
        {"id": p, "checks": [f"phase {p}"], "wave_checks": [f"wave {p}"], "modules": [module(m) for m in names]}
        for p, names in PHASES.items()
    ]
    return Plan.model_validate({"version": 1, "name": "p", "phases": phases}, strict=False)


def chosen(plan, level, *modules, near=(), merged="ABC", ends=""):
    states = {m: "asleep" if m in merged else "queued" for m in "ABCDE"}
    reach = Reach(RefreshLevel(level), modules, tuple(near), None if level in {"phase", "full"} else frozenset())
    return commands(plan, reach, Standing(states, {}, frozenset(merged)), ends=ends)


@pytest.mark.parametrize(
    ("level", "modules", "more", "run"),
    [
        ("module", "B", {"near": "C"}, ["check B", "shared"]),
        ("wave", "AB", {}, ["check A", "shared", "check B", "wave one"]),
        ("wave", "A", {"near": "C"}, ["check A", "shared", "check C", "wave one"]),
        ("phase", "", {"ends": "one"}, ["phase one"]),
        ("phase", "AB", {"ends": "one"}, ["check A", "shared", "check B", "phase one"]),
        ("full", "ABCDE", {}, ["check A", "shared", "check B", "check C", "wave one", "phase one"]),
        ("full", "ABCDE", {"merged": "AB"}, ["check A", "shared", "check B", "wave one"]),
        (
            "full", "", {"merged": "ABCD"},
            ["check A", "shared", "check B", "check C", "check D", "wave one", "phase one", "wave two", "phase two"],
        ),
    ],
)  # fmt: skip
def test_each_level_runs_its_own(plan, level, modules, more, run):
    found = chosen(plan, level, *modules, **more)
    assert list(found.run) == run
    assert {out.command for out in found.left_out} == set(plan.checks()) - set(run)


def test_it_says_why_a_check_is_left_out(plan):
    why = {out.command: out.why for out in chosen(plan, "wave", "A").left_out}
    assert why == {
        "check B": "B is neither looked at nor a direct dependent of what is",
        "check C": "C is neither looked at nor a direct dependent of what is",
        "phase one": "a check of phase one: not at this level",
        "check D": "D is queued: nothing of it is on the tree",
        "check E": "E is queued: nothing of it is on the tree",
        "wave two": "a wave check of phase two: not at this level",
        "phase two": "a check of phase two: not at this level",
    }
    full = {out.command: out.why for out in chosen(plan, "full", merged="AB").left_out}
    assert full["phase one"] == "a check of phase one: not all of its modules are merged"
