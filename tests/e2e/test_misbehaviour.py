"""Workers that misbehave: each is rejected with a finding that names what it did, and nothing of it goes further."""

import pytest

FORGED = """
mkdir -p src && echo honest > src/liar.txt
printf '%s' '{"status": "done", "checks_passed": ["pytest -q"], "files_changed": ["src/never.txt"],
  "graph_delta": {"edges_added": ["Nothing -> Anything"]},
  "verification_delta": {"scenarios_added": ["tests/test_old.py::test_invented"]}}' > "$GRACE_OUT/report.json"
"""
WORKERS = {
    "Outside": {"shell": "echo x > src/mine.txt; echo x > src/yours.txt", "write_scope": ["src/mine.txt"]},
    "Undeclared": {"shell": "echo 'from app.money import Money' > app/new.py", "write_scope": ["app/new.py"]},
    "Deleter": {"shell": "echo '' > tests/test_old.py", "write_scope": ["tests/test_old.py"]},
    "Liar": {"shell": FORGED, "write_scope": ["src/liar.txt"]},
    "Hanger": {
        "shell": "echo x > src/hang.txt; sleep 600",
        "write_scope": ["src/hang.txt"],
        "limits": {"deadline": "3s"},
    },
    "Exiter": {"shell": "echo x > src/exit.txt; exit 1", "write_scope": ["src/exit.txt"]},
    "Idler": {"shell": "true", "write_scope": ["src/idle.txt"]},
    "Linker": {"shell": "ln -s /etc/passwd src/link.txt", "write_scope": ["src/link.txt"]},
}
NAMED = {
    "Outside": ("scope.outside", "src/yours.txt"),
    "Undeclared": ("graph.undeclared_edge", "app/money.py"),
    "Deleter": ("verification.test_removed", "test_old"),
    "Liar": ("claims.false", "src/never.txt"),
    "Hanger": ("worker.deadline", ""),
    "Exiter": ("worker.exit", ""),
    "Idler": ("worker.empty", ""),
    "Linker": ("integrity.symlink", "src/link.txt"),
}


@pytest.mark.parametrize("engine", ["docker", "bubblewrap"], indirect=True)
def test_each_is_rejected_by_name_and_nothing_of_it_goes_further(repo, engine):
    repo.commit(
        "a program with a test",
        {
            "app/money.py": "class Money:\n    pass\n",
            "tests/test_old.py": "def test_old():\n    assert True\n",
        },
    )
    repo.plan(
        WORKERS,
        sandbox=engine,
        modules_map={"Shop/Money": ["app/money.py"]},
        defaults={"limits": {"attempts": 1, "deadline": "2m"}},
    )
    before, base = repo.refs(), repo.tree()

    run = repo.grace("run", "plan.yaml", "--yes", "--json").exits(1)

    assert run.events[-1]["type"] == "run.finished"
    assert run.events[-1]["exit"] == 1
    status = repo.status()
    for module in status["modules"]:
        assert module["state"] == "failed", module
        code, evidence = NAMED[module["id"]]
        findings = module["findings"]
        assert code in {f["code"] for f in findings}, (module["id"], findings)
        assert any(evidence in str(f) for f in findings if f["code"] == code), findings
    after = repo.refs()
    assert {ref: sha for ref, sha in after.items() if "grace" not in ref} == before
    for ref in after:
        if "rescue" not in ref and "attempt" not in ref:
            assert repo.tree(ref) == base, f"{ref} holds work that nobody accepted"
    assert repo.leftovers() == []


def test_the_other_modules_go_on_and_the_phase_does_not_land(repo):
    repo.plan(
        {
            "Bad": {"shell": "exit 1", "write_scope": ["src/bad.txt"]},
            "AfterBad": {"shell": "echo x > src/after.txt", "write_scope": ["src/after.txt"], "depends_on": ["Bad"]},
            "Good": {"shell": "echo x > src/good.txt", "write_scope": ["src/good.txt"]},
        },
        defaults={"limits": {"attempts": 1}},
    )
    head = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    states = {m["id"]: m["state"] for m in repo.status()["modules"]}
    assert states["Bad"] == "failed"
    assert states["AfterBad"] == "cancelled"
    assert states["Good"] not in {"done", "failed"}
    assert repo.head == head


def test_an_optional_module_may_fail(repo):
    repo.plan(
        {
            "Bad": {"shell": "exit 1", "write_scope": ["src/bad.txt"], "optional": True},
            "Good": {"shell": "echo x > src/good.txt", "write_scope": ["src/good.txt"]},
        },
        defaults={"limits": {"attempts": 1}},
    )
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.show("src/good.txt") == "x"


def test_r1_a_commit_of_its_own_hides_nothing(repo):
    shell = (
        "echo x > src/a.txt; echo x > src/b.txt; git init -q . 2>/dev/null; git add -A;"
        " git -c user.name=x -c user.email=x@x commit -qm mine || true"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 1}})
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    assert "scope.outside" in {f["code"] for f in repo.module("A")["findings"]}


def test_r2_work_of_a_failed_attempt_is_kept_and_not_merged(repo):
    shell = "echo precious > src/a.txt; exit 3"
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 1}})
    head = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(1)
    assert repo.head == head
    rescued = [ref for ref in repo.refs() if ref.startswith("refs/grace/rescue/") and "/A/" in ref]
    assert rescued
    assert repo.show("src/a.txt", rescued[-1]) == "precious"


def test_r7_what_it_does_to_git_stays_in_its_sandbox(repo):
    shell = (
        "echo x > src/a.txt; git update-ref refs/heads/main $(git hash-object -t tree /dev/null) 2>/dev/null;"
        " git config --global core.fsmonitor /tmp/evil 2>/dev/null; git config core.hooksPath /tmp 2>/dev/null;"
        " git push origin main 2>/dev/null; true"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}})
    config = (repo.path / ".git" / "config").read_bytes()
    head = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert (repo.path / ".git" / "config").read_bytes() == config
    assert repo.is_ancestor(head, "main")
    assert repo.show("src/a.txt") == "x"


def test_a_finding_is_fed_back_to_the_next_attempt(repo):
    shell = (
        'if grep -q scope[.]outside "$GRACE_PACKET_JSON"; then echo x > src/a.txt;'
        " else echo x > src/a.txt; echo x > src/b.txt; fi"
    )
    repo.plan({"A": {"shell": shell, "write_scope": ["src/a.txt"]}}, defaults={"limits": {"attempts": 2}})
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.module("A")["attempt"] == 2
    assert "src/b.txt" not in repo.files()
