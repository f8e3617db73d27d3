"""Nobody takes tests away, skips or weakens them unless the plan says so; adding is always allowed. Read, not run."""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.deltas import VerificationExpectation
from packets.verdict import Finding
from reviewer.case import Case
from reviewer.compare import Altered, TestsDiff
from reviewer.evidence import Evidence
from reviewer.findings import error, note, warning
from reviewer.names import declared, means, meant_id, nearest
from reviewer.scenarios import Scenario

_HINT = "a plan that means it declares `{verb} scenario {name}` in expected_deltas.verification"


class TestsGate:
    """Compares the scenarios of changed test files with what the plan declares."""

    __test__ = False  # pytest: this is no test class

    name = "tests"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "verification.test_removed": "a test, or a row of one, is gone, and the plan does not declare it",
        "verification.test_skipped": "a test is now skipped",
        "verification.test_weakened": "a test or its helper asserts less, expects failure, or swallows exceptions",
        "verification.test_changed": "a test says something else now, and the plan does not declare it",
        "verification.test_moved": "a test has another file or name and the same body",
        "verification.support_changed": "a helper, fixture, constant or data file of existing tests was changed",
        "verification.asserts_nothing": "a new test holds no assertion that can fail",
        "verification.unmet": "the plan expects a test to be removed or changed, and it was not",
        "verification.scenario_missing": "an expected scenario was not added, is ambiguous, or did not pass",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give what was lost, altered, moved; then what the plan expects and the tests do not show."""
        del case
        diff, expected = evidence.tests, [e for e in evidence.expected if e.kind == "scenario"]
        yield from _lost(diff, expected)
        for each in diff.altered:
            yield from _altered(each, expected)
        for was, now in diff.moved:
            yield note("verification.test_moved", f"was {was.id}", path=now.path, line=now.line)
        yield from _support(diff, expected)
        for scenario in diff.added:
            if not scenario.strength.asserts and scenario.exact and not _is_example(scenario):
                yield warning(
                    "verification.asserts_nothing",
                    f"{scenario.name} holds no assertion that can fail",
                    path=scenario.path,
                    line=scenario.line,
                )
        yield from _unmet(diff, expected)


def _is_example(scenario: Scenario) -> bool:
    """Say whether it asserts by its output, or measures: Go's examples and benchmarks."""
    return scenario.path.endswith(".go") and scenario.bare.startswith(("Example", "Benchmark"))


def _lost(diff: TestsDiff, expected: list[VerificationExpectation]) -> Iterator[Finding]:
    for gone in diff.lost:
        # Rows of a test may go where the test is said to change.
        verbs = ("remove", "change") if gone.row else ("remove",)
        if not declared(expected, verbs, gone.id):
            hint = _HINT.format(verb="remove", name=gone.id.rpartition("::")[2])
            yield error("verification.test_removed", f"{gone.id} is gone", path=gone.path, line=gone.line, hint=hint)


def _altered(each: Altered, expected: list[VerificationExpectation]) -> Iterator[Finding]:
    path, line, name = each.new.path, each.new.line, each.new.name
    known = declared(expected, ("change", "remove"), each.old.id, each.new.id)
    hint = "" if known else _HINT.format(verb="change", name=each.new.bare)
    if reason := each.skipped.reason:
        fails = any(word in reason for word in ("xfail", "expectedFailure", "should_panic", "failing", "fails"))
        code, how = ("test_weakened", "expected to fail") if fails else ("test_skipped", "skipped")
        # Skipping it always is removing it, and is declared as that; skipping it sometimes is a change.
        verbs = ("change", "remove") if each.skipped.conditional else ("remove",)
        say = warning if declared(expected, verbs, each.old.id, each.new.id) else error
        hint = _HINT.format(verb=verbs[0], name=each.new.bare)
        yield say(f"verification.{code}", f"{name} is now {how}: {reason}", path=path, line=line, hint=hint)
    if each.weakened:
        # A declared change may assert less, but a test without any assertion is no test.
        gone = each.emptied and not declared(expected, ("remove",), each.old.id, each.new.id)
        say = warning if known and not gone else error
        yield say("verification.test_weakened", f"{name}: {each.weakened}", path=path, line=line, hint=hint)
    if not (each.skipped.reason or each.weakened or known):
        # Where a test could not be read exactly, its form may mislead.
        say = error if each.old.exact and each.new.exact else warning
        yield say("verification.test_changed", f"{name} was changed", path=path, line=line, hint=hint)


def _support(diff: TestsDiff, expected: list[VerificationExpectation]) -> Iterator[Finding]:
    for helper in diff.support:
        path, line, name = helper.path, helper.line, helper.name
        if not helper.weakened:
            what = f"{name} of existing tests" if name else "a file of the tests"
            yield warning("verification.support_changed", f"{what} was changed or removed", path=path, line=line)
            continue
        known = declared(expected, ("change",), f"{path}::{name}")
        hint = _HINT.format(verb="change", name=name)
        say = warning if known else error
        yield say("verification.test_weakened", f"{name}: {helper.weakened}", path=path, line=line, hint=hint)


def _unmet(diff: TestsDiff, expected: list[VerificationExpectation]) -> Iterator[Finding]:
    lost = [gone.id for gone in diff.lost]
    lost += [each.old.id for each in diff.altered if each.skipped.reason or each.emptied]
    touched = [each.id for a in diff.altered for each in (a.old, a.new)]
    touched += [each.id for pair in diff.reworded for each in pair]
    touched += [f"{helper.path}::{helper.name}" for helper in diff.support if helper.name]
    for wanted in expected:
        if wanted.verb == "add":
            yield from _not_added(diff, wanted.name)
        elif wanted.verb == "remove" and not declared([wanted], ("remove",), *lost):
            yield error("verification.unmet", f"`{wanted.text}`: no such test was removed")
        elif wanted.verb == "change" and not declared([wanted], ("change",), *lost, *touched):
            yield error("verification.unmet", f"`{wanted.text}`: no such test was changed")


def _not_added(diff: TestsDiff, name: str) -> Iterator[Finding]:
    found = [s for s in diff.added if means(name, s)]
    rows = [i for i in diff.added_ids if meant_id(name, i) and not any(i.startswith(s.id) for s in diff.added)]
    matches = [s.id for s in found] or sorted(set(rows))
    if len(matches) == 1:
        return
    if matches:
        yield error(
            "verification.scenario_missing",
            f"the expected scenario {name} is ambiguous: {', '.join(matches[:5])}",
            hint="name it in full: path::name",
        )
        return
    close = nearest(name, diff.added_ids)
    known = f"; new are {', '.join(close or sorted(diff.added_ids)[:3])}" if diff.added_ids else "; no test was added"
    yield error(
        "verification.scenario_missing",
        f"the expected scenario {name} was not added{known}",
        hint=f"add a test named test_{name.removeprefix('test_')} to a test file in scope",
    )
