"""What has to be proved, and how much it counts; what a trial of it holds. Real trials: ../test_proofs.py."""

import pytest

from packets.packet import VerificationExcerpt
from packets.proof import ProofLevel
from reviewer.proving import Tried

TESTS = "tests/test_engine.py"
CHECK = "pytest tests/test_engine.py -q"
PASSES = {"outcome": "passed", "asserted": False}


def wanted(level=None, checks=(CHECK,)):
    return VerificationExcerpt(module_local_checks=checks, proof=level)


@pytest.mark.parametrize(
    ("level", "expected", "severity"),
    [
        (ProofLevel.REQUIRED, (), {"error"}),
        (ProofLevel.NOTE, ("add scenario guard",), {"note"}),
        (None, (), {"note"}),
        (None, ("add scenario guard",), {"error"}),
        (ProofLevel.OFF, ("add scenario guard",), set()),
    ],
)
def test_levels(bench, level, expected, severity):
    verdict = bench.judge(expected=expected, proof=PASSES, verification_excerpt=wanted(level))
    unproved = [f for f in verdict.findings if f.code == "verification.unproved"]
    assert {str(f.severity) for f in unproved} == severity
    assert all("test_guard" in f.message and f.path == TESTS and f.line for f in unproved)
    assert len(bench.tried) == (0 if level is ProofLevel.OFF else 1)


@pytest.mark.parametrize(
    "files",
    [
        {"app/engine.py": "def price(total):\n    return total + 0\n", TESTS: None, "tests/test_moved.py": "SAME"},
        {TESTS: "# a comment\nSAME"},
        {TESTS: "RENAMED"},
    ],
    ids=["moved", "commented", "renamed"],
)
def test_what_is_not_new_is_not_tried(bench, files):
    same = bench.git.blob(bench.git.entries(bench.base)[TESTS].blob).decode()
    renamed = same.replace("test_zero", "test_nothing")
    head = {p: t and t.replace("SAME", same).replace("RENAMED", renamed) for p, t in files.items()}
    verdict = bench.judge(
        head,
        write_scope=("app/", "tests/", TESTS),
        expected=("remove scenario zero",) if "RENAMED" in str(files) else (),
        checks=(bench.result(scenarios_passed=(f"{TESTS}::test_price", f"{TESTS}::test_nothing")),),
        before=(bench.result(),),
    )
    assert verdict.proofs == ()
    assert bench.tried == []


def test_rows_that_only_have_another_name_are_not_new_and_others_are(bench, monkeypatch):
    rows = "\n\n@mark.parametrize('n', [param(1, id='one')])\ndef test_row(n):\n    assert price(n) == n\n"
    base = bench.good[TESTS].partition("\n\n\ndef test_guard")[0] + rows
    monkeypatch.setattr(bench, "base", bench.tree(bench.base, {TESTS: base}))
    head = base.replace("param(1, id='one')", "param(1, id='uno'), param(2, id='two')")
    passed = tuple(f"{TESTS}::test_{name}" for name in ("price", "zero", "row[uno]", "row[two]"))
    verdict = bench.judge(
        bench.good | {TESTS: head},
        checks=(bench.result(scenarios_passed=passed),),
        expected=("change scenario row",),
        verification_excerpt=wanted(ProofLevel.REQUIRED),
    )
    assert [proof.scenario for proof in verdict.proofs] == [f"{TESTS}::test_row[two]"]
    assert verdict.errors == ()


def test_the_trial_holds_the_tests_of_the_result_and_the_changed_lines_of_its_sources(bench):
    more = {"tests/helper.py": "X = 1\n", "app/extra/data.txt": "data\n", "tests/data.json": "{}", "README.md": None}
    bench.judge(bench.good | more, write_scope=("app/", "tests/", TESTS, "README.md"))
    (trial,) = bench.tried
    assert set(trial.tests) == {TESTS, "tests/helper.py", "tests/data.json"}
    assert set(trial.sources) == {"app/engine.py", "app/extra/data.txt", "README.md"}
    assert trial.sources["README.md"] is None
    assert trial.only == (f"{TESTS}::test_guard",)
    assert trial.lines == {"app/engine.py": ((1, 5), (7, 7))}
    assert trial.watched == (CHECK,)
    files = set(bench.git.entries(trial.tree(bench.git)))
    assert files == {"app/engine.py", "app/money.py", "README.md", TESTS, "tests/helper.py", "tests/data.json"}
    assert trial.tree(bench.git) == bench.tree(
        bench.base, {p: t for p, t in (bench.good | more).items() if "tests" in p}
    )


def test_without_a_check_that_told_of_it_nothing_can_be_tried(bench):
    for level, expected, codes in (
        (ProofLevel.REQUIRED, (), {"verification.unproved"}),
        (None, ("add scenario guard",), {"verification.scenario_missing"}),
        (None, (), set()),
    ):
        verdict = bench.judge(
            checks=(bench.result(scenarios_passed=(), ran_to_end=None),),
            expected=expected,
            verification_excerpt=wanted(level),
        )
        assert {f.code for f in verdict.errors} == codes
    assert bench.tried == []


def test_in_a_rehearsal_it_is_said_that_nothing_was_tried(bench):
    verdict = bench.judge(expected=("add scenario guard",), proof=Tried(cannot="nothing was tried: no tests here"))
    (finding,) = verdict.errors
    assert "nothing was tried" in finding.message
    assert [proof.proved for proof in verdict.proofs] == [False]
