from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.drift import drift
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
        graph = linker(files).graph()
        return list(
            drift(
                whole, graph, tuple(files), given.pop("scenarios", SCENARIOS), given.pop("markers", MARKERS),
                merged=given.pop("merged", {module.id for module in whole.modules()}),
                before=linker(before).graph() if before else None, **given,
            )
        )  # fmt: skip

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
    assert (found.kind, found.is_note, found.path) == (DriftKind.STALE_EDGE, True, "app/engine.py")
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
    found = drifted(now, before=FILES, changed=["app/engine.py", "app/tax.py", "Makefile", "caf\udce9"])
    assert [(each.kind, each.path, each.line) for each in found] == [
        (DriftKind.UNPLANNED_FILE, "Makefile", 0),
        (DriftKind.UNPLANNED_FILE, "app/tax.py", 0),
        (DriftKind.UNPLANNED_FILE, "caf\\xe9", 0),
        (DriftKind.UNPLANNED_EDGE, "app/engine.py", 3),
    ]
