"""What only the whole plan shows: names, order, scopes, files, expectations; and that a good plan is left alone."""

import pytest

from packets.problem import NameProblem


def told(problems):
    return [(p.code, p.message) for p in problems]


def codes(problems):
    return [p.code for p in problems]


def test_a_good_plan_has_no_problems(desk, plan):
    assert desk.problems(plan({"A": {}, "B/C": {"depends_on": ["A", "Old"]}}, modules_map={"Old": ["old.py"]})) == ()


def test_duplicate_ids(desk, plan):
    given = plan({"A/B": {}, "a/b": {"write_scope": ["x/"]}, "C": {}}, modules_map={"C": ["c"]})
    given["phases"][0]["modules"].append({"id": "C", "purpose": "x", "write_scope": ["z/"]})
    given["phases"].append({"id": "one", "modules": [{"id": "D", "purpose": "x", "write_scope": ["z/"]}]})
    found = desk.errors(given)
    assert codes(found) == ["plan.duplicate_id"] * 4
    assert "A/B" in found[0].message, "a name on disk that is shared says with whom"
    assert found[-1].message == "the phase id one is taken"


def test_an_id_that_is_the_folder_of_another(desk, plan):
    found = desk.errors(plan({"A/B/C": {}, "A": {"write_scope": ["x/"]}, "AB": {}, "A/BC": {"write_scope": ["y/"]}}))
    assert told(found) == [
        ("plan.id_is_folder", "A is the folder of A/B/C: git cannot hold a branch for both"),
        ("plan.id_is_folder", "A is the folder of A/BC: git cannot hold a branch for both"),
    ]


def test_dependencies_have_to_be_there_and_come_first(desk, phases):
    given = phases(
        {"Pricing/Money": {"depends_on": ["Late", "Pricing/Mony", "Pricing/Money"]}},
        {"Late": {"depends_on": ["Pricing/Money", "Nowhere"]}},
    )
    found = desk.errors(given)
    assert codes(found) == ["plan.depends_on_later", "plan.unknown_dependency", "plan.cycle", "plan.unknown_dependency"]
    assert found[1].hint == "did you mean `Pricing/Money`?"
    assert "modules_map" in found[3].hint
    assert "phase2" in found[0].message


def test_cycles_are_named(desk, plan):
    given = plan(
        {
            "A": {"depends_on": ["B"]},
            "B": {"depends_on": ["C", "E"]},
            "C": {"depends_on": ["D", "A"]},
            "D": {"depends_on": ["A"]},
            "E": {},
            "F": {"depends_on": ["G", "A"]},
            "G": {"depends_on": ["F"]},
        }
    )
    assert told(desk.errors(given)) == [
        ("plan.cycle", "these depend on each other: A -> B -> C -> A"),
        ("plan.cycle", "these depend on each other: F -> G -> F"),
    ]


def test_agents(desk, plan):
    given = plan({"A": {"agent": "gold"}, "B": {"agent": "golden"}, "C": {}}, defaults={"agent": "iron"})
    given["agents"] = {"gold": {"kind": "command", "run": ["x"]}, "x": {"kind": "command", "run": ["x"]}}
    assert told(desk.errors(given)) == [
        ("plan.unknown_agent", "there is no agent golden"),
        ("plan.unknown_agent", "there is no agent iron"),
    ]
    del given["defaults"], given["phases"][0]["modules"][1]
    (problem,) = desk.errors(given)
    assert (problem.code, problem.hint) == ("plan.no_agent", "name one of: gold, x")
    given["agents"] = {}
    del given["phases"][0]["modules"][0]
    (problem,) = desk.errors(given)
    assert (problem.code, problem.hint) == ("plan.no_agent", "describe one under `agents`")


@pytest.mark.parametrize("name", ["A B", "1A", "GRACE_X", "A=B", "", "Ä"])
def test_environment_variables_that_cannot_be_set(desk, plan, name):
    agents = {"a": {"kind": "command", "run": ["x"], "env": {name: "1", "GOOD_1": "2"}}}
    assert codes(desk.errors(plan({"A": {}}, agents=agents))) in (["plan.agent_env"], ["plan.bad_key"])


def test_patches_and_dockerfiles_lie_beside_the_plan(desk, plan):
    (desk.folder / "sub").mkdir()
    (desk.folder / "sub" / "good.diff").touch()
    (desk.folder.parent / "outside.diff").touch()
    paths = [
        "sub/good.diff",
        "sub/../sub/good.diff",
        "missing.diff",
        "sub",
        "../outside.diff",
        "/etc/passwd",
        "x" * 300,
    ]
    agents = {f"p{i}": {"kind": "patch", "patch": path} for i, path in enumerate(paths)}
    found = desk.errors(plan({"A": {"agent": "p0"}}, agents=agents, image={"dockerfile": "Dockerfile"}))
    assert codes(found) == [
        *("plan.patch_missing", "plan.patch_missing", "plan.patch_outside", "plan.patch_outside", "plan.patch_missing"),
        "plan.dockerfile_missing",
    ]


def test_expectations_follow_their_grammar(desk, plan):
    deltas = {
        "graph": ["A -> B", "A => B", "add A", "remove A B", "not A -> B"],
        "verification": ["add scenario x", "add scenario", "change marker [X]", "remove check make"],
    }
    found = desk.errors(plan({"A": {"expected_deltas": deltas}}))
    assert codes(found) == ["plan.bad_expectation"] * 4
    assert "`A -> B`" in found[0].message
    assert "scenario NAME" in found[2].message


def test_names_that_the_graph_does_not_know(desk, plan):
    class Knows:
        def name_problems(self, tree, plan):
            assert len(tree) == 40
            return [
                NameProblem("B", 0, "no name y yet; did you mean z?", "a hint", "warning"),
                NameProblem("B", 1, "no path x.py"),
                NameProblem("A", 0, "Money is ambiguous: a.py::Money, b.py::Money"),
            ]

    desk.commit({"README.md": "x"})
    modules = {
        "A": {"expected_deltas": {"graph": ["add Money"]}},
        "B": {"expected_deltas": {"graph": ["add y", "add x.py"]}},
    }
    found = desk.errors(plan(modules), knowledge=Knows(), repository=True)
    assert told(found) == [
        ("plan.unknown_name", "Money is ambiguous: a.py::Money, b.py::Money"),
        ("plan.unknown_name", "no path x.py"),
    ]
    lines = desk.path.read_text().splitlines()
    assert [lines[p.line - 1].strip() for p in found] == ["- add Money", "- add x.py"]
    warned = desk.problems(plan(modules), knowledge=Knows(), repository=True)
    assert [(p.severity, p.message, p.hint) for p in warned if p.code == "plan.pending_name"] == [
        ("warning", "no name y yet; did you mean z?", "a hint")
    ]


def test_markers_that_are_required_and_forbidden(desk, plan):
    verification = {"required_markers": ["[X]", "[Y]"], "forbidden_markers": ["[Z]", "[Y]"]}
    assert told(desk.errors(plan({"A": {"verification": verification}}))) == [
        ("plan.marker_conflict", "[Y] is required and forbidden")
    ]


def test_r11_nothing_verifies_a_module(desk, plan):
    """R11: a notice, no error."""
    (problem,) = desk.problems(plan({"A": {}}, checks=()))
    assert (problem.code, problem.severity) == ("plan.no_checks", "warning")
    assert "nothing verifies A" in problem.message
    assert "warning: " in problem.text()
    for checked in (plan({"A": {}}), plan({"A": {"verification": {"module_local_checks": ["true"]}}}, checks=())):
        assert desk.problems(checked) == ()


def test_protected_files_are_noted_when_named_and_warned_of_when_only_covered(desk, plan):
    scope = ["pyproject.toml", "src/", "tests/"]
    check = "pytest tests/test_a.py src -q && sh ci/run.sh"
    found = desk.problems(plan({"A": {"write_scope": scope}}, checks=(check,)))
    assert [(p.code, p.severity) for p in found] == [
        ("plan.protected_judge", "warning"),
        ("plan.protected_named", "note"),
    ]
    assert "tests/test_a.py" in found[0].message
    assert "`tests/test_a.py`" in found[0].hint
    named = desk.problems(plan({"A": {"write_scope": [*scope[1:], "tests/test_a.py"]}}, checks=(check,)))
    assert named == ()


def test_an_agent_whose_program_is_not_committed(desk, plan):
    """Workers get the base commit; what only the checkout holds would not be there."""
    tool = desk.folder / "tools" / "fix.py"
    tool.parent.mkdir()
    desk.git("init", "-q")
    desk.git("commit", "-q", "--allow-empty", "-m", "base")
    tool.write_text("print(1)\n")
    run = ["python3", "./tools/fix.py", "/etc/passwd", "../x", "tools", "x" * 5000, "a\nb", "no.py"]
    agents = {"x": {"kind": "command", "run": run}}

    def said(**module):
        return [
            (p.code, p.severity, p.message, p.hint)
            for p in desk.problems(plan({"A": module}, agents=agents), repository=True)
        ]

    absent = "tools/fix.py is not in the base commit, so workers do not have it"
    changed = "tools/fix.py was changed since the base commit, and workers have that commit's"
    assert said() == [("plan.agent_uncommitted", "warning", absent, "commit it")]
    assert said(write_scope=["tools/"]) == []  # a module brings it
    desk.git("add", "tools")
    desk.git("commit", "-q", "-m", "tool")
    assert said() == []
    tool.write_bytes(b"print(1)\r\n")  # as git checks it out under autocrlf
    assert said() == []
    link = desk.folder / "link.py"
    link.symlink_to("tools/fix.py")
    desk.git("add", "link.py")
    desk.git("commit", "-q", "-m", "link")
    run[-1] = "link.py"
    assert said() == []
    tool.write_text("print(2)\n")
    assert said() == [("plan.agent_uncommitted", "warning", changed, "commit it")]


def test_problems_stand_in_file_order(desk, plan):
    given = plan({"B": {"agent": "no"}, "A": {"depends_on": ["No"]}}, defaults={"agent": "no"})
    found = desk.problems({"phases": given.pop("phases"), **given})
    assert [p.line for p in found] == sorted(p.line for p in found)
    assert len(found) == 3
