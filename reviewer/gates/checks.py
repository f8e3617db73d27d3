"""The module's checks, run by us on a fresh machine without network, and the scenarios that must be among them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.verdict import CheckResult, Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error, warning
from reviewer.names import means
from reviewer.reported import ran_as
from reviewer.scenarios import Scenario

_TAIL = 2000
_MOST = 20
_NOT_FOUND = 127
_ABSENT = "the shell did not find a command: the worker image lacks it, and `image` in the plan says what it holds"


class ChecksGate:
    """A check counts when it ended with 0 and, where its runner can tell, the runner came to its end."""

    name = "checks"
    costly = True
    codes: ClassVar[Mapping[str, str]] = {
        "verification.no_checks": "the module has no checks: nothing was verified by running",
        "verification.check_failed": "a check failed, was stopped, or did not run",
        "verification.check_missing_evidence": "a check ended with 0, but its test runner did not come to its end",
        "verification.flaky": "a check passed and failed on the very same tree, with the same image and command",
        "verification.scenario_missing": "an expected scenario was not added, is ambiguous, or did not pass",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Run the checks; give what failed, then the expected scenarios that did not pass."""
        if not evidence.commands:
            yield warning(
                "verification.no_checks",
                f"{case.packet.module_id} has no checks: nothing was verified by running",
                hint="add module_local_checks to the module",
            )
        results = evidence.checks
        if tuple(result.command for result in results) != evidence.commands:
            raise ValueError(f"{len(evidence.commands)} checks were asked for, {len(results)} other results came back")
        for result in results:
            yield from _failed(result)
            if result.flaky:
                yield flaky(result, case.outcome.head_tree)
        for wanted in evidence.expected:
            if wanted.kind == "scenario" and wanted.verb == "add":
                yield from _not_passed(wanted.name, evidence.tests.added, results)


def _failed(result: CheckResult) -> Iterator[Finding]:
    if result.exit_code != 0 or result.reason != "exited":
        if result.reason == "not_run":
            how = "did not run"
        elif result.reason == "exited":
            how = f"ended with exit code {result.exit_code}"
        else:
            how = f"was stopped: {result.reason}"
        failed = f"; failed: {', '.join(result.scenarios_failed[:_MOST])}" if result.scenarios_failed else ""
        text = f"`{result.command}` {how}{failed}"
        hint = _ABSENT if result.exit_code == _NOT_FOUND else ""
        yield error("verification.check_failed", text, evidence=result.tail[-_TAIL:], hint=hint)
    elif result.ran_to_end is False:
        yield error(
            "verification.check_missing_evidence",
            f"`{result.command}` ended with 0, but {result.fault or 'its runner did not come to its end'}",
            evidence=result.tail[-_TAIL:],
        )


def flaky(result: CheckResult, tree: str) -> Finding:
    """Return the finding for a check that said different things of one tree; it neither rejects nor blames."""
    return warning(
        "verification.flaky",
        f"`{result.command}` said of the same tree {tree[:12]}, one after the other: {result.flaky}",
        evidence=result.tail[-_TAIL:],
        hint="make it say the same every time: order, time, randomness, what another test left behind",
    )


def _not_passed(name: str, added: list[Scenario], results: tuple[CheckResult, ...]) -> Iterator[Finding]:
    passed = [each for result in results for each in result.scenarios_passed]
    others = {
        each: word
        for result in results
        for word, ids in (("was skipped", result.scenarios_skipped), ("failed", result.scenarios_failed))
        for each in ids
    }
    for scenario in added:
        if not means(name, scenario):
            continue
        row = "" if scenario.bare == name else scenario.row_named(name)
        if any(ran_as(scenario, each, row) for each in passed):
            return
        how = next((word for each, word in others.items() if ran_as(scenario, each)), "was not run")
        if not passed and not others:
            how = "was not seen: no check told which tests it ran"
        yield error(
            "verification.scenario_missing",
            f"the expected scenario {name} {how} by the checks"
            if how == "was not run"
            else f"the scenario {name} {how}",
            path=scenario.path,
            line=scenario.line,
            hint="a check must run it with pytest, or leave a report at $GRACE_JUNIT or in $GRACE_REPORTS",
        )
