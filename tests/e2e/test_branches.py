"""The user's branches and checkouts: rows B, D3 and what lands where."""

import subprocess

import pytest

ONE = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}
CHANGES_OLD = {"A": {"shell": "echo new > src/old.txt", "write_scope": ["src/old.txt"]}}


def test_a_dirty_tree_keeps_its_edits(repo):
    repo.plan(ONE)
    repo.write({"README.md": "an unsaved thought\n", "untracked.txt": "mine\n", "staged.txt": "staged\n"})
    repo.git("add", "staged.txt")
    repo.git("stash", "push", "-q", "--keep-index", "--", "README.md")
    repo.write({"README.md": "another thought\n"})
    stash = repo.git("stash", "list")

    repo.grace("run", "plan.yaml", "--yes").exits(0)

    assert (repo.path / "README.md").read_text() == "another thought\n"
    assert (repo.path / "untracked.txt").read_text() == "mine\n"
    assert repo.git("diff", "--cached", "--name-only") == "staged.txt"
    assert repo.git("stash", "list") == stash
    assert repo.show("README.md") == "a repository", "an unsaved edit is not part of what was built"
    assert (repo.path / "src" / "a.txt").read_text() == "x\n"


def test_an_overlapping_edit_stops_the_landing(repo):
    repo.plan(CHANGES_OLD)
    repo.write({"src/old.txt": "my own\n"})
    head = repo.head
    result = repo.grace("run", "plan.yaml", "--yes").exits(4)
    assert "src/old.txt" in result.said
    assert repo.head == head
    assert (repo.path / "src" / "old.txt").read_text() == "my own\n"

    repo.git("checkout", "-q", "--", "src/old.txt")
    repo.grace("resume", repo.status()["run_id"]).exits(0)
    assert (repo.path / "src" / "old.txt").read_text() == "new\n"
    assert repo.git("status", "--porcelain", "-uno") == ""
    assert repo.leftovers() == []


def test_d3_a_live_index_lock_is_not_stolen(repo):
    repo.plan(ONE)
    lock = repo.path / ".git" / "index.lock"
    lock.touch()
    result = repo.grace("run", "plan.yaml", "--yes").exits(4)
    assert "index.lock" in result.said
    assert lock.exists()
    lock.unlink()
    repo.grace("resume", repo.status()["run_id"]).exits(0)
    assert repo.show("src/a.txt") == "x"


@pytest.mark.parametrize("dirty", [False, True], ids=["clean", "dirty"])
def test_b1_the_base_is_checked_out_elsewhere(repo, tmp_path, dirty):
    repo.plan(CHANGES_OLD, base="main")
    repo.git("checkout", "-q", "-b", "elsewhere")
    other = tmp_path / "other"
    repo.git("worktree", "add", "-q", str(other), "main")
    head = repo.git("rev-parse", "main")
    if dirty:
        (other / "src" / "old.txt").write_text("my own\n")

    result = repo.grace("run", "plan.yaml", "--yes").exits(4 if dirty else 0)

    if dirty:
        assert str(other) in result.said
        assert repo.git("rev-parse", "main") == head
        assert (other / "src" / "old.txt").read_text() == "my own\n"
    else:
        assert (other / "src" / "old.txt").read_text() == "new\n"
        assert repo.git("status", "--porcelain", cwd=other) == ""
        assert (repo.path / "src" / "old.txt").read_text() == "old\n", "this branch did not move"


def test_b1_started_in_a_linked_worktree(repo, tmp_path):
    repo.plan(ONE)
    other = type(repo)(tmp_path / "linked")
    repo.git("worktree", "add", "-q", "-b", "side", str(other.path))
    main = repo.head
    other.grace("run", "plan.yaml", "--yes").exits(0)
    assert other.show("src/a.txt", "side") == "x"
    assert (other.path / "src" / "a.txt").is_file()
    assert repo.git("rev-parse", "main") == main
    assert repo.status()["run_id"] == other.status()["run_id"], "linked worktrees share the runs"


def test_b3_each_module_starts_from_the_integrated_tip(repo):
    repo.git("branch", "upstream")
    repo.git("checkout", "-q", "-b", "feature")
    repo.git("branch", "-q", "--set-upstream-to", "upstream")
    for number in range(50):
        repo.git("commit", "-q", "--allow-empty", "-m", f"feature {number}")
    repo.commit("the tip", {"src/tip.txt": "tip\n"})
    upstream = repo.git("rev-parse", "upstream")
    repo.plan(
        {
            "A": {"shell": "cat src/tip.txt > src/a.txt", "write_scope": ["src/a.txt"]},
            "B": {"shell": "cat src/a.txt src/tip.txt > src/b.txt", "write_scope": ["src/b.txt"], "depends_on": ["A"]},
            "C": {"shell": "cat src/a.txt src/b.txt > src/c.txt", "write_scope": ["src/c.txt"], "depends_on": ["B"]},
        }
    )
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("src/c.txt", "feature") == "tip\ntip\ntip"
    assert repo.git("rev-parse", "upstream") == upstream
    assert [m["wave"] for m in repo.status()["modules"]] == [1, 2, 3]


def test_a_base_that_moved_meanwhile_is_merged(repo):
    repo.plan(
        {"A": {"shell": "sleep 3; echo x > src/a.txt", "write_scope": ["src/a.txt"]}}, checks=["test -f src/a.txt"]
    )
    run = repo.start("run", "plan.yaml", "--yes")
    repo.commit("meanwhile", {"meanwhile.txt": "mine\n"})
    moved = repo.head
    said, _ = run.communicate(timeout=120)
    assert run.returncode == 0, said
    assert repo.is_ancestor(moved, "main")
    assert repo.show("src/a.txt") == "x"
    assert repo.show("meanwhile.txt") == "mine"
    assert repo.git("status", "--porcelain", "-uno") == ""


def test_branches_of_a_finished_run_are_not_pushed(repo, tmp_path):
    repo.plan(ONE)
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "remote"], check=True)
    repo.git("push", "-q", "--all", str(tmp_path / "remote"))
    pushed = repo.git("ls-remote", str(tmp_path / "remote"))
    assert [line.split()[1] for line in pushed.splitlines() if "refs/" in line] == ["refs/heads/main"]


def test_rollback_to_the_start_undoes_the_landing(repo):
    repo.plan(ONE)
    before = repo.tree()
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    run = repo.status()["run_id"]
    landed = repo.head
    repo.grace("rollback", run, "--to", "start").exits(0)
    assert repo.tree() == before
    assert repo.is_ancestor(landed, "main"), "history is added to, not rewritten"
    assert not (repo.path / "src" / "a.txt").exists()


def test_clean_drops_what_a_run_kept(repo):
    repo.plan(ONE)
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    head = repo.head
    run = repo.status()["run_id"]
    assert any(ref.startswith(f"refs/grace/runs/{run}/") for ref in repo.refs())
    repo.grace("clean", run).exits(0)
    assert not [ref for ref in repo.refs() if "grace" in ref]
    assert repo.head == head
    assert repo.grace("clean", run).code in {0, 2}
