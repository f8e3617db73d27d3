"""Rows B: branches and checkouts."""

import shutil

PLAN = {"A": {"shell": "sleep 1; echo x > src/a.txt", "write_scope": ["src/a.txt"]}}


def test_b6_a_run_that_was_killed_twice_goes_on_with_its_own_branches(repo, lives):
    repo.plan(PLAN)
    for at in ("ref refs/heads/grace", "attempts A 1"):
        assert lives(repo, "run", "plan.yaml", "--yes", at=at)[0] < 0
    (branch,) = [ref for ref in repo.refs() if ref.startswith("refs/heads/grace/")]
    run = branch.split("/")[3]
    code, _, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    assert "exists" not in said
    assert repo.status()["run_id"] == run
    assert {ref.split("/")[3] for ref in repo.refs() if "/grace/" in ref} == {run}
    assert repo.leftovers() == []


def test_b6_branches_that_somebody_removed_or_moved_are_said(repo):
    repo.plan(PLAN, defaults={"profile": "fast"})
    repo.grace("run", "plan.yaml").exits(4)
    run = repo.status()["run_id"]
    branch = f"refs/heads/grace/{run}/integration"
    tip = repo.refs()[branch]
    head = repo.head
    repo.grace("approve", run).exits(0)
    for how in (["-d", branch], [branch, head]):
        repo.git("update-ref", *how)
        said = repo.grace("resume", run)
        assert said.code in {1, 4}, said.said
        assert branch in said.said or f"integration branch of {run}" in said.said
        assert repo.head == head
    repo.git("update-ref", branch, tip)
    repo.grace("resume", run).exits(0)
    assert repo.show("src/a.txt") == "x"


def test_b7_whatever_of_a_workers_place_is_deleted_is_made_again(repo, lives):
    repo.plan(PLAN)
    assert lives(repo, "run", "plan.yaml", "--yes", at="work packet")[0] < 0
    state = repo.path / ".git" / "grace"
    for name in ("cache", "runs/*/work", "runs/*/logs"):
        for folder in state.glob(name):
            shutil.rmtree(folder)
    shutil.rmtree(repo.path / ".grace", ignore_errors=True)
    repo.write({"README.md": "my own\n"})
    code, _, said = lives(repo, "run", "plan.yaml", "--yes")
    assert code == 0, said
    assert repo.show("src/a.txt") == "x"
    assert (repo.path / "README.md").read_text() == "my own\n"
    assert list((repo.path / ".grace" / "runs").glob("*/packets/*")), "the readable copies are written again"
