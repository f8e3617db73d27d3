"""What is refused before anything is created: plans, repositories, machines."""

import pytest

BROKEN = """\
version: 1
name: broken
colour: red
agents:
  a: {kind: patch, patch: a.diff}
  b: {kind: dance}
phases:
  - id: one
    modules:
      - {id: A, purpose: Do A, agent: a, write_scope: [src/a.txt], depends_on: [Nobody]}
      - {id: B, purpose: Do B, agent: a, write_scope: [../outside.txt]}
      - {id: A, purpose: Do A again, agent: a, write_scope: [src/c.txt]}
"""
NOWHERE = "unix:///nonexistent/docker.sock"


def test_five_faults_are_five_lines(repo):
    repo.commit("broken", {"plan.yaml": BROKEN, "a.diff": ""})
    before = repo.refs()
    for command in (["plan", "check", "plan.yaml"], ["run", "plan.yaml", "--yes"]):
        said = repo.grace(*command).exits(2).said
        lines = [line for line in said.splitlines() if line.startswith("plan.yaml:")]
        assert len(lines) == 5, said
        for line, number in zip(lines, [3, 6, 10, 11, 12], strict=True):
            assert line.startswith(f"plan.yaml:{number}:"), line
    assert repo.refs() == before
    assert not (repo.path / ".git" / "grace").exists()
    assert not (repo.path / ".grace").exists()


def test_five_faults_as_json(repo):
    repo.commit("broken", {"plan.yaml": BROKEN, "a.diff": ""})
    problems = repo.grace("plan", "check", "plan.yaml", "--json").exits(2).json
    assert len(problems) == 5
    assert {"file", "line", "column", "code", "message", "hint"} == set(problems[0])


def test_r9_two_modules_that_write_one_file(repo):
    repo.plan({m: {"shell": "true", "write_scope": ["src/one.txt"]} for m in ("First", "Second")})
    said = repo.grace("plan", "check", "plan.yaml").exits(2).said
    assert "src/one.txt" in said
    assert "First" in said
    assert "Second" in said
    assert "depends_on" in said, "the line to add is named"


def test_f6_docker_was_asked_for_and_is_not_there(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}, sandbox="docker")
    before = repo.refs()
    result = repo.grace("run", "plan.yaml", "--yes", DOCKER_HOST=NOWHERE).exits(3)
    lines = result.err.strip().splitlines()
    assert "docker" in lines[-2].lower()
    assert lines[-2].startswith("grace: ")
    assert lines[-1].startswith("  hint: ")
    assert repo.refs() == before


def test_auto_says_which_engine_and_why(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}, sandbox="auto")
    said = repo.grace("run", "plan.yaml", "--yes", DOCKER_HOST=NOWHERE).exits(0).said
    assert "bubblewrap" in said
    assert "docker" in said.lower()


def test_b5_a_repository_without_a_commit(tmp_path, repo, new_repo):
    plan = repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    empty = new_repo("empty")
    empty.git("update-ref", "-d", "refs/heads/main")
    said = empty.grace("run", plan, "--yes").exits(2).err
    assert "commit" in said


def test_b5_no_repository(tmp_path, repo):
    plan = repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    folder = type(repo)(tmp_path / "folder")
    folder.path.mkdir()
    said = folder.grace("run", plan, "--yes", GIT_CEILING_DIRECTORIES=str(tmp_path)).exits(2).err
    assert "repository" in said


def test_b5_a_bare_repository(tmp_path, repo):
    plan = repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = type(repo)(tmp_path / "bare.git")
    assert "bare" in bare.grace("run", plan, "--yes").exits(2).err


def test_b4_a_detached_head_needs_a_base(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    repo.git("checkout", "-q", "--detach")
    result = repo.grace("run", "plan.yaml", "--yes").exits(2)
    assert "detached" in result.err
    assert "base" in result.err


def test_b4_a_detached_head_with_a_base(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}}, base="main")
    repo.git("checkout", "-q", "--detach")
    detached = repo.head
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.head == detached
    assert not (repo.path / "src" / "a.txt").exists(), "the user's tree stays where it was"
    assert repo.show("src/a.txt", "main") == "x"


@pytest.mark.parametrize("command", [["run", "nothing.yaml"], ["plan", "check", "nothing.yaml"]])
def test_what_is_not_there_is_said_in_one_line(repo, command):
    result = repo.grace(*command).exits(2)
    assert result.err.startswith("grace: ")
    assert command[-1] in result.err


def test_waiting_without_a_terminal_says_the_next_command(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    head = repo.head
    result = repo.grace("run", "plan.yaml").exits(4)
    assert "grace approve" in result.said
    assert repo.module("A")["state"] == "waiting"
    assert repo.head == head
    run = repo.status()["run_id"]
    assert "no-such-run" in repo.grace("status", "no-such-run").exits(2).err
    for _ in range(2):  # the wave, then the landing; both are given while no controller runs
        repo.grace("approve", run).exits(0)
        result = repo.grace("resume", run)
        if result.code == 0:
            break
        result.exits(4)
    result.exits(0)
    assert repo.show("src/a.txt") == "x"
    assert repo.leftovers() == []


def test_dry_run_creates_nothing(repo):
    repo.plan({"A": {"shell": "echo x > src/a.txt", "write_scope": ["src/a.txt"]}})
    before = repo.refs()
    said = repo.grace("run", "plan.yaml", "--dry-run").exits(0).out
    assert "execution_packet" in said
    assert repo.refs() == before
    assert not (repo.path / ".grace").exists()
    assert repo.grace("status").code == 2
