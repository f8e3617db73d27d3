"""E4: the worker claims what is not so."""

from packets.deltas import VerificationDelta
from packets.outcome import StopReason
from packets.report import WorkerReport

MARKER = "[Pricing][Engine][GUARD]"
TESTS = "tests/test_engine.py"


def test_an_honest_report_is_no_finding(bench):
    report = WorkerReport(
        files_changed=("app/engine.py", f"/repo/{TESTS}"),
        checks_passed=("pytest  tests/test_engine.py -q",),
        verification_delta=VerificationDelta(scenarios_added=("test_guard",), markers_added=(MARKER,)),
    )
    assert bench.judge(report=report).findings == ()


def test_each_false_claim_is_a_finding_even_after_other_errors(bench):
    report = WorkerReport(
        files_changed=("app/engine.py", TESTS, "app/other.py", "src/never.txt"),
        checks_passed=("pytest tests/test_invented.py",),
        verification_delta=VerificationDelta(
            scenarios_added=("invented",), scenarios_removed=("test_zero",), markers_added=("[Never]",)
        ),
    )
    verdict = bench.judge(bench.good | {"app/other.py": "x = 1\n"}, report=report)
    assert verdict.not_run
    false = [f"{f.path} {f.message}" for f in verdict.errors if f.code == "claims.false"]
    assert len(false) == 5
    for claim in ("src/never.txt", "test_invented.py", "invented", "test_zero", "[Never]"):
        assert any(claim in text for text in false), claim


def test_a_check_that_failed_here_was_not_passed(bench):
    report = WorkerReport(checks_passed=("pytest tests/test_engine.py -q",))
    verdict = bench.judge(report=report, checks=(bench.result(exit_code=1),))
    assert {f.code for f in verdict.errors} == {"verification.check_failed", "claims.false"}


def test_what_nobody_ran_here_is_not_believed_and_not_punished(bench):
    verdict = bench.judge(report=WorkerReport(checks_passed=("ruff check .",)))
    assert [(f.code, str(f.severity)) for f in verdict.findings] == [("claims.unproved", "warning")]


def test_what_was_left_out_is_said(bench):
    verdict = bench.judge(report=WorkerReport(files_changed=("app/engine.py",)))
    assert [(f.code, str(f.severity)) for f in verdict.findings] == [("claims.omitted", "warning")]
    assert TESTS in verdict.findings[0].message


def test_a_report_that_cannot_be_read_claims_nothing(bench):
    verdict = bench.judge(outcome={"report_fault": "line 1: no JSON"})
    assert [(f.code, str(f.severity)) for f in verdict.findings] == [("claims.unreadable", "warning")]


def test_a_marker_that_is_in_no_output_was_not_added(bench):
    report = WorkerReport(verification_delta=VerificationDelta(markers_added=(MARKER,)))
    assert bench.errors(report=report, checks=(bench.result(output="quiet\n"),)) == {"claims.false"}


def test_a6_nothing_changed_is_named_whatever_is_claimed(bench):
    verdict = bench.judge({}, report=WorkerReport(files_changed=("app/engine.py",)))
    assert {f.code for f in verdict.errors} == {"worker.empty", "claims.false"}


def test_r2_good_looking_work_of_a_worker_that_failed_is_rejected(bench):
    assert bench.errors(outcome={"exit_code": 3}) == {"worker.exit"}
    assert bench.errors(outcome={"exit_code": 0, "reason": StopReason.MEMORY}) == {"worker.memory"}
