"""Rows R: what was seen in rivals, in the variants that the end-to-end tests do not try."""

import os
import signal

import pytest

ONE = {"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}


@pytest.mark.parametrize("ending", ["waiting", "cancelled", "interrupted", "killed", "blocked", "reverted", "rejected"])
def test_r5_every_way_to_end_agrees_with_git(repo, do, ending):
    """What is printed, the exit code, the status and git say the same; `done` is said of what landed only."""
    shell = "printf there > src/a.txt; sleep 4"
    slow = ending in {"cancelled", "interrupted", "killed"}
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}} if slow else ONE)
    if ending == "blocked":
        (repo.path / "src" / "a.txt").write_text("mine\n")
    options = [] if ending in {"waiting", "rejected"} else ["--yes"]
    process = repo.start("run", "plan.yaml", "--json", *options)
    if slow:
        do.wrote(repo, "there")
        run = repo.status()["run_id"]
        if ending == "cancelled":
            repo.grace("cancel", run).exits(0)
        else:
            os.kill(process.pid, signal.SIGINT if ending == "interrupted" else signal.SIGKILL)
    said, code = process.stdout.read(), process.wait(timeout=90)
    run = repo.status()["run_id"]
    if ending == "reverted":
        repo.grace("rollback", run, "--to", "start").exits(0)
    if ending == "rejected":
        repo.grace("reject", run, "--final").exits(0)
        code = repo.grace("resume", run).code
    status = repo.status(run)
    (module,) = status["modules"]
    expected = {
        "waiting": (4, "waiting", "waiting"), "cancelled": (1, "cancelled", "cancelled"),
        "interrupted": (130, "interrupted", "queued"), "killed": (-9, "stopped", "working"),
        "blocked": (4, "blocked", "asleep"), "reverted": (0, "done", "done"), "rejected": (1, "failed", "failed"),
    }  # fmt: skip
    assert (code, status["state"], module["state"]) == expected[ending]
    landed = bool(module["commit"]) and repo.is_ancestor(module["commit"], "main")
    assert (module["state"] == "done") == landed
    assert module["reverted"] == (ending == "reverted")
    assert ('"state": "done"' in said) == (ending == "reverted")


def test_r6_a_global_configuration_full_of_traps(repo, tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change", "commit-msg"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n\tfsmonitor = touch {tmp_path}/ran\n\tpager = false\n"
        "\tquotePath = true\n\tignoreCase = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n"
        "[merge]\n\tff = false\n\tconflictStyle = zdiff3\n[diff]\n\texternal = false\n\tnoprefix = true\n"
        "[safe]\n\tbareRepository = explicit\n[user]\n\tuseConfigOnly = true\n[color]\n\tui = always\n"
        f"[init]\n\ttemplateDir = {tmp_path}\n[status]\n\tshowUntrackedFiles = no\n[alias]\n\tlog = !false\n"
    )
    repo.plan({"A": {"shell": "printf 'one\\ntwo\\n' > src/é.txt; git log -1", "write_scope": ["src/é.txt"]}})
    repo.grace("run", "plan.yaml", "--yes", GIT_CONFIG_GLOBAL=str(config)).exits(0)
    assert repo.show("src/é.txt") == "one\ntwo"
    assert not (tmp_path / "ran").exists()
    assert "\x1b" not in repo.grace("review", "--diff", GIT_CONFIG_GLOBAL=str(config)).exits(0).out


def test_r6_variables_that_point_git_elsewhere(repo, new_repo):
    """A hook of the user's, or their editor's terminal, may leave these in the environment."""
    other = new_repo("other")
    repo.plan(ONE)
    before = other.refs()
    theirs = str(other.path / ".git")
    strays = {
        "GIT_INDEX_FILE": f"{theirs}/index", "GIT_OBJECT_DIRECTORY": f"{theirs}/objects", "GIT_AUTHOR_DATE": "nonsense",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
    }  # fmt: skip
    repo.grace("run", "plan.yaml", "--yes", **strays).exits(0)
    assert repo.show("src/a.txt") == "x"
    assert other.refs() == before


def test_r7_the_users_refs_and_configuration_stay_after_every_attempt(repo, do):
    shell = (
        "git update-ref refs/heads/main HEAD~0 2>/dev/null; git branch -f main; git tag evil;"
        " git push . HEAD:refs/heads/evil;"
        " git config user.name evil; git config --global user.name evil; git stash; git gc --prune=now;"
        " git worktree add ../w;"
        " rm -rf .git/refs .git/objects; printf there > src/a.txt; sleep 2; exit 3"
    )
    repo.git("tag", "mine")
    repo.plan({"A": {"shell": shell, "write_scope": ["src/"]}}, defaults={"limits": {"attempts": 2}})
    config = (repo.path / ".git" / "config").read_bytes()
    mine = {ref: sha for ref, sha in repo.refs().items() if "grace" not in ref}
    process = repo.start("run", "plan.yaml", "--yes", "--json")
    for attempt in (1, 2):
        do.seen(process, lambda e, n=attempt: e["type"] == "attempt.judged" and e["attempt"] == n)
        assert {ref: sha for ref, sha in repo.refs().items() if "grace" not in ref} == mine
        assert (repo.path / ".git" / "config").read_bytes() == config
        assert repo.git("stash", "list") == ""
    process.stdout.read()
    assert process.wait(timeout=60) == 1
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_r8_checks_run_the_repositorys_own_code(repo):
    """Its folders are named as ours, and its tests import them; what raises there is the repository's business."""
    rooms = ("controller", "worker", "reviewer", "packets", "sandbox")
    test = "def test_{0}():\n    import {0}\n    assert {0}.WHO == 'theirs {0}'\n\n"
    repo.commit(
        "odd names",
        {
            **{f"{room}/__init__.py": f"WHO = 'theirs {room}'\n" for room in rooms},
            "test_rooms.py": "".join(test.format(room) for room in rooms),
            "yaml.py": "raise SystemExit('not the library')\n",
        },
    )
    verification = {"module_local_checks": ["python3 -c 'import controller; assert controller.WHO'"]}
    one = {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"], "verification": verification}
    repo.plan({"A": one}, checks=["python3 -m pytest -q -p no:cacheprovider test_rooms.py"])
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("src/a.txt") == "x"


def test_r10_the_same_packets_whatever_the_branch_and_the_checkout(repo, new_repo):
    """Run a second time from the same commit, after a rollback, the packets of the first attempts are the same."""
    repo.plan(ONE)
    start = repo.head
    first = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0).events[-1]["run_id"]
    repo.git("reset", "-q", "--hard", start)
    second = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0).events[-1]["run_id"]
    assert first != second
    ids = [
        [p["packet_id"] for p in repo.grace("packets", r, "--json").exits(0).json["packets"]] for r in (first, second)
    ]
    assert ids[0] == ids[1] != []
