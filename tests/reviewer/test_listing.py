import json
from pathlib import Path

from controller.cli.gates import gates
from reviewer.listing import as_markdown, as_object
from reviewer.registry import GATES

ROOT = Path(__file__).parents[2]


def test_the_page_is_current():
    shown = (ROOT / "docs" / "gates.md").read_text()
    assert shown == as_markdown(), "run: python3 -P -m reviewer.listing > docs/gates.md"


def test_grace_gates(capsys):
    gates(as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert listed == as_object()
    assert [gate["name"] for gate in listed["gates"]] == [*(gate.name for gate in GATES), "review"]
    codes = {code["code"] for gate in listed["gates"] for code in gate["codes"]}
    promised = """
        scope.outside scope.protected integrity.symlink integrity.nested_repo graph.unmet graph.undeclared_edge
        graph.surface_in_use verification.check_failed verification.test_removed verification.test_weakened
        verification.unproved marker.missing claims.false worker.exit worker.deadline worker.empty
    """
    assert set(promised.split()) <= codes
    gates(as_json=False)
    text = capsys.readouterr().out
    assert all(code in text for code in codes)
