"""The three-way table of one attempt: what the plan expects, what the worker claims, what is so; graph and tests."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from controller.store.records import AttemptRecord
from packets.deltas import VerificationDelta, VerificationExpectation, parse_verification
from packets.graph import Fact, FactState
from packets.verdict import Verdict
from reviewer.inert import inert
from reviewer.names import meant_id


class Row(NamedTuple):
    """`kind` is graph, scenario, marker or check."""

    kind: str
    fact: Fact


def review_facts(attempt: AttemptRecord) -> tuple[list[Row], int]:
    """Return the rows, those of the plan first, and how many more of the graph there are; none before the verdict."""
    verdict, report = attempt.verdict, attempt.outcome.report if attempt.outcome else None
    if verdict is None:
        return [], 0
    claimed = report.verification_delta if report else VerificationDelta()
    tests = _Tests(verdict, attempt.packet.expected_deltas.verification, claimed)
    rows = [*(Row("graph", fact) for fact in verdict.graph.facts or _judged(verdict)), *tests.rows()]
    return sorted(rows, key=lambda row: _ORDER[row.fact.state]), verdict.graph.facts_left


def _judged(verdict: Verdict) -> Iterator[Fact]:
    """Yield the lines of a verdict that was given before there was a table."""
    for lines, state in ((verdict.graph.expected, FactState.MISSING), (verdict.graph.claimed, FactState.UNTRUE)):
        so = FactState.AS_EXPECTED if state is FactState.MISSING else FactState.CLAIMED
        for each in lines:
            expected = state is FactState.MISSING
            yield Fact(
                fact=inert(each.text), state=so if each.met else state, expected=expected, claimed=not expected,
                actual=each.met, note="" if each.met else inert(each.reason),
            )  # fmt: skip


_ORDER = {
    FactState.MISSING: 0,
    FactState.AS_EXPECTED: 0,
    FactState.UNKNOWN: 0,
    FactState.UNTRUE: 1,
    FactState.CLAIMED: 2,
    FactState.UNANNOUNCED: 3,
}
_LISTS = {
    ("add", "scenario"): ("scenarios_added",),
    ("remove", "scenario"): ("scenarios_removed",),
    ("change", "scenario"): ("scenarios_changed", "scenarios_weakened"),
    ("skip", "scenario"): ("scenarios_skipped",),
    ("weaken", "scenario"): ("scenarios_weakened",),
    ("add", "marker"): ("markers_added",),
    ("remove", "marker"): ("markers_removed",),
    ("add", "check"): ("checks_added",),
    ("remove", "check"): ("checks_removed",),
}
"""The lists of a delta in which a verb's facts stand, its own first. `skip` and `weaken` are no words of a plan."""


class _Tests:
    """Rows of scenarios, markers and checks."""

    def __init__(self, verdict: Verdict, expected: Iterable[str], claimed: VerificationDelta) -> None:
        self.verdict = verdict
        self.expected = list(_read(expected))
        self.claimed = claimed
        self.told: dict[tuple[str, str], list[str]] = {key: [] for key in _LISTS}

    def rows(self) -> Iterator[Row]:
        """Yield what is expected, then what is claimed besides, then what nobody said."""
        for wanted in self.expected:
            key = (wanted.verb, wanted.kind)
            claimed = any(_same(key[1], wanted.name, each) for each in _of(self.claimed, key))
            self.told[key].append(wanted.name)
            yield self._row(key, wanted.name, expected=True, claimed=claimed)
        for key in _LISTS:
            for name in self._untold(key, getattr(self.claimed, _LISTS[key][0])):
                yield self._row(key, name, expected=False, claimed=True)
        for key in _LISTS:
            for name in self._untold(key, getattr(self.verdict.verification, _LISTS[key][0])):
                yield self._row(key, name, expected=False, claimed=False)

    def _untold(self, key: tuple[str, str], names: Iterable[str]) -> Iterator[str]:
        """Yield the names that no row has yet. A test that changed as the plan says may well be weaker."""
        for name in names:
            told = [*self.told[key], *(self.told["change", "scenario"] if key[0] == "weaken" else ())]
            if not any(_same(key[1], each, name) or _same(key[1], name, each) for each in told):
                self.told[key].append(name)
                yield name

    def _row(self, key: tuple[str, str], name: str, *, expected: bool, claimed: bool) -> Row:
        found = [each for each in _of(self.verdict.verification, key) if _same(key[1], name, each)]
        actual = True if found else self._looked(key, name)
        at = found[0] if found and found[0] != name else ""
        fact = Fact(
            fact=inert(" ".join((*key, name))), state=_state(actual, expected=expected, claimed=claimed),
            expected=expected, claimed=claimed, actual=actual, at=inert(at),
        )  # fmt: skip
        return Row(key[1], fact)

    def _looked(self, key: tuple[str, str], name: str) -> bool | None:
        """Tell what is so of a name that is in no list: not so, or, of markers, what the gates found."""
        if key[1] != "marker":
            return False if "tests" in self.verdict.gates else None
        told = [each.message for each in self.verdict.errors if each.code.startswith(("marker.", "claims."))]
        if any(name in message for message in told):
            return False
        return True if "markers" in self.verdict.gates and "markers" not in self.verdict.not_run else None


def _read(lines: Iterable[str]) -> Iterator[VerificationExpectation]:
    for line in lines:
        try:
            yield parse_verification(line)
        except ValueError:
            continue  # the gate has named it


def _state(actual: bool | None, *, expected: bool, claimed: bool) -> FactState:  # noqa: FBT001 - one of three
    if actual is None:
        return FactState.UNKNOWN
    if expected:
        return FactState.AS_EXPECTED if actual else FactState.MISSING
    if claimed:
        return FactState.CLAIMED if actual else FactState.UNTRUE
    return FactState.UNANNOUNCED


def _of(delta: VerificationDelta, key: tuple[str, str]) -> list[str]:
    return [name for each in _LISTS[key] for name in getattr(delta, each)]


def _same(kind: str, name: str, other: str) -> bool:
    if kind == "scenario":
        return name == other or meant_id(name, other)
    return " ".join(name.split()) == " ".join(other.split())
