"""E3: tests that are deleted, skipped or emptied while all checks pass."""

import pytest

TESTS = "tests/test_engine.py"
PRICE = "def test_price():\n    assert price(10) == 10\n    assert price(0) == 0\n"


@pytest.fixture
def judge(bench):
    """Change one place of the good attempt's tests; gives {(code, severity)}."""

    def go(old, new, *expected):
        assert old in bench.good[TESTS]
        verdict = bench.judge(bench.good | {TESTS: bench.good[TESTS].replace(old, new)}, expected=expected)
        return {(f.code.removeprefix("verification."), str(f.severity)) for f in verdict.findings} - {
            ("review.not_run", "note")
        }

    return go


GONE = (PRICE, "")
SKIPPED = ("def test_price", "import pytest\n@pytest.mark.skip\ndef test_price")
SOMETIMES = ("def test_price", "import pytest\n@pytest.mark.skipif(WIN, reason='w')\ndef test_price")
EMPTIED = (PRICE, "def test_price():\n    price(10)\n")
WEAKER = ("    assert price(10) == 10\n", "")
CHANGED = ("price(10) == 10", "price(11) == 11")
RENAMED = ("def test_price", "def test_prices")


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (GONE, "test_removed"),
        (RENAMED, "test_removed"),
        (SKIPPED, "test_skipped"),
        (SOMETIMES, "test_skipped"),
        (EMPTIED, "test_weakened"),
        (WEAKER, "test_weakened"),
        (CHANGED, "test_changed"),
    ],
)
def test_undeclared_it_is_an_error_that_names_the_test(bench, judge, edit, code):
    assert judge(*edit) == {(code, "error")}
    verdict = bench.judge(bench.good | {TESTS: bench.good[TESTS].replace(*edit)})
    (finding,) = verdict.errors
    assert "test_price" in finding.message
    assert finding.path == TESTS
    assert "scenario test_price" in finding.hint


@pytest.mark.parametrize(
    ("edit", "declared", "left"),
    [
        (GONE, "remove scenario price", set()),
        (RENAMED, "remove scenario tests/test_engine.py::test_price", set()),
        (SKIPPED, "remove scenario price", {("test_skipped", "warning")}),
        (SKIPPED, "change scenario price", {("test_skipped", "error")}),
        (SOMETIMES, "change scenario price", {("test_skipped", "warning")}),
        (EMPTIED, "remove scenario price", {("test_weakened", "warning")}),
        (EMPTIED, "change scenario price", {("test_weakened", "error")}),
        (WEAKER, "change scenario price", {("test_weakened", "warning")}),
        (CHANGED, "change scenario test_price", set()),
        (CHANGED, "change scenario tests/test_engine.py::*", set()),
        (CHANGED, "remove scenario zero", {("test_changed", "error"), ("unmet", "error")}),
        (GONE, "change scenario zero", {("test_removed", "error"), ("unmet", "error")}),
    ],
)
def test_what_the_plan_declares_is_allowed(judge, edit, declared, left):
    assert judge(*edit, declared) == left


def test_a_docstring_meets_a_declared_change_and_needs_none(judge):
    edit = ("def test_price():\n", 'def test_price():\n    """Say why."""\n')
    assert judge(*edit) == set()
    assert judge(*edit, "change scenario price") == set()


def test_expected_scenarios(bench):
    def missing(*expected, tests=None):
        files = bench.good | ({TESTS: tests} if tests else {})
        verdict = bench.judge(files, expected=expected, checks=(bench.result(scenarios_passed=()),))
        return [f.message for f in verdict.errors if f.code == "verification.scenario_missing"]

    assert "nearest" not in missing("add scenario gard")[0]
    assert "test_guard" in missing("add scenario gard")[0]
    assert (
        "no test was added"
        in missing("add scenario price", tests=bench.good[TESTS].partition("\n\n\ndef test_guard")[0])[0]
    )
    twice = bench.good[TESTS] + "\n\nclass TestMore:\n    def test_guard(self):\n        assert price(1)\n"
    assert "ambiguous" in missing("add scenario guard", tests=twice)[0]
    assert "was not" in missing("add scenario guard")[0]


def test_a_new_row_is_a_scenario(bench):
    rows = "\n\n@mark.parametrize('n', [param(1, id='plus_loyalty')])\ndef test_row(n):\n    assert price(n)\n"
    passed = "tests/test_engine.py::test_row[{}]"
    for given, errors in (("plus_loyalty", set()), ("other", {"verification.scenario_missing"})):
        files = bench.good | {TESTS: bench.good[TESTS] + rows}
        checks = (bench.result(scenarios_passed=(passed.format(given),)),)
        assert bench.errors(files, expected=("add scenario plus_loyalty",), checks=checks) == errors, given


def test_a_new_test_without_an_assertion_is_said(judge):
    assert judge("    assert price(7) == 7\n", "    price(7)\n") == {("asserts_nothing", "warning")}


def test_support_is_said(bench):
    verdict = bench.judge(
        bench.good | {"tests/data.json": "{}", "tests/helper.py": "def expect(x):\n    assert x\n"},
        write_scope=("app/", "tests/", TESTS),
    )
    assert verdict.findings == (), "new support is no change of existing tests"


@pytest.mark.parametrize(("body", "severity"), [("pass", "error"), ("assert x and more(x)", "warning")])
def test_a_helper_that_asserts_less_is_a_weakened_test(bench, monkeypatch, body, severity):
    helper = "def expect(x):\n    assert x\n"
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {"tests/helper.py": helper}))
    files = bench.good | {"tests/helper.py": helper.replace("assert x", body)}
    verdict = bench.judge(files, write_scope=("app/", "tests/", TESTS))
    assert {str(f.severity) for f in verdict.findings if f.path == "tests/helper.py"} == {severity}
