"""Rows R: checks that pass too early, places that run out, odd repositories."""

import json

import pytest

CONFIGS = {
    "no identity": {},
    "gpgsign": {"commit.gpgsign": "true", "gpg.program": "/bin/false"},
    "autocrlf": {"core.autocrlf": "true"},
    "hooks": {"core.hooksPath": "HOOKS"},
}


def test_r3_a_check_that_fails_only_after_the_merge(repo):
    rows = {
        "A": {"shell": "echo a > src/a.txt", "write_scope": ["src/a.txt"]},
        "B": {"shell": "echo b > src/b.txt", "write_scope": ["src/b.txt"]},
    }
    repo.plan(rows, checks=["! { test -f src/a.txt && test -f src/b.txt; }"], defaults={"limits": {"attempts": 1}})
    head = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    assert repo.head == head
    assert "done" not in {m["state"] for m in repo.status()["modules"]}


def test_e1_each_green_alone_and_red_together(repo):
    repo.commit("data", {"data/old.txt": "1\n", "app/program.sh": "true\n"})
    rows = {
        "Rename": {
            "shell": "mv data/old.txt data/new.txt",
            "write_scope": ["data/old.txt", "data/new.txt"],
            "verification": {"module_local_checks": ["test -f data/new.txt"]},
        },
        "Caller": {
            "shell": "echo 'cat data/old.txt' > app/program.sh",
            "write_scope": ["app/program.sh"],
            "verification": {"module_local_checks": ["sh app/program.sh"]},
            "optional": True,
        },
    }
    repo.plan(rows, defaults={"limits": {"attempts": 1}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert {m["id"]: m["state"] for m in repo.status()["modules"]} == {"Rename": "done", "Caller": "failed"}
    assert "data/new.txt" in repo.files(), "the innocent one stays"
    assert repo.show("app/program.sh") == "true", "the culprit is undone"


def test_r4_twenty_modules_with_two_places(repo):
    repo.plan(
        {
            f"M{n:02}": {"shell": f"sleep 0.3; echo {n} > src/{n}.txt", "write_scope": [f"src/{n}.txt"]}
            for n in range(20)
        }
    )
    repo.grace("run", "plan.yaml", "--yes", "--max-workers", "2").exits(0)
    modules = repo.status()["modules"]
    assert {m["state"] for m in modules} == {"done"}
    assert {m["attempt"] for m in modules} == {1}, "waiting for a place costs no attempt"
    assert all(repo.show(f"src/{n}.txt") == str(n) for n in range(20))


@pytest.mark.parametrize(
    ("shell", "code", "state"), [("echo x > src/a.txt", 0, "done"), ("exit 1", 1, "failed")], ids=["done", "failed"]
)
def test_r5_summary_exit_code_and_git_agree(repo, shell, code, state):
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 1}})
    last = repo.grace("run", "plan.yaml", "--yes", "--json").exits(code).events[-1]
    assert last["type"] == "run.finished"
    assert last["exit"] == code
    module = repo.module("A")
    assert module["state"] == state
    assert (state == "done") == bool(module["commit"] and repo.is_ancestor(module["commit"], "main"))


@pytest.mark.parametrize("name", CONFIGS)
def test_r6_odd_configurations(repo, tmp_path, name):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    hook = f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n"
    for each in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "pre-merge-commit",
    ):
        (hooks / each).write_text(hook)
        (hooks / each).chmod(0o755)
    repo.plan({"A": {"shell": "printf 'one\\r\\ntwo\\n' > src/a.txt", "write_scope": ["src/a.txt"]}})
    for key, value in CONFIGS[name].items():
        repo.git("config", key, value.replace("HOOKS", str(hooks)))
    repo.grace("run", "plan.yaml", "--yes", HOME=str(tmp_path / "home")).exits(0)
    raw = repo.git("cat-file", "blob", "HEAD:src/a.txt")
    assert raw == "one\r\ntwo"
    assert not (tmp_path / "ran").exists(), "none of the user's hooks ran"


def test_r8_a_repository_that_looks_like_grace(repo):
    boom = "raise RuntimeError('the target code must not run here')\n"
    repo.commit(
        "odd names",
        {f"{room}/__init__.py": boom for room in ("controller", "worker", "reviewer", "packets", "sandbox")}
        | {"types.py": boom, "yaml.py": boom, "conftest.py": boom},
    )
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("src/a.txt") == "x"


def test_r11_one_module_and_no_checks(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    said = repo.grace("run", "plan.yaml", "--yes").exits(0).said
    assert "nothing was verified" in said
    findings = repo.module("A")["findings"]
    assert any("verif" in f["code"] for f in findings), findings


def test_c3_c8_names_and_modes_come_back_exactly(repo):
    repo.git("config", "core.quotePath", "false")
    shell = (
        "cd src; printf x > ' two  spaces'; printf x > '-dash'; printf x > 'qu\"ote'; printf x > '漢字🎉';"
        " printf x > ':(glob)x'; printf '\\000\\377' > binary; : > empty;"
        " printf x > run.sh; chmod 755 run.sh; rm old.txt"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/"]}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    names = {" two  spaces", "-dash", 'qu"ote', "漢字🎉", ":(glob)x", "binary", "empty", "run.sh"}
    assert {name.removeprefix("src/") for name in repo.files() if name.startswith("src/")} == names
    modes = dict(reversed(line.split(" ", 1)) for line in _modes(repo))
    assert modes["src/run.sh"] == "100755"
    assert modes["src/empty"] == "100644"


def _modes(repo):
    listed = repo.git("ls-tree", "-r", "-z", "HEAD").split("\0")
    return [f"{entry.split()[0]} {entry.split(chr(9), 1)[1]}" for entry in listed if entry]


def test_events_are_json_lines_and_end_with_the_run(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    result = repo.grace("run", "plan.yaml", "--yes", "--json").exits(0)
    kinds = [event["type"] for event in result.events]
    assert kinds[-1] == "run.finished"
    kept = repo.grace("events", repo.status()["run_id"], "--json").exits(0)
    assert [json.loads(line)["type"] for line in kept.out.splitlines()] == kinds
