"""Turn the difference between two commits into a plan of patch modules: derive_plan.py REPO OLDER NEWER FOLDER.

One module a top-level folder, one for the files of the root; the tests come after everything else. Writes
FOLDER/plan.yaml and FOLDER/patches/. The names of tests that went or changed become expected deltas, as the author of
such a plan would have to say.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml


def git(repo: Path, *args: str) -> bytes:
    return subprocess.run(["git", *args], cwd=repo, capture_output=True, check=True).stdout


def changed(repo: Path, older: str, newer: str) -> dict[str, list[str]]:
    """Return the changed paths by module id."""
    names = git(repo, "diff", "--no-renames", "--name-only", "-z", older, newer).decode().split("\0")
    groups = defaultdict(list)
    for path in filter(None, names):
        folder, slash, _ = path.partition("/")
        groups[re.sub(r"^\W+", "", folder) if slash else "root"].append(path)
    return dict(groups)


def tests(repo: Path, rev: str, paths: list[str]) -> dict[str, str]:
    """Return the tests of these files by name, each with the form of its code."""
    found = {}
    for path in paths:
        if not re.search(r"(^|/)test_[^/]*\.py$", path):
            continue
        shown = subprocess.run(["git", "show", f"{rev}:{path}"], cwd=repo, capture_output=True, check=False)
        for node in ast.walk(ast.parse(shown.stdout)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found[node.name] = ast.dump(node)
    return found


def deltas(repo: Path, older: str, newer: str, paths: list[str]) -> list[str]:
    """Say which tests went, and which are another."""
    before, after = tests(repo, older, paths), tests(repo, newer, paths)
    lines = [f"remove scenario {name}" for name in before if name not in after]
    return lines + [f"change scenario {name}" for name in before if name in after and before[name] != after[name]]


def derive(repo: Path, older: str, newer: str, folder: Path) -> dict[str, Any]:
    """Write the patches; return the plan's agents and modules."""
    (folder / "patches").mkdir(parents=True)
    groups = changed(repo, older, newer)
    agents, modules = {}, []
    for name, paths in sorted(groups.items(), key=lambda item: item[0] == "tests"):
        patch = Path("patches") / f"{name}.diff"
        diff = git(repo, "diff", "--no-renames", "--binary", "--full-index", older, newer, "--", *paths)
        (folder / patch).write_bytes(diff)
        agents[name] = {"kind": "patch", "patch": str(patch)}
        modules.append(
            {
                "id": name,
                "purpose": f"Bring {name} to the newer release",
                "agent": name,
                "depends_on": [other for other in groups if other != name] if name == "tests" else [],
                "write_scope": [re.sub(r"([\\*?\[\]])", r"\\\1", path) for path in paths],
                "expected_deltas": {"verification": deltas(repo, older, newer, paths)},
            }
        )
    return {"agents": agents, "modules": modules}


def main() -> None:
    repo, older, newer, folder = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    made = derive(repo, older, newer, folder)
    phase = {"id": "release", "modules": made["modules"]}
    plan = {"version": 1, "name": "release", "agents": made["agents"], "phases": [phase]}
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))


if __name__ == "__main__":
    main()
