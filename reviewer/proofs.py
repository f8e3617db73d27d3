"""The proof of new scenarios: what has to be tried for it, and what a trial shows.

On the base a scenario must fail. That an assertion of it fails is proof. That it fails otherwise (a name that cannot be
imported, a file that cannot be collected, a set-up that breaks) is weak evidence: anything that uses a new name does
that. It counts where on the result the scenario runs a changed line of the sources, in a function, and asserts
something. One that passes on the base, or is skipped there, or did not run, proves nothing.
"""

from collections.abc import Iterator, Sequence

from packets.proof import Evidence, Proof, ScenarioRun
from packets.verdict import CheckResult
from reviewer.case import Case
from reviewer.evidence import FILE_MODES
from reviewer.evidence import Evidence as Facts
from reviewer.grafts import graft
from reviewer.lines import changed_lines
from reviewer.novelty import New, novelties
from reviewer.paths import is_test_path
from reviewer.proving import Spans, Trial, Tried
from reviewer.reported import ran_as
from sandbox.git import Content, Entry

_MOST_SOURCE = 4 << 20


_NOT_SEEN = "no check told that it passed on the result"


def prove(case: Case, facts: Facts) -> tuple[Proof, ...]:
    """Try what is new, and say of each scenario whether it is proved."""
    news = novelties(facts.tests, case.packet.verification_excerpt.proof, facts.expected)
    news = [new for new in news if _is_in_question(new, facts)]
    if not news:
        return ()
    trial = trial_of(case, facts, news)
    tried = case.prove(trial) if trial else Tried(cannot=_NOT_SEEN)
    return tuple(_judge(new, facts, tried) for new in news)


def _is_in_question(new: New, facts: Facts) -> bool:
    """Leave out what others say: that an expected scenario did not pass, that there is no check at all."""
    seen = any(_passed(result, new) for result in facts.checks)
    return seen or (not new.expected and (new.required or bool(facts.commands)))


def trial_of(case: Case, facts: Facts, news: Sequence[New]) -> Trial | None:
    """Return what has to be tried; None where no check told that it ran one of them."""
    results = [r for r in facts.checks if any(_passed(r, new) for new in news)]
    if not results:
        return None
    tests = {c.path: _entry(c.new_mode, c.new_blob) for c in facts.changes if is_test_path(c.path)}
    sources = {c.path: _entry(c.new_mode, c.new_blob) for c in facts.changes if c.path not in tests}
    lines = dict(_lines(facts))
    watched = tuple(r.command for r in results if r.ran_to_end is not None and lines)
    return Trial(
        base=case.before,
        commands=tuple(r.command for r in results),
        watched=watched,
        tests=tests,
        grafts=dict(_grafts(facts, {new.scenario.path for new in news} - tests.keys())),
        sources=sources,
        only=tuple(dict.fromkeys(new.id for new in news)),
        lines=lines,
    )


def _entry(mode: str, blob: str) -> Entry | None:
    return None if mode == "000000" else Entry(mode, blob)


def _passed(result: CheckResult, new: New) -> bool:
    return any(ran_as(new.scenario, each, new.row) for each in result.scenarios_passed)


def _lines(facts: Facts) -> Iterator[tuple[str, Spans]]:
    """Give the changed lines of Python sources that are no tests."""
    old = {change.path: data for change, data in facts.contents("old")}
    for change, data in facts.contents("new"):
        if change.path.endswith(".py") and not is_test_path(change.path) and change.new_mode in FILE_MODES:
            spans = changed_lines(old.get(change.path, b""), data) if len(data) < _MOST_SOURCE else ()
            if spans:
                yield change.path, spans


def _grafts(facts: Facts, paths: set[str]) -> Iterator[tuple[str, Content]]:
    """Give the files that hold sources and tests: the base's sources with the result's tests."""
    old = {c.path: data for c, data in facts.contents("old") if c.path in paths}
    for change, data in facts.contents("new"):
        if change.path in paths:
            yield change.path, Content(change.new_mode, graft(old.get(change.path, b""), data))


def _judge(new: New, facts: Facts, tried: Tried) -> Proof:
    """Say whether a new scenario is proved."""
    if tried.cannot:
        return _proof(new, Evidence.NONE, tried.cannot)
    if not any(_passed(result, new) for result in facts.checks):
        return _proof(new, Evidence.NONE, _NOT_SEEN)
    pairs = [(r, run) for r in tried.base for run in _runs(r, new)]
    lines = tuple(dict.fromkeys(line for r in tried.head for run in _runs(r, new) for line in run.lines))
    failed = [run for _, run in pairs if run.outcome in ("failed", "error")]
    if asserted := next((run for run in failed if run.asserted), None):
        return _proof(new, Evidence.ASSERTION, f"fails on the base ({asserted.cause})", lines)
    if failed:
        measured = any(r.ran_to_end is not None for r, run in pairs if run in failed)
        return _weak(new, failed[0], lines, measured=measured)
    if any(run.outcome == "passed" for _, run in pairs):
        return _proof(new, Evidence.NONE, "passes on the base already", lines)
    if pairs:
        return _proof(new, Evidence.NONE, "is skipped on the base", lines)
    return _proof(new, Evidence.NONE, _unseen(tried.base))


def _weak(new: New, run: ScenarioRun, lines: tuple[str, ...], *, measured: bool) -> Proof:
    """Accept what fails on the base by another thing than an assertion only where more speaks for it."""
    how = f"{'cannot be run' if run.outcome == 'error' else 'fails'} on the base ({run.cause})"
    if not new.scenario.strength.asserts:
        return _proof(new, Evidence.NONE, f"weak: {how}, and asserts nothing", lines)
    if lines:
        return _proof(new, Evidence.LINE, how, lines)
    if measured:
        return _proof(new, Evidence.NONE, f"weak: {how}, and runs no changed line on the result")
    return _proof(new, Evidence.NONE, f"weak: {how}, and which lines run is measured under pytest only")


def _unseen(results: Sequence[CheckResult]) -> str:
    """Say why a scenario was not seen on the base."""
    for result in results:
        if result.reason not in ("exited", "not_run"):
            return f"did not run on the base: stopped by its {result.reason}"
        if result.fault:
            return f"did not run on the base: {result.fault}"
    codes = ", ".join(str(result.exit_code) for result in results)
    return f"did not run on the base: the check ended with {codes} and told nothing of it"


def _proof(new: New, evidence: Evidence, reason: str, lines: tuple[str, ...] = ()) -> Proof:
    return Proof(
        scenario=new.id,
        required=new.required,
        proved=evidence is not Evidence.NONE,
        evidence=evidence,
        reason=reason,
        path=new.scenario.path,
        line=new.scenario.line,
        lines=lines,
    )


def _runs(result: CheckResult, new: New) -> Iterator[ScenarioRun]:
    """Give what one result tells of it: grace's plugin by its exact id, with its rows; another report by its name."""
    if result.ran_to_end is not None:
        yield from (run for run in result.runs if _is_told(new, run))
        return
    causes = {run.id: run for run in result.runs}
    for outcome, ids in (
        ("failed", result.scenarios_failed),
        ("passed", result.scenarios_passed),
        ("skipped", result.scenarios_skipped),
    ):
        for each in ids:
            if ran_as(new.scenario, each, new.row):
                yield causes.get(each) or ScenarioRun(id=each, outcome=outcome)


def _is_told(new: New, run: ScenarioRun) -> bool:
    if run.outcome == "error":  # a file, or a folder of them, that could not be collected
        return new.scenario.path == run.id or new.scenario.path.startswith(f"{run.id}/")
    return run.id == new.id or (not new.row and run.id.partition("[")[0] == new.id)
