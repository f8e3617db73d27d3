"""The product's own verbs as helpers: a fresh repository, a plan, the installed command, and what it left behind."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GRACE = Path(sys.executable).with_name("grace")
PATIENCE = 180.0  # seconds; a command that takes longer hangs


@dataclass(frozen=True)
class Result:
    """One finished command."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    def exits(self, code: int) -> "Result":
        """Assert the exit code and that nobody saw a traceback."""
        assert "Traceback" not in self.said, self.said[-4000:]
        assert self.code == code, f"exit {self.code}, not {code}\n{self.out[-3000:]}\n{self.err[-3000:]}"
        return self


def environment(**extra: str) -> dict[str, str]:
    """The caller's environment without anybody's git configuration, and without colour."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GRACE_"))}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", "TERM": "dumb"}
    return {**kept, **quiet, **extra}


def grace(*args: str | Path, cwd: Path, timeout: float = PATIENCE, **env: str) -> Result:
    """Run the installed console script without a terminal."""
    done = subprocess.run(
        [str(GRACE), *map(str, args)],
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@dataclass
class Repo:
    """A git repository of the user's."""

    path: Path
    started: list[tuple["subprocess.Popen[str]", threading.Timer]] = field(default_factory=list)

    @property
    def errors(self) -> Path:
        """Where started commands that print JSON write their words."""
        return self.path.with_suffix(".err")

    def git(self, *args: str, cwd: Path | None = None) -> str:
        identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@localhost"]
        done = subprocess.run(
            ["git", *identity, *args], cwd=cwd or self.path, env=environment(), capture_output=True, check=False
        )
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}"
        return done.stdout.decode(errors="surrogateescape").strip("\n")

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def commit(self, message: str = "more", files: Mapping[str, str] | None = None) -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def tree(self, rev: str = "HEAD") -> str:
        return self.git("rev-parse", f"{rev}^{{tree}}")

    def show(self, path: str, rev: str = "HEAD") -> str:
        return self.git("show", f"{rev}:{path}")

    def files(self, rev: str = "HEAD") -> set[str]:
        return set(self.git("ls-tree", "-r", "--name-only", "-z", rev).split("\0")) - {""}

    def is_ancestor(self, commit: str, of: str) -> bool:
        asked = subprocess.run(["git", "merge-base", "--is-ancestor", commit, of], cwd=self.path, check=False)
        return asked.returncode == 0

    def refs(self) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split() for line in lines)

    def grace(self, *args: str | Path, timeout: float = PATIENCE, **env: str) -> Result:
        return grace(*args, cwd=self.path, timeout=timeout, **env)

    def start(self, *args: str | Path, **env: str) -> "subprocess.Popen[str]":
        """Start the command in a process group of its own; the fixture ends what a test leaves running."""
        with self.errors.open("a") as errors:
            process = subprocess.Popen(
                [str(GRACE), *map(str, args)],
                cwd=self.path,
                env=environment(**env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors if "--json" in args else subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        watchdog = threading.Timer(PATIENCE, process.kill)
        watchdog.daemon = True
        watchdog.start()
        self.started.append((process, watchdog))
        return process

    def status(self, *run: str) -> Any:
        return self.grace("status", *run, "--json").exits(0).json

    def module(self, module_id: str, *run: str) -> dict[str, Any]:
        return next(m for m in self.status(*run)["modules"] if m["id"] == module_id)

    def plan(self, modules: Mapping[str, Mapping[str, Any]], name: str = "plan.yaml", **keys: Any) -> Path:
        """Write and commit a plan of one phase. A module's `shell` line becomes a command agent of its own."""
        agents, listed = dict(keys.pop("agents", {})), []
        for module_id, given in modules.items():
            body = {"id": module_id, "purpose": f"Do {module_id}", **given}
            if shell := body.pop("shell", None):
                body["agent"] = module_id.replace("/", "-")
                agents[body["agent"]] = {"kind": "command", "run": ["sh", "-c", shell]}
            listed.append(body)
        phase = {"id": "one", "checks": keys.pop("checks", []), "modules": listed}
        whole = {"version": 1, "name": "e2e", "sandbox": "bubblewrap", **keys, "agents": agents, "phases": [phase]}
        (self.path / name).write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True))
        self.commit("the plan")
        return self.path / name

    def leftovers(self) -> list[str]:
        """Everything of any run that may not be there once the run has ended."""
        promised = ("refs/grace/runs/", "refs/grace/rescue/")
        left = [ref for ref in self.refs() if "grace" in ref and not ref.startswith(promised)]
        left += [str(path) for path in self.path.glob(".git/grace/runs/*/work/*")]
        left += self.git("worktree", "list", "--porcelain").split("\n\n")[1:]
        left += [line for line in self.git("status", "--porcelain").splitlines() if ".grace" in line]
        runs = {path.name for path in self.path.glob(".git/grace/runs/*")}
        return left + [name for run in runs for name in containers(run)]


def containers(run_id: str) -> list[str]:
    """Name the containers of a run, in any state."""
    docker = shutil.which("docker")
    if docker is None:
        return []
    listed = subprocess.run(
        [docker, "ps", "-a", "--filter", f"label=grace.run={run_id}", "--format", "{{.Names}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return listed.stdout.split()


@pytest.fixture
def new_repo(tmp_path: Path) -> Iterator[Callable[[str], Repo]]:
    made: list[Repo] = []

    def make(name: str = "repo") -> Repo:
        repo = Repo(tmp_path / name)
        repo.path.mkdir()
        repo.git("init", "-q", "-b", "main")
        repo.commit("the first", {"README.md": "a repository\n", "src/old.txt": "old\n"})
        made.append(repo)
        return repo

    yield make
    for repo in made:
        for process, watchdog in repo.started:
            watchdog.cancel()
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine that is there; parametrise it indirectly."""
    if request.param == "docker":
        request.getfixturevalue("docker_engine")
    return str(request.param)


@pytest.fixture
def repo(new_repo: Callable[[str], Repo]) -> Repo:
    return new_repo("repo")


@pytest.fixture
def new_shop(new_repo: Callable[[str], Repo]) -> Callable[[str], Repo]:
    """Make the bundled example a fresh repository."""

    def make(name: str) -> Repo:
        repo = new_repo(name)
        shutil.rmtree(repo.path / "src")
        ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache")
        shutil.copytree(ROOT / "examples" / "coupons", repo.path, dirs_exist_ok=True, ignore=ignored)
        repo.commit("a small shop")
        return repo

    return make
