"""`grace init` and `grace plan` as a person runs them, in real repositories."""

import json
import os
import subprocess
import sys

import pytest


class Folder:
    def __init__(self, path):
        self.path = path
        path.mkdir(exist_ok=True)

    def env(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.path), "GIT_CEILING_DIRECTORIES": str(self.path.parent)}

    def git(self, *args):
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "init.defaultBranch=main"]
        done = subprocess.run(
            ["git", *who, *args], cwd=self.path, env=self.env(), check=True, capture_output=True, text=True
        )
        return done.stdout

    def write(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self, **files):
        self.git("init", "-q")
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def grace(self, *args, where="."):
        code = "import sys; from controller.main import run; sys.exit(run(sys.argv[1:]))"
        command = [sys.executable, "-P", "-c", code, *args]
        return subprocess.run(
            command, cwd=self.path / where, env=self.env(), capture_output=True, text=True, check=False
        )


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "here")


SHOP = {"pyproject.toml": "", "src/shop/cart.py": "def total(): ...\n", "tests/test_cart.py": "def test_x(): ...\n"}


def test_init_then_check_then_show(folder):
    folder.commit(**SHOP)
    made = folder.grace("init")
    assert (made.returncode, made.stderr) == (0, "")
    assert "src/shop/, tests/" in made.stdout
    checked = folder.grace("plan", "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "may write: src/shop/, tests/" in checked.stdout
    assert folder.git("status", "--porcelain").split() == ["??", "plan.yaml"], "nothing else is seen by git"
    assert json.loads((folder.path / ".grace" / "plan.schema.json").read_text())["title"] == "A plan of grace"
    for form, beginning in (("text", "here: "), ("json", "{"), ("mermaid", "flowchart"), ("dot", "digraph")):
        shown = folder.grace("plan", "show", "plan.yaml", "--format", form)
        assert shown.returncode == 0
        assert shown.stdout.startswith(beginning)


def test_init_in_a_folder_below_names_scopes_from_the_root(folder):
    folder.commit(**SHOP)
    assert folder.grace("init", where="src").returncode == 0
    text = (folder.path / "src" / "plan.yaml").read_text()
    assert "$schema=../.grace/plan.schema.json" in text
    assert "write_scope: [src/shop/, tests/]" in text
    assert folder.grace("plan", "check", where="src").returncode == 0


def test_init_overwrites_only_when_told(folder):
    folder.commit(**SHOP)
    folder.write("plan.yaml", "mine")
    refused = folder.grace("init")
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        "grace: plan.yaml is there already",
        "  hint: name another file, or overwrite it with --force",
    ]
    assert (folder.path / "plan.yaml").read_text() == "mine"
    assert folder.grace("init", "--force").returncode == 0
    assert folder.grace("plan", "check").returncode == 0
    (folder.path / "link.yaml").symlink_to("plan.yaml")
    for name in ("link.yaml", "src", "no/such/plan.yaml"):
        failed = folder.grace("init", name, "--force")
        assert failed.returncode == 2
        assert failed.stderr.startswith("grace: ")


def test_b5_init_needs_a_repository_but_no_commit(folder):
    refused = folder.grace("init")
    assert refused.returncode == 2
    assert "repository" in refused.stderr
    folder.git("init", "-q")
    folder.write("lib/x.rb", "")
    assert folder.grace("init").returncode == 0
    checked = folder.grace("plan", "check")
    assert checked.returncode == 0
    assert "no commit yet" in checked.stderr


def test_b5_a_plan_is_checked_outside_of_a_repository_too(folder):
    folder.write("plan.yaml", "version: 1\nname: x\nphases: []\nagents: {}\n")
    broken = folder.grace("plan", "check")
    assert broken.returncode == 2
    assert broken.stderr.splitlines() == ["plan.yaml:3:9: plan.bad_value: `phases`: expected at least one"]
    good = (
        "version: 1\nname: x\nagents: {a: {kind: command, run: [x]}}\nphases:\n"
        "  - {id: p, checks: [x], modules: [{id: A, purpose: x, write_scope: [a]}]}\n"
    )
    folder.write("plan.yaml", good)
    checked = folder.grace("plan", "check")
    assert checked.returncode == 0
    assert "not compared with a repository" in checked.stderr


def test_json_lists_every_problem(folder):
    folder.commit(**SHOP)
    folder.write(
        "plan.yaml",
        "version: 1\nname: x\nagents: {a: {kind: command, run: [x]}}\nphases:\n"
        "  - {id: p, modules: [{id: A, purpose: x, write_scope: [src]}]}\n",
    )
    told = folder.grace("plan", "check", "--json")
    assert told.returncode == 2
    warning, error = json.loads(told.stdout)
    assert {k: error[k] for k in ("file", "line", "column", "code", "hint")} == {
        "file": "plan.yaml", "line": 5, "column": 57, "code": "plan.scope_is_folder", "hint": "write `src/`"
    }  # fmt: skip
    assert set(error) == {"file", "line", "column", "code", "message", "hint"}
    assert (warning["code"], warning["severity"]) == ("plan.no_checks", "warning")
    assert folder.grace("plan", "show").returncode == 2


def test_names_in_expected_deltas_are_looked_up(folder):
    folder.commit(**SHOP)
    folder.write(
        "plan.yaml",
        "version: 1\nname: x\nagents: {a: {kind: command, run: [x]}}\nphases:\n"
        "  - {id: p, checks: [x], modules: [{id: A, purpose: x, write_scope: [src/shop/new.py],\n"
        "      expected_deltas: {graph: [add src/shop/new.py, remove src/shop/cart.py, add lib/nowhere.py]}}]}\n",
    )
    told = folder.grace("plan", "check")
    assert told.returncode == 2
    (line,) = told.stderr.splitlines()
    assert line.startswith("plan.yaml:6:79: plan.unknown_name: ")
    assert not (folder.path / ".git" / "grace").exists(), "checking creates nothing"
