"""Expected, claimed and actual of the tests, joined to rows; the graph's rows come as the verdict has them."""

from types import SimpleNamespace

import pytest

from controller.review_facts import review_facts
from packets.deltas import VerificationDelta
from packets.graph import Expectation, Fact, FactState, GraphReport
from packets.verdict import Decision, Finding, Severity, Verdict

ADDED = "tests/test_x.py::test_guard"


def rows_of(expected=(), claimed=None, actual=None, graph=None, **verdict):
    whole = Verdict(**{
        "packet_id": "p", "base_tree": "b", "head_tree": "h",
        "decision": Decision.ACCEPT, "gates": ("tests", "markers"),
        "verification": VerificationDelta(**(actual or {})), "graph": graph or GraphReport(), **verdict,
    })  # fmt: skip
    report = SimpleNamespace(verification_delta=VerificationDelta(**(claimed or {})))
    packet = SimpleNamespace(expected_deltas=SimpleNamespace(verification=expected))
    return review_facts(SimpleNamespace(packet=packet, verdict=whole, outcome=SimpleNamespace(report=report)))


def told(*args, **kwargs):
    return [(row.kind, row.fact.fact, str(row.fact.state)) for row in rows_of(*args, **kwargs)[0]]


@pytest.mark.parametrize(
    ("expected", "claimed", "actual", "rows"),
    [
        (["add scenario guard"], {}, {"scenarios_added": (ADDED,)}, [("add scenario guard", "as_expected")]),
        (["add scenario guard"], {}, {}, [("add scenario guard", "missing")]),
        ([], {"scenarios_added": ("guard",)}, {}, [("add scenario guard", "untrue")]),
        ([], {"scenarios_added": ("guard",)}, {"scenarios_added": (ADDED,)}, [("add scenario guard", "claimed")]),
        ([], {}, {"scenarios_added": (ADDED,)}, [(f"add scenario {ADDED}", "unannounced")]),
        ([], {}, {"scenarios_skipped": (ADDED,)}, [(f"skip scenario {ADDED}", "unannounced")]),
        (["change scenario guard"], {}, {"scenarios_weakened": (ADDED,)}, [("change scenario guard", "as_expected")]),
        ([], {}, {"scenarios_weakened": (ADDED,)}, [(f"weaken scenario {ADDED}", "unannounced")]),
        (["remove check make  x"], {"checks_removed": ("make x",)}, {}, [("remove check make  x", "missing")]),
        (["no grammar"], {}, {}, []),
    ],
)
def test_each_test_is_one_row(expected, claimed, actual, rows):
    assert [(fact, state) for _, fact, state in told(expected, claimed, actual)] == rows


def test_one_fact_that_all_three_say_is_one_row():
    ((row,), left) = rows_of(["add scenario guard"], {"scenarios_added": (ADDED,)}, {"scenarios_added": (ADDED,)})
    assert (row.kind, row.fact.expected, row.fact.claimed, row.fact.actual) == ("scenario", True, True, True)
    assert (row.fact.at, left) == (ADDED, 0)


def test_a_marker_is_so_when_its_gate_found_nothing():
    line = ["add marker [X]"]
    assert told(line) == [("marker", "add marker [X]", "as_expected")]
    missing = Finding(code="marker.missing", severity=Severity.ERROR, message="[X] is not in the output")
    assert told(line, findings=(missing,)) == [("marker", "add marker [X]", "missing")]
    assert told(line, not_run=("markers",)) == [("marker", "add marker [X]", "unknown")]


def test_rows_of_the_plan_come_first_and_all_is_inert():
    graph = GraphReport(
        facts=(
            Fact(fact="a.py -> b.py", state=FactState.UNANNOUNCED, actual=True),
            Fact(fact="A -> B", state=FactState.AS_EXPECTED, expected=True, actual=True),
        ),
        facts_left=7,
    )
    rows, left = rows_of(["add scenario x\x1b[31m"], graph=graph)
    assert [row.fact.fact for row in rows] == ["A -> B", "add scenario x\\x1b[31m", "a.py -> b.py"]
    assert left == 7


def test_a_verdict_from_before_the_table_shows_its_lines():
    lines = (Expectation(text="A -> B", met=True), Expectation(text="add C", met=False, reason="no name C"))
    rows, _ = rows_of(graph=GraphReport(expected=lines, claimed=lines[1:]))
    assert [(r.fact.fact, str(r.fact.state), r.fact.note) for r in rows] == [
        ("A -> B", "as_expected", ""), ("add C", "missing", "no name C"), ("add C", "untrue", "no name C"),
    ]  # fmt: skip


def test_nothing_before_the_verdict():
    assert review_facts(SimpleNamespace(verdict=None, outcome=None)) == ([], 0)
