from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.drift import Sight, broken, drift
from packets.plan import Plan
from packets.refresh import Drift, DriftKind

FILES = {
    "app/money.py": "class Money: pass\n",
    "app/tax.py": "def tax(): pass\n",
    "app/engine.py": "from app.money import Money\nlog('[E][GUARD]')\n",
    "tests/test_engine.py": "def test_guard(): pass\n",
    "README.md": "",
}
MAP = {"Money": ["app/money.py"], "Tax": ["app/tax.py"]}
ENGINE: dict[str, Any] = {
    "id": "Engine",
    "write_scope": ["app/engine.py", "tests/test_engine.py"],
    "depends_on": ["Money"],
    "verification": {"required_markers": ["[E][GUARD]"]},
    "expected_deltas": {"verification": ["add scenario guard", "add marker [E][GUARD]"]},
}
SCENARIOS = {"tests/test_engine.py::test_guard"}
MARKERS = {"[E][GUARD]"}
Make = Callable[..., Any]


@pytest.fixture
def drifted(linker: Make, plan: Make) -> Callable[..., list[Drift]]:
    def made(files: dict[str, str], *modules: dict[str, Any], **given: Any) -> list[Drift]:
        whole: Plan = plan(modules or [ENGINE], given.pop("modules_map", MAP))
        before = given.pop("before", None)
        seen = {
            "scenarios": SCENARIOS, "markers": MARKERS, "merged": {module.id for module in whole.modules()},
            "before": linker(before).graph() if before else None, **given,
        }  # fmt: skip
        return list(drift(Sight(plan=whole, graph=linker(files).graph(), entries=tuple(files), **seen)))

    return made


def test_nothing_drifted(drifted: Make) -> None:
    assert drifted(FILES, before=FILES) == []


def test_modules_without_files(drifted: Make) -> None:
    gone = {"README.md": "", "tests/test_engine.py": ""}
    found = drifted(gone, {**ENGINE, "write_scope": ["app/engine.py"]})
    orphans = [(each.message.split()[0], each.path) for each in found if each.kind is DriftKind.ORPHAN_MODULE]
    assert orphans == [("Money", "app/money.py"), ("Tax", "app/tax.py"), ("Engine", "app/engine.py")]
    later = drifted(gone, {**ENGINE, "write_scope": ["app/engine.py"]}, merged=set(), modules_map={})
    assert later == [], "what was not merged yet may be missing"


def test_a_declared_dependency_that_no_code_has_is_a_note(drifted: Make) -> None:
    (found,) = drifted(FILES, {**ENGINE, "depends_on": ["Money", "Tax"]})
    assert (found.kind, found.note, found.path) == (DriftKind.STALE_EDGE, True, "app/engine.py")
    assert "Tax" in found.message
    text = {**FILES, "docs/guide.md": ""}
    assert drifted(text, ENGINE, {"id": "Docs", "write_scope": ["docs/"], "depends_on": ["Engine"]}) == []


def test_missing_scenarios_and_markers(drifted: Make) -> None:
    found = drifted(FILES, scenarios=set(), markers=set())
    assert [(each.kind, each.path) for each in found] == [
        (DriftKind.MISSING_SCENARIO, "tests/test_engine.py"),
        (DriftKind.MISSING_MARKER, "app/engine.py"),
    ]


def test_what_a_later_module_takes_back_is_not_missing(drifted: Make) -> None:
    lines = ["remove scenario guard", "remove marker [E][GUARD]"]
    later = {"id": "Later", "write_scope": ["README.md"], "expected_deltas": {"verification": lines}}
    assert drifted(FILES, ENGINE, later, scenarios=set(), markers=set()) == []
    assert len(drifted(FILES, ENGINE, later, scenarios=set(), markers=set(), merged={"Engine"})) == 2


def test_files_and_edges_behind_the_plan_s_back(drifted: Make) -> None:
    now = {**FILES, "app/engine.py": FILES["app/engine.py"] + "import app.tax\n"}
    found = drifted(now, before=FILES, changed=["app/engine.py", "app/tax.py", "Makefile", "caf\\xe9"])
    assert [(each.kind, each.path, each.line) for each in found] == [
        (DriftKind.UNPLANNED_FILE, "Makefile", 0),
        (DriftKind.UNPLANNED_FILE, "app/tax.py", 0),
        (DriftKind.UNPLANNED_FILE, "caf\\xe9", 0),
        (DriftKind.UNPLANNED_EDGE, "app/engine.py", 3),
    ]


def test_only_what_is_held_is_set_beside_the_tree(drifted: Make) -> None:
    """A narrow level says nothing of other modules, nor of the map's that it has nothing to do with."""
    other = {"id": "Other", "write_scope": ["app/other.py"], "depends_on": ["Tax"]}
    gone = {path: text for path, text in FILES.items() if path != "app/tax.py"}
    everything = drifted(gone, ENGINE, other, scenarios=set())
    assert {(each.kind, each.module) for each in everything} == {
        (DriftKind.ORPHAN_MODULE, "Tax"), (DriftKind.ORPHAN_MODULE, "Other"), (DriftKind.MISSING_SCENARIO, "Engine"),
    }  # fmt: skip
    assert [each.module for each in drifted(gone, ENGINE, other, scenarios=set(), held={"Engine"})] == ["Engine"]
    assert {each.module for each in drifted(gone, ENGINE, other, held={"Other"})} == {"Tax", "Other"}


def test_new_edges_are_looked_for_in_the_files_that_may_have_gained_one(drifted: Make) -> None:
    now = {**FILES, "app/engine.py": FILES["app/engine.py"] + "import app.tax\n"}
    assert [each.subject for each in drifted(now, before=FILES, gained={"app/engine.py"})] == ["Tax"]
    assert drifted(now, before=FILES, gained={"app/money.py"}) == []


def test_a_name_that_leads_nowhere_any_more_is_said_with_its_line(drifted: Make, linker: Make) -> None:
    """Also where the name comes by way of another file, and not where it only moved."""
    users = {"app/direct.py": "from app.a import f, g\n\nf()\n", "app/far.py": "import os\nfrom app.b import f\n"}
    before = linker({"app/a.py": "def f(): pass\ndef g(): pass\n", "app/b.py": "from app.a import f\n", **users})
    after = linker({"app/a.py": "def h(): pass\ndef g(): pass\n", "app/b.py": "from app.a import h\n", **users})
    found = {path: broken(before, after, path) for path in users}
    assert found == {
        "app/direct.py": ((1, "f", "app/a.py::f"), (3, "f", "app/a.py::f")),
        "app/far.py": ((2, "f", "app/a.py::f"),),
    }
    moved = linker({"app/a.py": "from app.c import f\ndef g(): pass\n", "app/c.py": "def f(): pass\n", **users})
    assert broken(before, moved, "app/direct.py") == ()
    (said, *_) = drifted(FILES, broken={"app/far.py": found["app/far.py"]})
    assert (said.kind, said.path, said.line, said.note) == (DriftKind.STALE_EDGE, "app/far.py", 2, False)
    assert "app/a.py::f" in said.message


def test_every_drift_says_what_to_do(drifted: Make) -> None:
    now = {"app/engine.py": "import app.tax\n", "app/tax.py": "", "Makefile": ""}
    found = drifted(
        now, before=FILES, scenarios=set(), markers=set(), changed=["Makefile"], broken={"x.py": ((1, "n", "y.py"),)}
    )
    assert {each.kind for each in found} == set(DriftKind)
    assert all(each.todo for each in found)
