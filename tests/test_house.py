"""The house itself: what the pages promise of the tree, the rooms and the example."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("controller", "worker", "reviewer", "sandbox", "packets")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
MODULE_LINES = 400  # the outer bounds of the 300/30 rule in docs/architecture.md
FUNCTION_LINES = 60
PAGES = [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"]
SCRIPTS = [*sorted((ROOT / "scripts").iterdir()), ROOT / ".ci" / "run"]
HEAVY = ["typer", "pydantic", "docker", "git", "dbos", "networkx", "tree_sitter", "rich", "yaml"]
EXAMPLE = ROOT / "examples" / "coupons"


def python(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONSAFEPATH"}}
    return subprocess.run(
        [sys.executable, *args], cwd=cwd, env=clean | env, capture_output=True, text=True, check=False
    )


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[A-Za-z0-9_.-]+", line)[0].lower() for line in requirements}


def test_the_version_is_said_once_and_the_same():
    said = python("-P", "-c", "from controller.main import VERSION; print(VERSION)", cwd=ROOT).stdout.strip()
    assert said == PYPROJECT["project"]["version"]
    assert f"## {said}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_is_accounted_for():
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    wanted = names(PYPROJECT["project"]["dependencies"]) | names(PYPROJECT["dependency-groups"]["dev"])
    rows = {
        name.strip() for line in page.splitlines() if line.startswith("| ") for name in line.split("|")[1].split(",")
    }
    assert wanted - rows == set()


def test_the_wheel_and_the_import_contract_know_every_room():
    assert set(PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == set(ROOMS)
    assert set(PYPROJECT["tool"]["importlinter"]["root_packages"]) == set(ROOMS)
    assert set(PYPROJECT["tool"]["mypy"]["packages"]) == set(ROOMS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_the_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path):
    text = path.read_text()
    assert len(text.splitlines()) <= MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < FUNCTION_LINES, f"{node.name} is a design question"


def test_a_folder_of_a_target_repository_is_not_imported(tmp_path):
    for room in ROOMS[1:]:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("print('stranger')\n")
    safe = python("-P", "-c", "import controller, packets.states; print('own')", cwd=tmp_path)
    assert safe.stdout == "own\n", safe.stderr
    shadowed = python("-c", "import controller", cwd=tmp_path)
    assert shadowed.returncode == 1
    assert "ImportError: grace's package 'worker' is shadowed" in shadowed.stderr
    assert str(tmp_path / "worker") in shadowed.stderr
    assert str(ROOT / "worker") in shadowed.stderr


@pytest.mark.parametrize("heavy", HEAVY)
def test_the_version_loads_nothing_heavy(heavy, tmp_path):
    code = f"import sys; from controller.main import run; run(['--version']); print({heavy!r} in sys.modules)"
    assert python("-P", "-c", code, cwd=tmp_path).stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.name)
def test_scripts_parse_and_may_be_run(script):
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


def test_the_example_is_green_and_its_plan_builds_what_it_says(tmp_path):
    """Apply by hand what the plan's agents do, in the plan's order, and run each module's own checks."""
    shop = tmp_path / "shop"
    shutil.copytree(EXAMPLE, shop, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    plan = yaml.safe_load((shop / "plan.yaml").read_text())
    is_green(shop, "pytest -q")
    for phase in plan["phases"]:
        for module in phase["modules"]:
            before = {p: p.read_bytes() for p in files(shop)}
            act(shop, plan["agents"][module["agent"]], module, tmp_path)
            changed = {str(p.relative_to(shop)) for p in files(shop) if before.get(p) != p.read_bytes()}
            assert changed == set(module["write_scope"]), module["id"]
            for check in module["verification"]["module_local_checks"]:
                is_green(shop, check)
        for check in phase["checks"]:
            is_green(shop, check)


def files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def is_green(folder: Path, command: str) -> None:
    done = python("-P", "-m", *command.split(), "-p", "no:cacheprovider", cwd=folder, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done.stdout


def act(shop: Path, agent: dict, module: dict, scratch: Path) -> None:
    if agent["kind"] == "patch":
        subprocess.run(["git", "apply", agent["patch"]], cwd=shop, check=True)
        return
    packet = scratch / "packet.json"
    told = {"findings": [{"code": "marker.missing"}], "verification_excerpt": module["verification"]}
    told |= {key: module[key] for key in ("purpose", "expected_deltas")}
    packet.write_text(json.dumps({"execution_packet": told}))
    places = {"GRACE_PACKET_JSON": str(packet), "GRACE_OUT": str(scratch)}
    done = python(*agent["run"][1:], cwd=shop, PYTHONDONTWRITEBYTECODE="1", **places)
    assert done.returncode == 0, done.stderr
