"""A review in words."""

from types import SimpleNamespace

from controller.review_facts import Row
from controller.review_text import SHOWN, _finding, _table, review_text
from packets.deltas import GraphDelta
from packets.graph import Fact, FactState, GraphReport
from packets.verdict import Decision, Finding, Severity
from packets.verdict import Verdict as Judged


class Verdict:
    def __init__(self, **facts):
        self.findings = [Finding(code="worker.exit", severity=Severity.ERROR, message="gone", **facts)]


def test_evidence_of_many_lines_stays_below_its_finding():
    """What a stranger printed can then not look like a line of the review."""
    text = _finding(Verdict(evidence="\none\n\n  checks:\n", hint="look"), 0)
    assert text.splitlines() == [
        "error   worker.exit: gone",
        "            one",
        "",
        "              checks:",
        "            hint: look",
    ]
    assert _finding(Verdict(), 0) == "error   worker.exit: gone"


def row(state, fact="A -> B", **more):
    return Row("graph", Fact(fact=fact, state=state, **more))


WRONG = row(FactState.MISSING, expected=True, claimed=True, note="no name B in the result; did you mean C (a.py:3)?")
RIGHT = row(FactState.AS_EXPECTED, "add C", expected=True, actual=True, at="a.py:3")
NEWS = row(FactState.UNANNOUNCED, "a.py -> b.py", actual=True, count=4)


def test_one_row_a_fact_in_three_columns():
    assert _table([WRONG, RIGHT, NEWS, row(FactState.UNKNOWN, actual=None, expected=True)], 0, color=False) == [
        "    expected claimed actual  fact",
        "  !   yes      yes     NO    A -> B  missing",
        "                             no name B in the result; did you mean C (a.py:3)?",
        "      yes       -     yes    add C  [a.py:3]",
        "  ?    -        -     yes    a.py -> b.py (4 changes)  unannounced",
        "  ?   yes       -      ?     A -> B  not looked at",
    ]
    assert _table([], 0, color=False) == []


def test_colour_tells_what_stands_out_and_only_at_a_terminal():
    wrong, _, right, news = _table([WRONG, RIGHT, NEWS], 0, color=True)[1:]
    assert [line[: line.index("m") + 1] for line in (wrong, right, news)] == ["\x1b[1;31m", "\x1b[32m", "\x1b[33m"]
    assert all(line.endswith("\x1b[m") for line in (wrong, right, news))


def test_a_long_table_says_how_much_more_there_is_and_leaves_out_nothing_that_is_wrong():
    late = row(FactState.UNTRUE, "add Z", claimed=True)
    lines = _table([NEWS] * 500 + [late], 9, color=False)
    assert len(lines) == SHOWN + 2
    assert lines[-2].startswith("  !    -       yes     NO    add Z")
    assert lines[-1].strip() == f"and {500 - (SHOWN - 1) + 9} more: --json lists them"


def test_no_word_of_a_worker_reaches_the_terminal_as_an_order():
    evil = "x\x1b[2J\u202e\n  checks:"
    fact = Fact(fact=evil, state=FactState.UNTRUE, claimed=True, note=evil, at=evil)
    report = GraphReport(facts=(fact,), modules=GraphDelta(edges_added=(evil,)))
    verdict = Judged(packet_id="p", base_tree="b", head_tree="h", decision=Decision.REVISE, graph=report)
    packet = SimpleNamespace(
        module_id="A", attempt=1, packet_id="p", expected_deltas=SimpleNamespace(verification=(f"add scenario {evil}",))
    )
    text = review_text(SimpleNamespace(packet=packet, verdict=verdict, outcome=None))
    assert not {"\x1b", "\u202e"} & set(text)
    assert sum(line.strip() == "checks:" for line in text.splitlines()) == 0
    assert "+ x\\x1b[2J\\u202e\\n  checks:" in text
