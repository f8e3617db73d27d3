"""What the worker claims is compared with what the trees and our own run say; nothing is believed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.protected import paths_in
from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error, warning
from reviewer.names import meant_id


class ClaimsGate:
    """Claims about checks and markers are judged only when the checks ran; all others always."""

    name = "claims"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "claims.false": "the worker's report claims a file, edge, scenario, marker or passed check that is not so",
        "claims.unproved": "the worker's report claims a check that is not among the module's: nobody ran it here",
        "claims.omitted": "the worker's report lists changed files, and not all of them",
        "claims.unreadable": "the worker's report could not be read, so it claims nothing",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give one finding a claim."""
        if case.outcome.report_fault:
            yield warning("claims.unreadable", f"the report could not be read: {case.outcome.report_fault}")
        if case.outcome.report is None:
            return
        yield from _files(evidence)
        for claim in evidence.graph.claimed:
            if not claim.met:
                yield error("claims.false", f"claimed `{claim.text}`: {claim.reason or 'the trees do not show it'}")
        yield from _scenarios(evidence)
        yield from _checks(evidence)
        yield from _markers(evidence)


def _files(evidence: Evidence) -> Iterator[Finding]:
    if evidence.report.files_changed is None:
        return
    changed = {change.path for change in evidence.changes}
    claimed = {path.removeprefix("/repo/").removeprefix("./") for path in evidence.report.files_changed}
    for path in sorted(claimed - changed):
        yield error("claims.false", "claimed as changed, but it is as before", path=path)
    if omitted := sorted(changed - claimed):
        yield warning("claims.omitted", f"changed, but not claimed: {', '.join(omitted[:10])}")


def _scenarios(evidence: Evidence) -> Iterator[Finding]:
    claimed, actual = evidence.report.verification_delta, evidence.tests.delta()
    for what in ("added", "removed", "changed", "skipped", "weakened"):
        known: tuple[str, ...] = getattr(actual, f"scenarios_{what}")
        for name in getattr(claimed, f"scenarios_{what}"):
            if not any(meant_id(name, each) for each in known):
                yield error("claims.false", f"claimed scenario {name} as {what}: the tests do not show it")
            elif what == "added" and evidence.checks_ran and not _passed(name, evidence):
                yield error("claims.false", f"claimed scenario {name} as added: it did not pass here")


def _passed(name: str, evidence: Evidence) -> bool:
    reported = [r for r in evidence.checks if r.scenarios_passed or r.scenarios_failed or r.scenarios_skipped]
    return not reported or any(meant_id(name, each) for r in reported for each in r.scenarios_passed)


def _checks(evidence: Evidence) -> Iterator[Finding]:
    results = {_folded(result.command): result for result in evidence.checks} if evidence.checks_ran else {}
    ours = {_folded(command) for command in evidence.commands}
    for command in (*evidence.report.checks_passed, *evidence.report.verification_delta.checks_added):
        result = results.get(_folded(command))
        gone = [p for p in paths_in(command) if p.endswith(".py") and "/" in p and p not in evidence.head]
        if result is not None and not result.passed:
            yield error("claims.false", f"claimed `{command}` as passed: it did not pass here")
        elif result is None and gone:
            yield error("claims.false", f"claimed `{command}` as passed: there is no {gone[0]}")
        elif _folded(command) not in ours:
            yield warning("claims.unproved", f"claimed `{command}`: it is not among the module's checks")


def _folded(command: str) -> str:
    return " ".join(command.split())


def _markers(evidence: Evidence) -> Iterator[Finding]:
    claimed = evidence.report.verification_delta
    for marker in claimed.markers_added:
        if evidence.emitted_at(marker) is None:
            yield error("claims.false", f"claimed marker {marker} as added: no source outside the tests emits it")
        elif evidence.checks_ran and evidence.output.place_of(marker) is None:
            yield error("claims.false", f"claimed marker {marker} as added: it is not in the output of the checks")
    for marker in claimed.markers_removed:
        if evidence.emitted_at(marker) is not None:
            yield error("claims.false", f"claimed marker {marker} as removed: the source still emits it")
