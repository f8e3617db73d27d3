"""A rollback that meets what cannot be undone, as its user sees it: undone, reverted, left, and what to type."""

import os
import subprocess
import sys
from pathlib import Path

SHELL = {"shell": 'printf "%s\\n" "$GRACE_MODULE" > src/$GRACE_MODULE.txt'}


def module(name, **more):
    return SHELL | {"write_scope": [f"src/{name}.txt"]} | more


def test_what_is_left_is_finished_by_typing_what_was_printed(repo):
    repo.plan({"A": module("A"), "B": module("B"), "C": module("C", depends_on=["A"]), "D": module("D")})
    before = repo.tree()
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    run = repo.status()["run_id"]
    mine = repo.commit("mine", {"src/C.txt": "C, and more of mine\n"})
    seen = repo.grace("rollback", run, "--to", "start", "--dry-run").exits(0).out
    assert repo.head == mine
    assert [line.split()[2] for line in seen.splitlines() if line.startswith("would undo")] == ["D", "B"]

    said = repo.grace("rollback", run, "--to", "start").exits(1).out
    lines = said.splitlines()
    assert lines[0] == "reverted on main: B, D"
    assert [line for line in lines if not line.startswith(" ")][1:] == [
        "left: C: src/C.txt changed since it landed; by hand:",
        "left: A: C, which depends on it, stays; by hand:",
    ]
    assert {"src/A.txt", "src/C.txt"} <= repo.files()
    assert not {"src/B.txt", "src/D.txt"} & repo.files()

    script = "\n".join(line for line in lines if line.startswith(" "))
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["sh"], input=script, text=True, cwd=repo.path, env=os.environ | path, check=True)
    assert repo.tree() == before
    assert repo.is_ancestor(mine, "main"), "nothing of the user's history is rewritten"
    assert "undone: nothing" in repo.grace("rollback", run, "--to", "start").exits(0).out
    assert "left to you" not in repo.grace("status", run).exits(0).out
    assert repo.leftovers() == []
