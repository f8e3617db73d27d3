"""Scopes against each other, and against the base's tree."""

import itertools
import random
import re
import time

import pytest

from controller.plan import check_scopes
from controller.plan.check import check_plan
from controller.plan.check_scopes import entries_of, near_pairs, overlaps
from packets.scope import clash
from sandbox.git import Git


def told(problems):
    return [(p.code, p.message) for p in problems]


def test_r9_two_modules_that_write_one_file(desk, plan):
    """R9: names the file and the two modules, and the line to add."""
    given = plan(
        {"First": {"write_scope": ["a.py", "src/x.py"]}, "Second": {"depends_on": ["Old"], "write_scope": ["src/"]}}
    )
    (problem,) = desk.errors({**given, "modules_map": {"Old": ["old.py"]}})
    assert problem.code == "plan.scope_overlap"
    assert problem.message == "`src/x.py` may be written by First and by Second, and neither waits for the other"
    assert problem.hint == "add to Second: `depends_on: [Old, First]`, or narrow a scope"
    assert desk.path.read_text().splitlines()[problem.line - 1].strip() == "- src/"


@pytest.mark.parametrize(
    "modules",
    [
        {"A": {"write_scope": ["x/"]}, "B": {"write_scope": ["x/"], "depends_on": ["A"]}},
        {"A": {"write_scope": ["x/"], "depends_on": ["B"]}, "B": {"write_scope": ["x/"]}},
        {"A": {"write_scope": ["x/"]}, "B": {"depends_on": ["A"]}, "C": {"write_scope": ["x/"], "depends_on": ["B"]}},
        {"A": {"write_scope": ["x/a", "x/a"]}},
    ],
)
def test_an_overlap_is_fine_where_one_waits(desk, plan, modules):
    assert desk.errors(plan(modules)) == []


def test_phases_are_in_order_so_their_scopes_may_overlap(desk, phases):
    assert desk.errors(phases({"A": {"write_scope": ["x/"]}}, {"B": {"write_scope": ["x/"]}})) == []


def test_a_pair_is_named_once_and_every_pair_is_named(desk, plan):
    given = plan({name: {"write_scope": ["x/", "y/", f"{name}/"]} for name in "ABC"})
    assert [re.findall(r"by (\w)", message) for _, message in told(desk.errors(given))] == [
        ["A", "B"],
        ["A", "C"],
        ["B", "C"],
    ]


def test_a_file_of_one_that_is_a_folder_for_the_other(desk, plan):
    (problem,) = desk.errors(plan({"A": {"write_scope": ["x"]}, "B": {"write_scope": ["x/y"]}}))
    assert "`x` may be written by A and by B" in problem.message


def test_all_hints_can_be_followed_at_once(desk, plan):
    """The hints never make a cycle, whatever dependencies there are already."""
    chance = random.Random(3)
    for _ in range(40):
        names = [f"M{i}" for i in range(6)]
        order = chance.sample(names, 6)
        modules = {
            name: {
                "write_scope": chance.sample(["x/", "y/", "z/", "x/a", "w/*"], 2),
                "depends_on": [d for d in order[: order.index(name)] if chance.random() < 0.25],
            }
            for name in names
        }
        given = plan(modules)
        for problem in desk.errors(given):
            assert problem.code == "plan.scope_overlap"
            module, wanted = re.match(r"add to (\w+): `depends_on: \[(.*)\]`", problem.hint).groups()
            have = next(m for m in given["phases"][0]["modules"] if m["id"] == module)
            have["depends_on"] = list(dict.fromkeys([*have["depends_on"], *wanted.split(", ")]))
        assert desk.errors(given) == []


def test_near_pairs_lose_no_overlap(desk, plan):
    """The index gives the same overlaps as comparing everything with everything."""
    chance = random.Random(5)
    words = ["a", "b", "*", "a*", "**"]
    scopes = {
        f"M{i}": {
            "write_scope": list({"/".join(chance.choices(words, k=3)) + chance.choice(["", "/"]) for _ in range(3)})
        }
        for i in range(25)
    }
    phase = desk.load(plan(scopes, checks=())).plan.phases[0] if not desk.errors(plan({"A": {}})) else None
    entries = entries_of(phase)
    slow = {
        frozenset((a[:2], b[:2]))
        for a, b in itertools.combinations(entries, 2)
        if a.module != b.module and clash(a.pattern, b.pattern) is not None
    }
    assert slow == {frozenset((o.first[:2], o.second[:2])) for o in overlaps(phase)}
    assert len(slow) > 20
    assert sum(1 for _ in near_pairs(entries)) < len(entries) * (len(entries) - 1) // 2


def test_many_modules_are_compared_quickly(desk, plan):
    loaded = desk.load(
        plan({f"M{i}": {"write_scope": [f"src/m{i}.py", f"src/m{i}/", f"t/m{i}_*.py"]} for i in range(700)})
    )
    start = time.process_time()
    assert overlaps(loaded.plan.phases[0]) == []
    assert time.process_time() - start < 5


def test_globs_beyond_measure_are_refused_instead_of_compared(desk, plan, monkeypatch):
    monkeypatch.setattr(check_scopes, "MAX_WORK", 100)
    (problem,) = desk.errors(plan({name: {"write_scope": ["*a*b*c*d", f"*{name}*b*c*e"]} for name in "AB"}))
    assert problem.code == "plan.scope_too_complex"


TREE = {
    "app/domain/money.py": "x",
    "app/domain/tax/rate.py": "x",
    "tests/test_money.py": "x",
    "tool": "x",
}


def test_paths_are_what_they_seem_in_the_base(desk, plan):
    desk.commit(TREE)
    (desk.folder / "link").symlink_to("app")
    desk.commit()
    scopes = {
        "Folder": ["app/domain"],
        "Beneath": ["tool/x.py"],
        "AsFolder": ["tool/"],
        "Through": ["link/domain/*.py"],
        "Link": ["link"],
        "New": ["lib/new.py", "app/domain/new/"],
        "Typo": ["ap/domain/money2.py"],
        "Fine": ["app/**/fine.py"],
    }
    modules = {name: {"write_scope": scope} for name, scope in scopes.items()}
    found = {
        p.message: (p.code, p.hint)
        for p in desk.problems(plan(modules), repository=True)
        if p.code != "plan.scope_overlap"
    }
    assert found == {
        "`app/domain` is a folder in the base": ("plan.scope_is_folder", "write `app/domain/`"),
        "`tool` is a file in the base": ("plan.scope_blocked", "name a path that is not beneath it"),
        "`link` is a symbolic link in the base": ("plan.scope_blocked", "name a path that is not beneath it"),
        "there is no folder ap in the base: it would be made": ("plan.scope_new_folder", "did you mean `app`?"),
    } | {"`tool` is a file in the base": ("plan.scope_blocked", "write `tool`")}


def test_submodules_are_not_written_into(desk, plan):
    desk.commit(TREE)
    desk.git("update-index", "--add", "--cacheinfo", f"160000,{desk.git('rev-parse', 'HEAD')},vendor/sub")
    desk.git("commit", "-q", "-m", "a submodule")
    modules = {"A": {"write_scope": ["vendor/sub/"]}, "B": {"write_scope": ["vendor/sub/x.py"]}}
    found = told(desk.errors(plan(modules), repository=True))
    assert found.count(("plan.scope_blocked", "`vendor/sub` is a submodule in the base")) == 2
    assert desk.errors(plan({"A": {"write_scope": ["vendor/sub"]}}), repository=True) == []


def test_the_map_has_to_lead_somewhere(desk, plan):
    desk.commit(TREE)
    mapped = {
        "Money": ["app/domain/money.py"],
        "Mony": ["app/domain/mony.py"],
        "Tax": ["app/domain/tax/"],
        "T": ["tests"],
    }
    found = desk.errors(plan({"A": {}}, modules_map=mapped), repository=True)
    assert [(p.code, p.hint) for p in found] == [
        ("plan.map_nothing", "did you mean `app/domain/money.py`?"),
        ("plan.scope_is_folder", "write `tests/`"),
    ]


@pytest.mark.parametrize("scope", [["plan.yaml"], ["*.yaml"], ["**"]])
def test_no_module_writes_the_plan(desk, plan, scope):
    desk.commit(TREE)
    (problem,) = desk.errors(plan({"A": {"write_scope": scope}}), repository=True)
    assert (problem.code, problem.message) == ("plan.scope_has_plan", "A could write the plan itself, plan.yaml")


def test_a_plan_outside_the_repository_is_in_no_scope(desk, plan, tmp_path):
    desk.commit(TREE)
    loaded = desk.load(plan({"A": {"write_scope": ["**"]}}))
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "plan.yaml"
    desk.path.rename(moved)
    with Git.discover(desk.folder) as git:
        assert (
            check_plan(type(loaded)(loaded.plan, loaded.digest, moved, loaded.text, loaded.positions), git, None, None)
            == ()
        )


def test_the_base_has_to_be_there(desk, plan):
    desk.commit(TREE)
    (problem,) = desk.errors(plan({"A": {}}, base="mian"), repository=True)
    assert (problem.code, problem.hint) == ("plan.base_unknown", "did you mean `main`?")
    assert desk.errors(plan({"A": {}}, base="main"), repository=True) == []


def test_the_base_is_looked_at_and_not_the_checkout(desk, plan):
    desk.commit(TREE)
    first = desk.git("rev-parse", "HEAD")
    desk.commit({"new/file.py": "x"})
    given = plan({"A": {"write_scope": ["new"]}})
    assert [p.code for p in desk.errors(given, repository=True)] == ["plan.scope_is_folder"]
    assert desk.errors({**given, "base": first}, repository=True) == []


def test_b5_a_repository_without_a_commit_is_no_reason_to_fail(desk, plan):
    desk.git("init", "-q")
    assert desk.errors(plan({"A": {}}), repository=True) == []


@pytest.mark.parametrize("entry", ["x", "x/", "x/*a*b", "x/" + "*a" * 60])
def test_hundreds_that_share_everything_are_refused_quickly(desk, plan, entry):
    loaded = desk.load(plan({f"M{i}": {"write_scope": [entry]} for i in range(300)}))
    start = time.process_time()
    found = check_plan(loaded, None, None, None)
    assert time.process_time() - start < 10
    assert {p.code for p in found} <= {"plan.scope_overlap", "plan.more", "plan.scope_too_complex"}
    assert len(found) <= 101
