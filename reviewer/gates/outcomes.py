"""What ran on the base runs on the result: a test can also go away by code that is no test, its text still there."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.verdict import CheckResult, Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error
from reviewer.names import declared, is_title
from reviewer.reported import ran_as
from reviewer.scenarios import Scenario


class OutcomesGate:
    """Runs the checks on the base as well, but only when a test was skipped, or one of a changed file was not seen."""

    name = "outcomes"
    costly = True
    codes: ClassVar[Mapping[str, str]] = {
        "verification.test_removed": "a test that passed on the base is still written down, and no check runs it now",
        "verification.test_skipped": "a test that passed on the base is skipped when the checks run",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give one finding a test that passed before and now is skipped, or not run at all."""
        seen = {each for result in evidence.checks for each in _seen(result)}
        passed = {each for result in evidence.checks for each in result.scenarios_passed}
        skipped = {each for result in evidence.checks for each in result.scenarios_skipped} - passed
        unseen = [scenario for scenario in _kept(evidence) if not any(ran_as(scenario, each) for each in seen)]
        commands = tuple(result.command for result in evidence.checks if _seen(result))
        if not commands or not (skipped or unseen):
            return
        before = {each for result in case.check(case.before, commands) for each in result.scenarios_passed}
        for each in sorted(skipped & before):
            if not declared(evidence.expected, ("remove", "change"), each):
                path, _, name = each.partition("::")
                yield error("verification.test_skipped", f"{name} passed on the base and is skipped now", path=path)
        for scenario in unseen:
            ran = any(ran_as(scenario, each) for each in before)
            if ran and not declared(evidence.expected, ("remove",), scenario.id):
                yield error(
                    "verification.test_removed",
                    f"{scenario.id} passed on the base, and no check runs it now",
                    path=scenario.path,
                    line=scenario.line,
                    hint="something in the file takes it back: `del`, `__test__`, a condition, another definition",
                )


def _seen(result: CheckResult) -> tuple[str, ...]:
    return (*result.scenarios_passed, *result.scenarios_failed, *result.scenarios_skipped)


def _kept(evidence: Evidence) -> list[Scenario]:
    """Return the tests of changed files that are on both sides; where only titles tell, those that nothing skips."""
    kept = evidence.tests.kept
    return [each for each in kept if not is_title(each) or (each.exact and not each.skipped.reason)]
