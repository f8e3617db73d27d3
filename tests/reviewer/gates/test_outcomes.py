"""E3: tests that are still written down and do not run, or only to be skipped."""

import pytest

ZERO, PRICE = "tests/test_engine.py::test_zero", "tests/test_engine.py::test_price"
ALL = (PRICE, ZERO, "tests/test_engine.py::test_guard")


def test_e3_the_base_is_not_run_while_every_test_is_seen_to_pass(bench):
    bench.judge()
    assert [tree for tree, _ in bench.checked] == [bench.case().outcome.head_tree]


@pytest.mark.parametrize(
    ("head", "before"),
    [
        ({"scenarios_passed": (PRICE,)}, {"scenarios_passed": (PRICE,)}),
        ({"scenarios_passed": (PRICE,), "scenarios_skipped": (ZERO,)}, {"scenarios_skipped": (ZERO,)}),
        ({"scenarios_passed": (PRICE,)}, {"scenarios_failed": (ZERO,)}),
        ({"scenarios_passed": ALL, "scenarios_skipped": (ZERO,)}, {"scenarios_passed": ALL}),
        ({"scenarios_passed": (), "ran_to_end": None}, {"scenarios_passed": ALL}),
    ],
    ids=["not run before", "skipped before", "red before", "skipped by one check, passed in another", "nobody tells"],
)
def test_e3_what_did_not_pass_before_is_no_loss(bench, head, before):
    before = {"scenarios_passed": ()} | before
    assert bench.errors(checks=(bench.result(**head),), before=(bench.result(**before),)) == set()


@pytest.mark.parametrize(
    ("lines", "facts", "errors"),
    [
        (("remove scenario zero",), {"scenarios_skipped": (ZERO,)}, {"verification.unmet"}),
        (("change scenario price",), {}, {"verification.unmet"}),
        (("remove scenario price",), {}, {"verification.unmet"}),
    ],
)
def test_e3_a_declared_removal_still_needs_the_text_to_go(bench, lines, facts, errors):
    head = bench.result(**{"scenarios_passed": (PRICE,)} | facts)
    assert bench.errors(checks=(head,), before=(bench.result(scenarios_passed=ALL),), expected=lines) == errors


def test_e3_tests_of_other_languages_are_missed_as_well(bench, monkeypatch):
    """A title that is still written down and that a runner told of on the base, but not on the result."""
    path, text = "tests/cart.test.js", "it('adds up', () => { expect(f()).toBe(1) });\nit('stays', () => { g() });\n"
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {path: text}))
    head = bench.result(scenarios_passed=(*ALL, f"{path}::stays"), ran_to_end=None)
    before = bench.result(scenarios_passed=(*ALL, f"{path}::stays", f"{path}::adds up"), ran_to_end=None)
    files = bench.good | {path: "// a comment\n" + text}
    given = {"write_scope": ("app/", "tests/", "tests/test_engine.py"), "checks": (head,)}
    assert bench.errors(files, before=(before,), **given) == {"verification.test_removed"}
    assert bench.errors(files, before=(head,), **given) == set()
