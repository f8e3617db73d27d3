"""What a plan may not permit, each with its place and what to write instead."""

import pytest

PATCH = {"agents": {"p": {"kind": "patch", "patch": "a.diff"}}}


def codes(problems):
    return [(problem.code, problem.line, problem.column) for problem in problems]


@pytest.fixture
def patch(desk):
    (desk.folder / "a.diff").write_text("")
    return PATCH


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        ({"read": "ask"}, ("the agent a of M cannot ask in the middle of its work", "write `read: auto`")),
        ({"execute": "ask"}, ("the agent a of M cannot ask in the middle of its work", "write `execute: auto`")),
        ({"network": "ask"}, ("the agent a of M cannot ask in the middle of its work", "write `network: deny`")),
        ({"read": "deny"}, ("`read: deny` leaves M nothing to do", "write `read: auto`")),
        ({"write": "deny"}, ("`write: deny` leaves M nothing to do", "write `write: auto`")),
        (
            {"execute": "deny"},
            ("the agent a of M is a program", "write `execute: auto`, or name an agent of kind patch"),
        ),
        ({"network": "auto"}, ("workers have no network in this version", "write `network: deny`")),
    ],
)
@pytest.mark.parametrize("level", ["plan", "module"])
def test_a_tier_that_cannot_be_kept_is_refused_where_it_is_written(desk, plan, tiers, words, level):
    given = plan({"M": {"permissions": tiers}}) if level == "module" else plan({"M": {}}, permissions=tiers)
    (problem,) = desk.errors(given)
    assert problem.code == "plan.bad_permission"
    assert words[0] in problem.message
    assert words[1] in problem.hint
    line = desk.path.read_text().splitlines()[problem.line - 1]
    (key, tier), *_ = tiers.items()
    assert line.strip() == f"{key}: {tier}"
    assert line[problem.column - 1 :] == tier


def test_push_auto_is_refused_and_hooks_have_no_tier(desk, plan):
    (problem,) = desk.errors(plan({"M": {}}, permissions={"push": "auto"}))
    assert (problem.code, problem.hint) == ("plan.bad_permission", "write `push: ask`")
    (problem,) = desk.errors(plan({"M": {}}, permissions={"on_landed": "auto"}))
    assert problem.code == "plan.unknown_key"


def test_a_remote_that_may_not_be_pushed_to_is_refused(desk, plan):
    (problem,) = desk.errors(plan({"M": {}}, permissions={"push": "deny"}, push="origin"))
    assert problem.code == "plan.push_denied"
    assert desk.path.read_text().splitlines()[problem.line - 1] == "push: origin"
    assert desk.errors(plan({"M": {}}, permissions={"push": "deny"})) == []


def test_what_is_fine(desk, plan, patch):
    fine = {"read": "auto", "write": "ask", "network": "deny"}
    assert desk.errors(plan({"M": {"permissions": fine}}, permissions={"land": "auto", "push": "ask"})) == []
    assert desk.errors(plan({"M": {"permissions": {"execute": "deny"}}}, **patch)) == []
    assert desk.errors(plan({"M": {}}, permissions={"land": "deny"}, on_landed=["true"])) == []


def test_a_module_that_says_otherwise_is_not_judged_by_the_plans_tier(desk, plan):
    loose = plan({"M": {"permissions": {"read": "auto"}}}, permissions={"read": "ask"})
    assert desk.errors(loose) == []
    loaded = desk.load(loose).plan
    assert loaded.permissions_of(loaded.module("M")).read == "auto"
    assert loaded.permissions_of(loaded.module("M")).network == "deny"


def test_a_tier_of_the_plan_is_said_once_however_many_modules_it_fits_badly(desk, plan):
    assert len(desk.errors(plan({"M": {}, "N": {}}, permissions={"read": "ask"}))) == 1


@pytest.mark.parametrize("key", ["land", "push"])
def test_a_module_has_no_word_in_what_grace_does(desk, plan, key):
    (problem,) = desk.errors(plan({"M": {"permissions": {key: "ask"}}}))
    assert problem.code == "plan.unknown_key"


@pytest.mark.parametrize("given", ["", "   ", None])
def test_an_empty_hook_is_refused(desk, plan, given):
    (problem,) = desk.errors(plan({"M": {}}, on_landed=["true", given]))
    assert problem.code == "plan.bad_value"


@pytest.mark.parametrize("given", ["https://x:y@host/r.git", "--force", "a b", "../up", ""])
def test_a_remote_is_a_name_and_no_address(desk, plan, given):
    (problem,) = desk.errors(plan({"M": {}}, push=given))
    assert problem.code == "plan.bad_value"


def test_a_remote_that_the_repository_does_not_have_is_refused(desk, plan):
    desk.commit()
    (problem,) = desk.errors(plan({"M": {}}, push="origin"), repository=True)
    assert (problem.code, problem.hint) == ("plan.unknown_remote", "add it: git remote add origin URL")
    desk.git("remote", "add", "upstream", "../none")
    desk.git("remote", "add", "orgin", "../none")
    (problem,) = desk.errors(plan({"M": {}}, push="origin"), repository=True)
    assert problem.hint == "did you mean `orgin`?"
    assert desk.errors(plan({"M": {}}, push="upstream"), repository=True) == []


def test_that_yes_answers_none_of_it_is_noted(desk, plan):
    notes = [p for p in desk.problems(plan({"M": {}}, push="origin", on_landed=["true"])) if p.severity == "note"]
    assert [note.code for note in notes] == ["plan.always_asked"] * 2
    assert all("also under `--yes`" in note.message for note in notes)
    assert not [p for p in desk.problems(plan({"M": {}})) if p.code == "plan.always_asked"]
