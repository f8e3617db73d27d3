"""The refresh of waves and phases in a run: green, red with a culprit, red without one."""

import json
from itertools import count

import pytest

ABC = {m: {"writes": {f"src/{m.lower()}.txt": m}} for m in "ABC"}


def both(*names):
    return lambda mounts, job: int(all((mounts["/repo"] / f"src/{n}.txt").exists() for n in names))


def refreshes(world):
    return [e["data"] for e in world.events() if e["type"] == "refresh.done"]


def test_e1_a_red_wave_is_bisected_and_only_the_culprit_is_undone(world):
    world.scripts["a-and-c-clash"] = both("a", "c")
    world.plan(ABC, wave_checks=["a-and-c-clash"], defaults={"limits": {"attempts": 2}})
    world.run("--yes").exits(1)
    red = [r for r in refreshes(world) if not r["green"]]
    assert {r["culprit"] for r in red} == {"C"}
    assert "turns red when C is added" in red[0]["message"]
    assert world.states() == {"A": "asleep", "B": "asleep", "C": "failed"}
    packets = world.grace("packets", world.run_id, "C", "--json").json["packets"]
    assert packets[1]["findings"][0]["code"] == "verification.check_failed"
    assert "a-and-c-clash" in packets[1]["findings"][0]["message"]
    assert any("/C/1" in ref for ref in world.refs("refs/grace/rescue"))
    assert "src/a.txt" not in world.files("main"), "the phase does not land"
    world.agrees()
    assert world.leftovers() == []


def test_a_culprit_that_does_better_the_second_time_lands(world):
    tries = count(1)
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/c.txt").write_text(str(next(tries))) and 0
    world.scripts["not-1"] = lambda mounts, job: int(
        (mounts["/repo"] / "src/c.txt").exists() and (mounts["/repo"] / "src/c.txt").read_text() == "1"
    )
    world.plan({"A": ABC["A"], "C": {"run": "work", "write_scope": ["src/c.txt"]}}, wave_checks=["not-1"])
    world.run("--yes").exits(0)
    assert world.attempts() == {"A": 1, "C": 2}
    assert world.show("src/c.txt", "main") == "2"
    world.agrees()


def test_the_first_that_turns_it_red_is_the_culprit_also_when_two_share_the_check(world):
    """A check that two modules name counts from the first of them on."""
    world.scripts["shared"] = both("a", "b")
    shared = {"verification": {"module_local_checks": ["shared"]}}
    world.plan(
        {"A": ABC["A"], "B": {**ABC["B"], **shared}, "C": {**ABC["C"], **shared}}, defaults={"limits": {"attempts": 1}}
    )
    world.run("--yes")
    assert [r["culprit"] for r in refreshes(world) if not r["green"]][:1] == ["B"]


def test_a_wave_that_was_red_before_its_merges_has_no_culprit(world):
    seen = count()
    world.scripts["red"] = lambda mounts, job: int(next(seen) >= 0)
    world.plan(ABC, wave_checks=["red"])
    said = world.run("--yes").exits(1)
    assert refreshes(world)[0]["culprit"] == ""
    assert "red before this wave's merges" in said.out
    assert set(world.states().values()) == {"asleep"}, "nobody is undone for it"
    world.agrees()


def words(*codes):
    """A check that says one word after the other, and the last one for ever."""
    left = list(codes)
    return lambda mounts, job: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("level", ["wave_checks", "checks"])
def test_a_flaky_check_blames_nobody_and_is_said_to_be_one(world, level):
    """Red, then green on the very same tree: the run goes on, and everybody can read of it."""
    world.scripts["turns"] = words(1, 0)
    world.plan(ABC, **{level: ["turns"]})
    said = world.run("--yes").exits(0)
    assert "flaky: `turns` said of the same tree" in said.out
    (told,) = [r for r in refreshes(world) if r["findings"]]
    assert (told["green"], told["culprit"]) == (True, "")
    (finding,) = map(json.loads, told["findings"])
    assert (finding["code"], finding["severity"]) == ("verification.flaky", "warning")
    assert [c["flaky"] for c in told["checks"]] == ["failed, passed"]
    assert set(world.states().values()) == {"done"}
    (flaky,) = world.status()["flaky"]
    assert (flaky["command"], flaky["said"], flaky["tree"]) == ("turns", ["failed", "passed"], world.tree("main"))
    assert "flaky: turns said failed, passed" in world.grace("status").out


def test_a_prefix_that_is_red_once_is_not_the_culprit(world):
    """The tip is red twice; on the way there one prefix is red by chance: the one that stays red is to blame."""
    chance = words(1, 0)
    world.scripts["clash"] = lambda mounts, job: (
        both("a", "c")(mounts, job) or (chance(mounts, job) if (mounts["/repo"] / "src/b.txt").exists() else 0)
    )
    world.plan(ABC, wave_checks=["clash"], defaults={"limits": {"attempts": 1}})
    world.run("--yes").exits(1)
    assert {r["culprit"] for r in refreshes(world) if not r["green"]} == {"C"}


def test_a_module_that_is_judged_green_where_it_was_red_is_told_to_be_flaky(world):
    """Two attempts leave the same tree; the check changed its mind and not the code."""
    world.scripts["turns"] = words(1, 0)
    checks = {"verification": {"module_local_checks": ["turns"]}}
    world.plan({"A": {**ABC["A"], **checks}}, defaults={"limits": {"attempts": 2}})
    world.run("--yes").exits(0)
    assert world.attempts() == {"A": 2}
    (module,) = world.status()["modules"]
    assert [f["code"] for f in module["findings"]] == ["verification.flaky"]
    (review,) = world.grace("review", "--json").exits(0).json["reviews"]
    assert review["verdict"]["checks"][0]["flaky"] == "failed, passed"
    assert "verification.flaky" in world.grace("review").out


def test_a_red_phase_does_not_land_and_says_so(world):
    world.scripts["red"] = lambda mounts, job: 1
    world.plan(ABC, checks=["red"])
    head = world.head
    said = world.run("--yes").exits(1)
    assert "phase is red: red exits 1" in said.out
    assert "red" in world.status()["note"]
    assert world.head == head
    assert set(world.states().values()) == {"asleep"}
    assert world.leftovers() == []
    world.agrees()


def test_green_evidence_for_the_same_tree_is_used_again_and_red_is_not(world):
    ran = []
    world.scripts["check"] = lambda mounts, job: ran.append(job.name) or 0
    world.plan({"A": ABC["A"]}, checks=["check"], wave_checks=["check"])
    world.run("--yes").exits(0)
    assert len(ran) == 1, "wave and phase look at the same tree"


def test_each_level_says_what_it_parsed(world):
    world.commit({"src/m.py": "def f():\n    return 1\n"})
    world.plan({"A": {"writes": {"src/n.py": "from src.m import f"}}})
    world.run("--yes").exits(0)
    said = refreshes(world)
    assert [r["level"] for r in said] == ["wave", "phase"]
    assert all({"files_total", "files_parsed", "duration_ms", "drift", "checks"} <= r.keys() for r in said)
    notes = [e["data"] for e in world.events() if e["type"] == "note" and e["data"].get("level") == "module"]
    assert [n["files_total"] for n in notes] == [len(world.files("main"))]
    assert [n["dependents"] for n in notes] == [[]]


@pytest.mark.parametrize("optional", [False, True])
def test_a_failed_module_keeps_the_phase_from_landing_unless_it_is_optional(world, optional):
    world.scripts["fail"] = lambda mounts, job: 1
    world.plan(
        {
            "A": ABC["A"],
            "Bad": {"run": "fail", "write_scope": ["src/bad.txt"], "optional": optional, "limits": {"attempts": 1}},
            "Needs": {"writes": {"src/n.txt": "n"}, "depends_on": ["Bad"], "optional": optional},
        }
    )
    said = world.run("--yes").exits(0 if optional else 1)
    assert world.states() == {"A": "done" if optional else "asleep", "Bad": "failed", "Needs": "cancelled"}
    assert ("src/a.txt" in world.files("main")) is optional
    assert optional or "failed: Bad" in said.out
    world.agrees()
    assert world.leftovers() == []


def bisections(world):
    return [r["bisection"] for r in refreshes(world) if not r["green"]]


def test_a_search_runs_nothing_that_is_known(world):
    """The second search, after an attempt that does no better, finds every prefix before the tip known to be green."""
    world.scripts["a-and-c-clash"] = both("a", "c")
    world.plan(ABC, wave_checks=["a-and-c-clash"], defaults={"limits": {"attempts": 2}})
    said = world.run("--yes").exits(1)
    assert bisections(world) == [{"merges": 3, "tried": 3, "known": 0}, {"merges": 3, "tried": 0, "known": 3}]
    assert "turns red when C is added (3 merges, 3 trees tried)" in said.out


def test_a_wave_of_one_merge_costs_nothing_where_the_tree_before_is_known(world):
    """B turns the wave check red; it was green on the tree before, at the refresh of A's wave."""
    ran = []
    world.scripts["a-alone"] = lambda mounts, job: ran.append(job.name) or both("a", "b")(mounts, job)
    needs = {"depends_on": ["A"], "limits": {"attempts": 1}}
    world.plan({"A": ABC["A"], "B": {**ABC["B"], **needs}}, wave_checks=["a-alone"])
    world.run("--yes").exits(1)
    (red,) = [r for r in refreshes(world) if not r["green"]]
    assert (red["culprit"], red["bisection"]) == ("B", {"merges": 1, "tried": 0, "known": 1})
    assert not [name for name in ran if "prefix" in name]
    assert world.states() == {"A": "asleep", "B": "failed"}


def test_red_that_turns_green_again_on_the_way_does_not_hide_the_first(world):
    """With A it is red, with A and B green, with all three red: the first one that turned it red is A."""
    there = lambda mounts: "".join(n for n in "abc" if (mounts["/repo"] / f"src/{n}.txt").exists())  # noqa: E731
    world.scripts["odd"] = lambda mounts, job: int(there(mounts) in {"a", "abc"})
    world.plan(ABC, wave_checks=["odd"], defaults={"limits": {"attempts": 1}})
    world.run("--yes").exits(1)
    first = next(r for r in refreshes(world) if not r["green"])
    assert (first["culprit"], first["bisection"]["tried"]) == ("A", 2)


def test_a_search_that_was_cut_off_goes_on_where_it_was(world, cut):
    """What is red for good on a tree is known afterwards, as what is green."""
    ran = []
    world.scripts["clash"] = lambda mounts, job: ran.append(job.name) or both("a", "b")(mounts, job)
    world.plan(ABC, wave_checks=["clash"], defaults={"limits": {"attempts": 1}})
    with cut("controller.refreshing.bisect.checked", "after", 3):
        world.run("--yes")
    before = len(ran)
    world.grace("resume", world.run_id).exits(1)
    first = next(r for r in refreshes(world) if not r["green"])
    assert (first["culprit"], first["bisection"]) == ("B", {"merges": 3, "tried": 0, "known": 3})
    assert not [name for name in ran[before:] if "prefix" in name]


FAR = {
    "app/core.py": "__all__ = ['_f']\n\n\ndef _f():\n    return 1\n",
    "app/front.py": "from app.core import *\n",
    "app/far.py": "from app.front import _f\n",
}


def test_a_refresh_goes_on_to_a_wider_level_where_drift_is_wider(world, exists):
    """Core takes away what another module uses by way of a third file: no direct dependent, so no check of a wave's."""
    far = lambda mounts, job: int("_f():" not in (mounts["/repo"] / "app/core.py").read_text())  # noqa: E731
    world.scripts |= {"far": far, "core": exists("app/core.py")}
    world.commit(FAR)
    world.plan(
        {
            "Far": {
                "changes": {"app/far.py": (FAR["app/far.py"], FAR["app/far.py"] + "_f()\n")},
                "verification": {"module_local_checks": ["far"]},
            },
            "Core": {
                "changes": {"app/core.py": (FAR["app/core.py"], FAR["app/core.py"].replace("_f", "_g"))},
                "depends_on": ["Far"],
                "verification": {"module_local_checks": ["core"]},
                "limits": {"attempts": 1},
            },
        }
    )
    said = world.run("--yes").exits(1)
    notes = [e["data"] for e in world.events() if e["type"] == "note" and "why" in e["data"]]
    assert [(n["level"], n["to"]) for n in notes] == [("module", "wave"), ("wave", "full"), ("wave", "full")]
    assert all("app/far.py:1 names _f" in n["why"] for n in notes)
    assert "module refresh goes on to wave" in said.out
    assert "drift: stale_edge: app/far.py:1: names _f" in said.out
    (red,) = [r for r in refreshes(world) if not r["green"]]
    assert (red["level"], red["reached"], red["culprit"]) == ("wave", "full", "Core")
    assert [c["command"] for c in red["checks"]] == ["far", "core"]
    assert world.states() == {"Far": "asleep", "Core": "failed"}


def test_a_refresh_of_a_module_runs_nothing_that_the_reviewer_just_proved(world):
    ran = []
    world.scripts["own"] = lambda mounts, job: ran.append(job.name) or 0
    world.plan({"A": {**ABC["A"], "verification": {"module_local_checks": ["own"]}}})
    said = world.run("--yes").exits(0)
    assert "1 checks known to be green" in said.out
    assert len(ran) == 1, "and the wave and the phase look at the same tree"
    wave = next(r for r in refreshes(world) if r["level"] == "wave")
    assert wave["checks_reused"] == ["own"]
