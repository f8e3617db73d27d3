"""Which scenarios are new, and how much the proof of each counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packets.deltas import VerificationExpectation
from packets.proof import ProofLevel
from reviewer.compare import TestsDiff
from reviewer.names import means, meant_id
from reviewer.scenarios import Scenario


@dataclass(frozen=True)
class New:
    """A new test, or a new row of one (then `row` is its name); `expected`: the plan names it."""

    id: str
    scenario: Scenario
    required: bool
    expected: bool
    row: str = ""


def novelties(diff: TestsDiff, level: ProofLevel | None, expected: Sequence[VerificationExpectation]) -> list[New]:
    """Return what has to be proved: no test that only has another file, class, name, or name of a row.

    A new test with rows is one thing to prove, unless the plan names a row of it.
    """
    if level is ProofLevel.OFF:
        return []
    names = [each.name for each in expected if each.kind == "scenario" and each.verb == "add"]
    return [
        New(
            scenario.row_id(row) if row else scenario.id,
            scenario,
            expected if level is None else level is ProofLevel.REQUIRED,
            expected,
            row,
        )
        for scenario, row, expected in (*_tests(diff, names), *_rows(diff, names))
    ]


def _tests(diff: TestsDiff, names: Sequence[str]) -> Iterator[tuple[Scenario, str, bool]]:
    gone = {(each.digest, each.cases) for each in diff.removed}
    for scenario in diff.added:
        meant = [name for name in names if means(name, scenario)]
        rows = {row for name in meant if (row := scenario.row_named(name))}
        if len(rows) < len(meant) or (not meant and (scenario.digest, scenario.cases) not in gone):
            yield scenario, "", bool(meant)
        for row in sorted(rows):
            yield scenario, row, True


def _rows(diff: TestsDiff, names: Sequence[str]) -> Iterator[tuple[Scenario, str, bool]]:
    kept = {each.id: each for each in diff.kept}
    kept |= {now.id: now for _, now in diff.moved}
    for scenario in kept.values():
        for row, _ in scenario.cases:
            if row and (each := scenario.row_id(row)) in diff.added_ids:
                yield scenario, row, any(meant_id(name, each) for name in names)
