"""Plans in a folder, and what is said of them."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from controller.plan.check import check_plan
from controller.plan.load import load_plan
from packets.errors import PlanInvalid
from sandbox.git import Git


class Desk:
    """A folder with a plan in it, and by `commit` a git repository around it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "plan.yaml"

    def write(self, plan):
        """Write a plan: text, bytes, or a value."""
        text = plan if isinstance(plan, str | bytes) else yaml.safe_dump(plan, sort_keys=False)
        self.path.write_bytes(text.encode() if isinstance(text, str) else text)
        return self.path

    def load(self, plan):
        return load_plan(self.write(plan))

    def refused(self, plan):
        """Return the problems of a plan that cannot be loaded."""
        with pytest.raises(PlanInvalid) as caught:
            self.load(plan)
        return caught.value.problems

    def problems(self, plan, *, knowledge=None, repository=False):
        """Return every problem, of loading or of checking."""
        try:
            loaded = self.load(plan)
        except PlanInvalid as fault:
            return fault.problems
        if not repository:
            return check_plan(loaded, None, None, knowledge)
        with Git.discover(self.folder) as git:
            return check_plan(loaded, git, None, knowledge)

    def errors(self, plan, **how):
        return [problem for problem in self.problems(plan, **how) if problem.severity == "error"]

    def git(self, *args):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main"]
        done = subprocess.run(
            ["git", *who, *args], cwd=self.folder, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files=None):
        """Commit these files, in a fresh repository if there is none."""
        if not (self.folder / ".git").exists():
            self.git("init", "-q")
        for name, content in (files or {}).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "more")


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def plan_of(modules, *, checks=("true",), **keys):
    """Return a valid plan of one phase; `modules` are {id: keys}."""
    phase = {"id": "one", "checks": list(checks), "modules": []}
    for name, more in modules.items():
        phase["modules"].append({"id": name, "purpose": "work", "write_scope": [f"{name}/"], **more})
    return {
        "version": 1,
        "name": "plan",
        "agents": {"a": {"kind": "command", "run": ["true"]}},
        "phases": [phase],
        **keys,
    }


@pytest.fixture
def plan():
    return plan_of


@pytest.fixture
def phases():
    """Make a plan of several phases: [{id: keys}, …]."""

    def make(*of, **keys):
        made = plan_of({}, **keys)
        made["phases"] = [
            {**plan_of(modules)["phases"][0], "id": f"phase{number}"} for number, modules in enumerate(of, start=1)
        ]
        return json.loads(json.dumps(made))

    return make
