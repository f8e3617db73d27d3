"""Pushes and hooks after a landing, killed with the installed command at every point, and never repeated unasked."""

import os
import signal
import subprocess
import time

import pytest

PATIENCE = 60.0
WAIT = "until [ -e ../go ]; do sleep 0.05; done"
HOOK = f'echo "$GRACE_IDEMPOTENCY_KEY" >> ../hooked; touch ../begun; {WAIT}; echo "$$" >> ../ended'
PATCH = "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+a\n"


@pytest.fixture
def landed(repo, tmp_path):
    """Land a phase with a push and a hook to be asked about."""

    def make(hook=HOOK):
        repo.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
        repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
        repo.write({"a.diff": PATCH})
        module = {"A": {"write_scope": ["src/a.txt"], "agent": "gold"}}
        agents = {"gold": {"kind": "patch", "patch": "a.diff"}}
        repo.plan(module, agents=agents, push="origin", on_landed=[hook])
        repo.grace("run", "plan.yaml", "--sandbox", "memory", "--yes").exits(4)
        assert repo.show("src/a.txt") == "a"
        return repo

    return make


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def until(seen):
    deadline = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def pushed(tmp_path):
    asked = ["git", "-C", tmp_path / "remote.git", "rev-parse", "--verify", "-q", "main"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def test_killed_in_the_middle_of_a_hook_it_is_asked_about_again_and_says_what_still_runs(landed, tmp_path):
    repo = landed()
    run = repo.status()["run_id"]
    repo.grace("approve", run, "hook:one:1").exits(0)
    process = repo.start("resume", run, "--json")
    until((tmp_path / "begun").exists)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    repo.grace("resume", run).exits(4)
    question = next(q for q in repo.status()["approvals"] if q["subject"] == "hook:one:1")
    assert "begun and not seen to end; it may have run; process " in question["last"]
    assert len(lines(tmp_path / "hooked")) == 1, "not repeated"
    (tmp_path / "go").touch()
    until(lambda: lines(tmp_path / "ended"))
    assert lines(tmp_path / "ended")[0] in question["last"], "what was begun came to its own end"

    repo.grace("reject", run, "push:one").exits(0)
    repo.grace("approve", run, "hook:one:1").exits(0)
    repo.grace("resume", run).exits(0)
    assert lines(tmp_path / "hooked") == [f"{run}/one/hook/1", f"{run}/one/hook/1/1"]
    assert pushed(tmp_path) == ""
    assert repo.leftovers() == []


def test_a_run_that_is_paused_stops_its_hook_and_asks(landed, tmp_path):
    repo = landed()
    run = repo.status()["run_id"]
    repo.grace("approve", run, "hook:one:1").exits(0)
    process = repo.start("resume", run, "--json")
    until((tmp_path / "begun").exists)
    repo.grace("pause", run).exits(0)
    process.wait(PATIENCE)
    (tmp_path / "go").touch()
    repo.grace("resume", run).exits(4)
    question = next(q for q in repo.status()["approvals"] if q["subject"] == "hook:one:1")
    assert "was stopped in the middle, because the run was" in question["last"]
    assert (len(lines(tmp_path / "hooked")), lines(tmp_path / "ended")) == (1, [])


def test_killed_between_a_hook_and_its_record_it_is_not_repeated(landed, tmp_path):
    repo = landed(HOOK.replace(WAIT, "true"))
    run = repo.status()["run_id"]
    repo.grace("approve", run, "hook:one:1").exits(0)
    assert repo.grace("resume", run, GRACE_CRASH_AT="hook.run.after").code == -signal.SIGKILL
    repo.grace("resume", run).exits(4)
    assert len(lines(tmp_path / "hooked")) == 1
    question = next(q for q in repo.status()["approvals"] if q["subject"] == "hook:one:1")
    assert "it may have run" in question["last"]


def test_killed_between_a_push_and_its_record_it_is_known_as_done(landed, tmp_path):
    repo = landed()
    run = repo.status()["run_id"]
    repo.grace("approve", run, "push:one").exits(0)
    assert repo.grace("resume", run, GRACE_CRASH_AT="push.after").code == -signal.SIGKILL
    assert pushed(tmp_path) == repo.head
    repo.grace("resume", run).exits(4)
    assert pushed(tmp_path) == repo.head
    assert [q["subject"] for q in repo.status()["approvals"]] == ["hook:one:1"], "the push was not asked about again"
    assert lines(tmp_path / "hooked") == []
