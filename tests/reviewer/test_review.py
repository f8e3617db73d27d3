"""Each gate is needed: with it a faulty attempt is rejected by name, without it the same attempt is accepted."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from packets.deltas import GraphDelta, VerificationDelta
from packets.errors import EngineLost, Interrupted
from packets.graph import Expectation, GraphReport, PackageUse, SurfaceUse, UndeclaredUse
from packets.outcome import Anomaly, AnomalyKind, StopReason
from packets.packet import VerificationExcerpt
from packets.report import ReportStatus, WorkerReport
from packets.verdict import Decision, Severity
from reviewer.proving import Tried
from reviewer.registry import GATES, codes
from reviewer.review import review
from sandbox.git.values import Content

CHECK = "pytest tests/test_engine.py -q"
MARKER = "[Pricing][Engine][GUARD]"
PASSED = ("tests/test_engine.py::test_price", "tests/test_engine.py::test_zero")
TESTS = "tests/test_engine.py"


def files(**changed):
    """The good attempt with more files: `app_extra_x` is `app/extra/x`."""

    def build(bench):
        return bench.case(bench.good | {path.replace("__", "/"): what for path, what in changed.items()})

    return build


def link(target):
    return lambda bench: bench.case(bench.good | {"app/extra/link": Content("120000", target.encode())})


def paths(*names):
    return lambda bench: bench.case(bench.good | dict.fromkeys(names, "x\n"))


def retested(old, new, **given):
    """The good attempt, with one place of the tests changed."""

    def build(bench):
        assert old in bench.good[TESTS]
        return bench.case(bench.good | {TESTS: bench.good[TESTS].replace(old, new)}, **given)

    return build


def outcome(**facts):
    return lambda bench: bench.case(outcome=facts)


def anomaly(kind):
    return outcome(anomalies=(Anomaly(kind=kind, path="app/extra/x"),))


def graph(**facts):
    return lambda bench: bench.case(graph=GraphReport(**facts))


def check(**facts):
    return lambda bench: bench.case(checks=(bench.result(**facts),), expected=facts.pop("expected", ()))


def expecting(*lines, **facts):
    return lambda bench: bench.case(expected=lines, checks=(bench.result(**facts),))


def unproved(proof):
    return lambda bench: bench.case(expected=("add scenario guard",), proof=proof)


def marked(output=f"INFO {MARKER} on\n", required=(MARKER,), forbidden=(), lines=(), more=None):
    def build(bench):
        wanted = VerificationExcerpt(
            module_local_checks=(CHECK,), required_markers=required, forbidden_markers=forbidden
        )
        results = (bench.result(output=output),)
        return bench.case(bench.good | (more or {}), checks=results, verification_excerpt=wanted, expected=lines)

    return build


def was_green(**facts):
    """Everything passed on the base, a test of an untouched file too."""

    def build(bench):
        passed = (*PASSED, "tests/test_other.py::test_x[1]")
        return bench.case(checks=(bench.result(**facts),), before=(bench.result(scenarios_passed=passed),))

    return build


def claiming(results=None, **claims):
    return lambda bench: bench.case(
        report=WorkerReport(**claims), checks=(bench.result(**results),) if results else None
    )


def unnamed_mode(bench):
    """Git itself refuses most of such modes; its old 664 is still read."""
    case = bench.case()
    changed = tuple(
        change._replace(new_mode="100664") if change.path == "app/engine.py" else change
        for change in case.git.changes(bench.base, case.outcome.head_tree)
    )
    return replace(case, git=_Showing(case.git, changed))


class _Showing:
    def __init__(self, git, changes):
        self._git, self._changes = git, changes

    def changes(self, *_):
        return self._changes

    def __getattr__(self, name):
        return getattr(self._git, name)


def submodule(bench):
    """C1: a submodule's commit moves, under a folder that is in scope."""
    return bench.case(bench.good | {"app/extra/lib": None}, tree=_with_gitlink(bench))


def _with_gitlink(bench):
    from sandbox.git import Entry

    tree = bench.tree(bench.base, bench.good)
    return bench.git.write_tree(tree, {"app/extra/lib": Entry("160000", "1" * 40)})


def big(bench):
    return bench.with_sizes(bench.case(bench.good | {"app/extra/big": b"x" * 2000}), one=1000)


def much(bench):
    many = {f"app/extra/{n}": b"x" * 400 for n in range(4)}
    return bench.with_sizes(bench.case(bench.good | many), one=1000, all=1500)


FAULTS = {
    ("worker", "worker.exit"): [outcome(exit_code=3), outcome(exit_code=None)],
    ("worker", "worker.deadline"): [outcome(exit_code=None, reason=StopReason.DEADLINE)],
    ("worker", "worker.memory"): [outcome(exit_code=137, reason=StopReason.MEMORY)],
    ("worker", "worker.disk"): [outcome(exit_code=None, reason=StopReason.DISK)],
    ("worker", "worker.pids"): [outcome(exit_code=1, reason=StopReason.PIDS)],
    ("worker", "worker.cancelled"): [outcome(exit_code=None, reason=StopReason.CANCELLED)],
    ("worker", "worker.refused"): [outcome(exit_code=1, refusal="../x is outside the scope")],
    ("worker", "worker.blocked"): [claiming(status=ReportStatus.BLOCKED, summary="which rounding?")],
    ("worker", "worker.failed"): [claiming(status=ReportStatus.FAILED, summary="no idea")],
    ("worker", "worker.empty"): [lambda bench: bench.case({})],
    ("scope", "scope.outside"): [paths("app/other.py"), paths("README.md"), paths("tests/test_new.py")],
    ("scope", "scope.protected"): [
        paths("app/extra/conftest.py"),
        paths("app/extra/pytest.ini"),
        lambda bench: bench.case(write_scope=("app/engine.py", "tests/")),
    ],
    ("integrity", "integrity.symlink"): [link("/etc/passwd"), link("../../../x"), link("../../.git/config")],
    ("integrity", "integrity.nested_repo"): [anomaly(AnomalyKind.NESTED_REPO)],
    ("integrity", "integrity.special_file"): [anomaly(AnomalyKind.SPECIAL)],
    ("integrity", "integrity.hard_link"): [anomaly(AnomalyKind.HARD_LINK)],
    ("integrity", "integrity.git_path"): [anomaly(AnomalyKind.NAME)],
    ("integrity", "integrity.size"): [anomaly(AnomalyKind.TOO_BIG), big, much],
    ("integrity", "integrity.gitlink"): [submodule],
    ("integrity", "integrity.mode"): [unnamed_mode],
    ("integrity", "integrity.case_clash"): [
        paths("app/extra/a.py", "app/extra/A.py"),
        paths("app/extra/stra\u00dfe.py", "app/extra/STRASSE.py"),
        paths("app/extra/\u00e9.py", "app/extra/e\u0301.py"),
        paths("app/extra/d/x.py", "app/extra/D/y.py"),
    ],
    ("secrets", "integrity.secret"): [files(app__extra__k="key = 'AKIA" + "Q3EGRPLVN7MTW2ZK'\n")],
    ("graph", "graph.unmet"): [graph(expected=(Expectation(text="A -> C", met=False),))],
    ("graph", "graph.undeclared_edge"): [
        graph(undeclared=(UndeclaredUse(source="a", target="b", target_module="Shop/B", path="app/engine.py", line=1),))
    ],
    ("graph", "graph.new_third_party"): [
        graph(packages=(PackageUse(package="x", path="app/engine.py", line=1, manifests=("setup.py",)),))
    ],
    ("graph", "graph.surface_in_use"): [graph(surface_in_use=(SurfaceUse(symbol="price", users=("app/x.py:3",)),))],
    ("tests", "verification.test_removed"): [retested("def test_zero", "def zero")],
    ("tests", "verification.test_skipped"): [
        retested("def test_zero():", "import pytest\n@pytest.mark.skip\ndef test_zero():")
    ],
    ("tests", "verification.test_weakened"): [
        retested("    assert price(10) == 10\n", ""),
        retested("assert price(10) == 10", "assert True"),
        retested("def test_zero():", "import pytest\n@pytest.mark.xfail\ndef test_zero():"),
    ],
    ("tests", "verification.test_changed"): [retested("price(10) == 10", "price(11) == 11")],
    ("tests", "verification.unmet"): [expecting("remove scenario zero"), expecting("change scenario zero")],
    ("tests", "verification.scenario_missing"): [expecting("add scenario seasonal")],
    ("checks", "verification.scenario_missing"): [
        expecting("add scenario guard", scenarios_passed=PASSED),
        expecting(
            "add scenario guard", scenarios_passed=PASSED, scenarios_skipped=("tests/test_engine.py::test_guard",)
        ),
        expecting("add scenario guard", scenarios_passed=(), ran_to_end=None),
    ],
    ("checks", "verification.check_failed"): [
        check(exit_code=1),
        check(exit_code=None, reason="deadline"),
        check(exit_code=None, reason="not_run"),
    ],
    ("checks", "verification.check_missing_evidence"): [check(ran_to_end=False, fault="it was ended from within")],
    ("outcomes", "verification.test_removed"): [
        was_green(scenarios_passed=("tests/test_engine.py::test_price", "tests/test_engine.py::test_guard")),
    ],
    ("outcomes", "verification.test_skipped"): [
        was_green(scenarios_passed=PASSED[:1], scenarios_skipped=PASSED[1:]),
        was_green(scenarios_skipped=("tests/test_other.py::test_x[1]",)),
    ],
    ("markers", "marker.missing"): [marked(output="nothing\n")],
    ("markers", "marker.not_in_source"): [marked(output="[A][B]\n", required=("[A][B]",))],
    ("markers", "marker.order"): [
        marked(output=f"[Two]\n{MARKER}\n", required=(MARKER, "[Two]"), more={"app/extra/two.py": "print('[Two]')\n"})
    ],
    ("markers", "marker.forbidden"): [
        marked(required=(), forbidden=(MARKER,)),
        marked(required=(), output="", lines=(f"remove marker {MARKER}",)),
    ],
    ("markers", "marker.not_new"): [marked(required=(), output="[Sale]\n", lines=("add marker [Sale]",))],
    ("proof", "verification.unproved"): [
        unproved({"outcome": "passed", "asserted": False}),
        unproved({"outcome": "skipped", "asserted": False}),
        unproved({"asserted": False, "cause": "TypeError: no such keyword"}),
        unproved(Tried(cannot="nothing was tried")),
        unproved(Tried()),
    ],
    ("claims", "claims.false"): [
        claiming(files_changed=("app/never.py", "app/engine.py", TESTS)),
        claiming(graph_delta=GraphDelta(edges_added=("A -> X",))),
        claiming(verification_delta=VerificationDelta(scenarios_added=("tests/test_engine.py::test_invented",))),
        claiming(verification_delta=VerificationDelta(scenarios_removed=("zero",))),
        claiming(verification_delta=VerificationDelta(markers_added=("[Never]",))),
        claiming(checks_passed=("pytest tests/test_invented.py",)),
        claiming(
            verification_delta=VerificationDelta(scenarios_added=("guard",)), results={"scenarios_passed": PASSED}
        ),
    ],
}
CASES = [
    pytest.param(gate, code, build, id=f"{gate}-{code}-{number}")
    for (gate, code), builds in FAULTS.items()
    for number, build in enumerate(builds)
]


def test_a_good_attempt_is_accepted_by_every_gate(bench):
    verdict = bench.judge(expected=("add scenario guard",))
    assert verdict.decision is Decision.ACCEPT
    assert [f.text() for f in verdict.findings] == []
    assert verdict.gates == tuple(gate.name for gate in GATES)
    assert verdict.not_run == ()
    assert verdict.verification.scenarios_added == ("tests/test_engine.py::test_guard",)
    assert (verdict.packet_id, verdict.base_tree) == ("sha256:0", bench.base)
    assert [proof.proved for proof in verdict.proofs] == [True]


def test_markers_that_somebody_named_are_in_the_delta(bench):
    wanted = VerificationExcerpt(module_local_checks=(CHECK,), required_markers=(MARKER, "[Never]"))
    delta = bench.judge(verification_excerpt=wanted).verification
    assert (delta.markers_added, delta.markers_removed) == ((MARKER,), ())
    gone = bench.good | {"app/money.py": "class Money:\n    pass\n"}
    delta = bench.judge(gone, expected=("remove marker [Sale]",), write_scope=("app/", TESTS)).verification
    assert (delta.markers_added, delta.markers_removed) == ((), ("[Sale]",))


@pytest.mark.parametrize(("gate", "code", "build"), CASES)
def test_e6_without_its_gate_the_fault_is_accepted(bench, gate, code, build):
    case = build(bench)
    verdict = review(case)
    assert code in {finding.code for finding in verdict.errors}
    assert verdict.decision is not Decision.ACCEPT

    without = review(case, [each for each in GATES if each.name != gate])
    assert [finding.text() for finding in without.errors] == []
    assert without.decision is Decision.ACCEPT


def test_e6_every_code_that_rejects_has_a_faulty_attempt():
    warnings = {
        "graph.note", "graph.signature_changed",
        "verification.test_moved", "verification.support_changed", "verification.asserts_nothing",
        "verification.no_checks", "verification.flaky", "claims.unproved", "claims.omitted", "claims.unreadable",
        "integrity.unreadable",
    }  # fmt: skip
    told = {(gate.name, code) for gate in GATES for code in gate.codes if code not in warnings}
    assert told == set(FAULTS)


def test_r2_a_deadline_ends_the_module_and_other_errors_lead_to_another_attempt(bench):
    assert bench.judge(outcome={"exit_code": 3}).decision is Decision.REVISE
    late = {"exit_code": None, "reason": StopReason.DEADLINE}
    assert bench.judge(outcome=late).decision is Decision.REJECT


def test_costly_gates_do_not_run_after_an_error_and_the_verdict_says_so(bench):
    verdict = bench.judge(bench.good | {"app/other.py": "x = 1\n"})
    assert verdict.not_run == ("checks", "outcomes", "markers", "proof")
    assert "review.not_run" in {finding.code for finding in verdict.findings}
    assert bench.checked == []
    assert verdict.checks == ()


class Broken:
    name = "scope"
    costly = False
    codes = MappingProxyType({})

    def __init__(self, fault):
        self.fault = fault

    def judge(self, case, evidence):
        raise self.fault
        yield


def test_a_gate_that_breaks_is_a_failed_gate(bench):
    verdict = review(bench.case(), [Broken(RuntimeError("boom \x1b[31m"))])
    assert verdict.decision is Decision.REVISE
    (finding,) = verdict.findings
    assert finding.code == "scope.broken"
    assert finding.severity is Severity.ERROR
    assert "boom \\x1b[31m" in finding.message


@pytest.mark.parametrize("fault", [EngineLost("docker went away"), Interrupted("stopped")])
def test_a_lost_engine_is_no_judgement(bench, fault):
    with pytest.raises(type(fault)):
        review(bench.case(), [Broken(fault)])


def test_results_for_other_commands_are_no_evidence(bench):
    assert "checks.broken" in bench.errors(checks=(bench.result("true"),))
    assert "checks.broken" in bench.errors(checks=())


def test_no_checks_is_a_finding_that_rejects_nothing(bench):
    """R11: nothing was verified, and this is said."""
    verdict = bench.judge(verification_excerpt=VerificationExcerpt(), checks=())
    assert verdict.decision is Decision.ACCEPT
    assert [f.code for f in verdict.findings] == ["verification.no_checks"]
    assert bench.checked == []


def test_every_code_has_one_line_of_meaning():
    known = codes()
    assert {"scope.broken", "review.not_run", "scope.outside"} <= set(known)
    for code, (gate, meaning) in known.items():
        assert meaning, code
        assert "\n" not in meaning
        assert gate


def test_what_workers_write_is_made_harmless(bench):
    report = WorkerReport(
        status=ReportStatus.FAILED,
        summary="\x1b[2J\u202etxt.exe\u200b",
        graph_delta=GraphDelta(edges_added=("A\x07 -> B\u2066",)),
    )
    verdict = bench.judge(report=report)
    stored = verdict.model_dump_json()
    for char in ("\\u001b", "\x1b", "\u202e", "\u200b", "\u2066", "\\u0007"):
        assert char not in stored
    assert "\\x1b[2J\\u202etxt.exe\\u200b" in {f.code: f.message for f in verdict.findings}["worker.failed"]
