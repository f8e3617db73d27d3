"""How far a level looks, on graphs of real sources."""

import pytest

from controller.graph.language import facts
from controller.graph.link import link
from controller.graph.territory import Territory
from controller.refreshing.reach import Reach, further, reach_of
from packets.plan import Plan
from packets.refresh import RefreshLevel

FILES = {
    "app/core.py": "def f(): pass\n",
    "app/direct.py": "from app.core import f\n",
    "app/front.py": "from app.core import f\n",
    "app/far.py": "from app.front import f\nf()\n",
    "app/other.py": "x = 1\n",
}
MODULES = {"Core": [], "Direct": [], "Far": [], "Says": ["Core"], "Other": []}
SCOPES = {"Says": "app/says.py"} | {m: f"app/{m.lower()}.py" for m in ("Core", "Direct", "Far", "Other")}


def graph(files):
    return link({path: facts("python", text.encode()) for path, text in files.items()})


@pytest.fixture
def territory():
    modules = [
        {"id": m, "purpose": "x", "write_scope": [SCOPES[m]], "depends_on": needs} for m, needs in MODULES.items()
    ]
    whole = {"version": 1, "name": "p", "phases": [{"id": "one", "modules": modules}]}
    return Territory(Plan.model_validate(whole, strict=False))


def reach(territory, level, *modules, files=FILES, merged=frozenset(MODULES)):
    return reach_of(RefreshLevel(level), territory, modules, [graph(FILES), graph(files)], merged)


def test_a_module_reaches_its_files_and_those_that_name_them(territory):
    """Who gets a name by way of another file is no direct dependent; who says so in the plan is one."""
    found = reach(territory, "module", "Core")
    assert found.paths == {"app/core.py", "app/direct.py", "app/front.py"}
    assert found.near == ("Direct", "Says")
    assert found.held == {"Core", "Direct", "Says"}


def test_what_was_a_dependent_before_is_one(territory):
    now = {**FILES, "app/direct.py": "", "app/front.py": ""}
    assert "app/direct.py" in reach(territory, "module", "Core", files=now).paths


def test_what_is_not_merged_is_not_near(territory):
    assert reach(territory, "wave", "Core", merged={"Core", "Says"}).near == ("Says",)


@pytest.mark.parametrize("level", ["phase", "full"])
def test_a_phase_and_full_reach_everything(territory, level):
    found = reach(territory, level, "Core")
    assert found.holds("any/where")
    assert found.held is None
    assert further(found, ["any/where"], {"app/far.py": ((1, "f", "app/core.py::f"),)}) == ""


def test_what_lies_further_is_said(territory):
    near = reach(territory, "module", "Core")
    assert further(near, ["app/core.py", "app/direct.py"], {"app/direct.py": ((1, "f", "app/core.py::f"),)}) == ""
    assert "app/other.py changed" in further(near, ["app/other.py", "z.py"], {})
    assert "(and 1 more)" in further(near, ["app/other.py", "z.py"], {})
    assert "app/far.py:2 names f" in further(near, [], {"app/far.py": ((2, "f", "app/core.py::f"),)})
    assert isinstance(near, Reach)
