"""What the graph gate makes of a report: each code, with its words, its place and what to do."""

import pytest

from packets.graph import Expectation, GraphReport, PackageUse, SignatureChange, SurfaceUse, UndeclaredUse
from packets.verdict import Decision, Severity

USE = {
    "source": "app/engine.py::Engine",
    "target": "app/tax.py::tax",
    "target_module": "Tax",
    "path": "a.py",
    "line": 3,
}


def found(bench, **report):
    verdict = bench.judge(graph=GraphReport(**report))
    return verdict, [f for f in verdict.findings if f.code.startswith("graph.")]


def test_an_unmet_expectation_says_why(bench):
    line = Expectation(text="A -> B", met=False, reason="no name B in the result", evidence=("a.py:1 x",))
    verdict, (finding,) = found(bench, expected=(line, Expectation(text="add C", met=True)))
    assert (finding.code, finding.message) == ("graph.unmet", "`A -> B`: no name B in the result")
    assert finding.evidence == "a.py:1 x"
    assert verdict.decision is Decision.REVISE


def test_an_undeclared_edge_names_the_line_to_add(bench):
    _, (finding,) = found(bench, undeclared=(UndeclaredUse(**USE, depends_on=("Pricing/Money", "Tax")),))
    assert finding.text() == (
        "graph.undeclared_edge: a.py:3: app/engine.py::Engine now depends on app/tax.py::tax of Tax"
    )
    assert finding.severity is Severity.ERROR
    assert "`depends_on: [Pricing/Money, Tax]`" in finding.hint
    _, (circle,) = found(bench, undeclared=(UndeclaredUse(**USE),))
    assert circle.hint == "if it is needed, stop with status blocked; Tax waits for this module, so the plan is wrong"


def test_removed_surface_names_its_users_and_where_it_went(bench):
    users = tuple(f"app/x{n}.py:{n}" for n in range(1, 8))
    _, (finding,) = found(bench, surface_in_use=(SurfaceUse(symbol="m.py::a", users=users, now="m.py::b"),))
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "m.py::a was removed (it is m.py::b now), but is still used at "
        "app/x1.py:1, app/x2.py:2, app/x3.py:3, app/x4.py:4, app/x5.py:5 and 2 more places"
    )
    assert finding.evidence.split("\n") == list(users)
    _, (gone,) = found(bench, surface_in_use=(SurfaceUse(symbol="m.py::a", users=users[:1]),))
    assert (gone.message, gone.hint) == ("m.py::a was removed, but is still used at app/x1.py:1", "")


def test_a_changed_call_is_a_note_with_both_signatures(bench):
    change = SignatureChange(
        symbol="m.py::a",
        before="def a(x)",
        after="def a(x, y)",
        why="needs y now",
        path="m.py",
        line=4,
        users=("u.py:2",),
    )
    verdict, (finding,) = found(bench, signatures=(change,))
    assert finding.text() == "graph.signature_changed: m.py:4: m.py::a needs y now, and is called at u.py:2"
    assert finding.evidence.split("\n") == ["- def a(x)", "+ def a(x, y)", "u.py:2"]
    assert (finding.severity, verdict.decision) == (Severity.NOTE, Decision.ACCEPT)


@pytest.mark.parametrize(
    ("manifests", "listed_in", "severity", "words"),
    [
        ((), "", Severity.NOTE, ""),
        ((), "setup.py", Severity.NOTE, "; setup.py names it"),
        (("setup.py",), "", Severity.ERROR, "; setup.py does not name it"),
        (("go.mod", "b/go.mod"), "", Severity.ERROR, "; neither go.mod nor b/go.mod names it"),
    ],
)
def test_a_new_package_rejects_only_where_a_manifest_should_name_it(bench, manifests, listed_in, severity, words):
    use = PackageUse(package="requests", path="app/x.py", line=2, manifests=manifests, listed_in=listed_in)
    verdict, (finding,) = found(bench, packages=(use,))
    told = "graph.new_third_party: app/x.py:2: requests is imported here for the first time in this repository"
    assert (finding.text(), finding.severity) == (told + words, severity)
    assert (verdict.decision is Decision.ACCEPT) is (severity is Severity.NOTE)
    if severity is Severity.ERROR:
        assert finding.hint == f"name it in {manifests[0]}, or expect it in the plan: `app/x.py -> requests`"


def test_notes_reject_nothing(bench):
    verdict, (finding,) = found(bench, notes=("a call that may be x",))
    assert (finding.code, finding.severity, verdict.decision) == ("graph.note", Severity.NOTE, Decision.ACCEPT)
