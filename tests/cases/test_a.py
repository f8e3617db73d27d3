"""Rows A: work is never lost."""

import os
import signal

import pytest

SLOWLY = "printf precious > src/a.txt; sleep 3; printf final > src/a.txt"
QUICK = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}
LEAVES = {  # module: what it does, the text to wait for, where the text is found afterwards
    "Unfinished": ("printf 'precious edit' > src/old.txt", "precious edit", "src/old.txt"),
    "Detached": (
        "git checkout -q --detach; printf 'precious commit' > src/b.txt; git add -f src/b.txt; git commit -qm mine",
        "precious commit",
        "src/b.txt",
    ),
    "Untracked": ("printf 'precious file' > src/c.txt", "precious file", "src/c.txt"),
}


def hang(repo):
    """Plan modules that leave something behind and never end."""
    repo.write({"src/old.txt": "old\n"})
    repo.plan(
        {name: {"shell": f"{shell}; sleep 600", "write_scope": [path]} for name, (shell, _, path) in LEAVES.items()}
    )
    return [text for _, text, _ in LEAVES.values()]


@pytest.mark.parametrize("then", ["resume", "cancel", "rollback", "pause"])
def test_a1_the_unfinished_bytes_of_a_killed_run_are_kept(repo, do, then):
    repo.plan({"A": {"shell": SLOWLY, "write_scope": ["src/a.txt"]}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "precious")
    do.kill(process)
    run = repo.status()["run_id"]

    if then == "resume":
        repo.grace("resume", run).exits(0)
        assert repo.show("src/a.txt") == "final"
    elif then == "rollback":
        repo.grace("rollback", run, "--to", "start").exits(0)
        repo.grace("cancel", run).exits(0)
    elif then == "pause":
        repo.grace("pause", run).exits(0)
        repo.grace("cancel", run).exits(0)
    else:
        repo.grace("cancel", run).exits(0)

    kept = do.rescued(repo, run, "A")
    assert [ref for ref in kept if repo.show("src/a.txt", ref) == "precious"], kept
    said = repo.grace("status", run).exits(0).out
    assert all(ref in said for ref in kept)
    assert repo.leftovers() == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a1_the_unfinished_bytes_of_an_interrupted_run_are_kept(repo, do, how):
    plan = {"A": {"shell": f"{SLOWLY}; exit 3", "write_scope": ["src/a.txt"]}}
    repo.plan(plan, defaults={"limits": {"attempts": 1}})
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "precious")
    os.kill(process.pid, how)
    process.stdout.read()
    assert process.wait(timeout=60) == 130
    run = repo.status()["run_id"]
    kept = do.rescued(repo, run, "A")
    assert [ref for ref in kept if repo.show("src/a.txt", ref) == "precious"], kept
    repo.grace("resume", run).exits(1)
    kept = {repo.show("src/a.txt", ref) for ref in do.rescued(repo, run, "A")}
    assert kept == {"precious", "final"}, "a later attempt of the same number takes nothing away"


def test_a2_clean_keeps_what_a_killed_run_left_and_says_where(repo, do):
    texts = hang(repo)
    process = repo.start("run", "plan.yaml", "--yes", "--json", "--max-workers", "3")
    do.wrote(repo, *texts)
    do.kill(process)
    run = repo.status()["run_id"]
    before = repo.refs()

    for command in (["clean"], ["clean", run]):
        said = repo.grace(*command).exits(0).out
        assert "kept" in said
        for name in LEAVES:
            assert f"{name}" in said, f"it says where the work of {name} is: {said}"
    assert repo.refs() == before

    repo.grace("cancel", run).exits(0)
    for command in (["clean"], ["clean", run]):
        said = repo.grace(*command).exits(0).out
        for name, (_, text, path) in LEAVES.items():
            refs = do.rescued(repo, run, name)
            assert [ref for ref in refs if repo.show(path, ref) == text], (name, refs)
            assert all(ref in said for ref in refs)
    assert repo.grace("clean", "--force").exits(2).err.startswith("grace: ")
    assert do.rescued(repo, run, "Untracked"), "force without the id drops nothing"

    repo.grace("clean", run, "--force").exits(0)
    assert not [ref for ref in repo.refs() if "grace" in ref]


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"])
def test_a2_force_with_the_id_drops_all_of_a_killed_run(repo, do, engine):
    repo.plan({"A": {"shell": "printf precious > src/a.txt; sleep 600", "write_scope": ["src/a.txt"]}}, sandbox=engine)
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    do.wrote(repo, "precious")
    do.kill(process)
    run = repo.status()["run_id"]
    repo.grace("clean", run, "--force").exits(0)
    assert do.containers(run) == []
    assert repo.leftovers() == []
    assert not [ref for ref in repo.refs() if "grace" in ref]
    assert not (repo.path / ".git" / "grace" / "runs" / run).exists()


def test_a3_clean_does_not_touch_a_live_run(repo, do):
    repo.plan(QUICK)
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    over = repo.status()["run_id"]
    repo.plan({"B": {"shell": "printf there > src/b.txt; sleep 600", "write_scope": ["src/b.txt"]}}, name="b.yaml")
    process = repo.start("run", "b.yaml", "--yes", "--json")
    do.wrote(repo, "there")
    live = repo.status()["run_id"]
    assert live != over
    before = {ref: sha for ref, sha in repo.refs().items() if live in ref}

    for command in (["clean", live], ["clean", live, "--force"]):
        refused = repo.grace(*command).exits(2).err
        assert live in refused
        assert str(process.pid) in refused
    said = repo.grace("clean").exits(0).out
    assert f"dropped {over}" in said, "what is over goes, whatever lives beside it"
    assert live in said

    assert {ref: sha for ref, sha in repo.refs().items() if live in ref} == before
    assert process.poll() is None
    assert repo.module("B", live)["state"] == "working"
    repo.grace("cancel", live).exits(0)
    process.stdout.read()
    assert process.wait(timeout=60) == 1


def test_a5_a_second_run_leaves_the_branches_of_an_unmerged_one_alone(repo):
    repo.plan(QUICK)
    repo.grace("run", "plan.yaml").exits(4)
    first = repo.status()["run_id"]
    mine = {ref: sha for ref, sha in repo.refs().items() if first in ref}
    assert mine

    repo.plan({"B": {"shell": "echo y > src/b.txt", "write_scope": ["src/b.txt"]}}, name="b.yaml")
    second = repo.grace("run", "b.yaml", "--yes", "--json").exits(0).events[-1]["run_id"]
    assert {ref: sha for ref, sha in repo.refs().items() if first in ref} == mine
    assert "src/a.txt" not in repo.files()
    repo.grace("rollback", second, "--to", "start").exits(0)
    repo.grace("clean", second, "--force").exits(0)
    assert {ref: sha for ref, sha in repo.refs().items() if first in ref} == mine

    for _ in range(3):  # the wave, the landing, and the landing on the base that moved meanwhile
        repo.grace("approve", first).exits(0)
        ended = repo.grace("resume", first)
    ended.exits(0)
    assert repo.show("src/a.txt") == "x"


def test_a10_asleep_and_done_are_what_git_shows(repo):
    repo.plan(QUICK, defaults={"profile": "fast"})
    start = repo.head
    repo.grace("run", "plan.yaml").exits(4)
    status = repo.status()
    run, module = status["run_id"], status["modules"][0]
    assert module["state"] == "asleep"
    assert repo.is_ancestor(module["commit"], f"grace/{run}/integration")
    assert not repo.is_ancestor(module["commit"], "main")

    repo.grace("approve", run).exits(0)
    repo.grace("resume", run).exits(0)
    module = repo.module("A")
    assert module["state"] == "done"
    assert repo.is_ancestor(module["commit"], "main")

    repo.git("reset", "-q", "--hard", start)
    module = repo.module("A")
    assert module["state"] == "asleep", "the base does not hold it any more, the integration branch does"
    assert " done " not in repo.grace("status").exits(0).out.splitlines()[1]
    repo.git("update-ref", "-d", f"refs/grace/runs/{run}/integration")
    assert not repo.module("A")["verified"]
    assert "NOT FOUND IN GIT" in repo.grace("status").exits(0).out
