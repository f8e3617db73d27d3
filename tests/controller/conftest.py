"""A repository, a plan of patches, and grace itself in this process, on the in-memory engine."""

import json
import logging
import os
import pkgutil
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sandbox.choose
import sandbox.git.process
from controller import main
from controller.begin import open_context
from controller.context import Context
from controller.run import Loop
from controller.store.records import Records
from controller.store.store import Store
from sandbox.choose import Choice
from sandbox.git import Git
from sandbox.memory import MemorySandbox, Script

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
IDENTITY = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")


class Said(NamedTuple):
    """What one command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    def exits(self, code: int) -> "Said":
        assert self.code == code, f"exit {self.code}, not {code}\n{self.out[-3000:]}\n{self.err[-3000:]}"
        assert "Traceback" not in self.out + self.err
        return self


def _added(path: str, text: str) -> str:
    """A patch that makes one file."""
    body = "".join(f"+{line}\n" for line in text.splitlines())
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(text.splitlines())} @@\n{body}"
    )


def _changed(path: str, before: str, after: str) -> str:
    """A patch that replaces the whole of a short file."""
    old = "".join(f"-{line}\n" for line in before.splitlines())
    new = "".join(f"+{line}\n" for line in after.splitlines())
    counts = f"-1,{len(before.splitlines())} +1,{len(after.splitlines())}"
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ {counts} @@\n{old}{new}"


@dataclass
class World:
    """One repository of a user's, and grace in it."""

    path: Path
    capture: pytest.CaptureFixture[str]
    scripts: dict[str, Script] = field(default_factory=dict)

    # --- git

    def git(self, *args: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *args],
            cwd=cwd or self.path,
            env={**os.environ, **QUIET},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}"
        return done.stdout.decode().strip("\n")

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def commit(self, files: Mapping[str, str] | None = None, message: str = "more") -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def tree(self, rev: str = "HEAD") -> str:
        return self.git("rev-parse", f"{rev}^{{tree}}")

    def files(self, rev: str = "HEAD") -> set[str]:
        return set(self.git("ls-tree", "-r", "--name-only", rev).splitlines())

    def show(self, path: str, rev: str = "HEAD") -> str:
        return self.git("show", f"{rev}:{path}")

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix).splitlines()
        return dict(line.split() for line in lines)

    def subjects(self, rev: str = "main") -> list[str]:
        return self.git("log", "--format=%s", rev).splitlines()

    # --- grace

    def plan(self, modules: Mapping[str, Mapping[str, Any]], **keys: Any) -> Path:
        """Commit a plan. `writes: {path: text}` becomes a patch that adds files, `changes: {path: (old, new)}` another.

        `phase` puts a module into a phase of that name; `checks`, `wave_checks` hold for every phase.
        """
        agents: dict[str, Any] = dict(keys.pop("agents", {}))
        phases: dict[str, dict[str, Any]] = {}
        checks, wave_checks = keys.pop("checks", []), keys.pop("wave_checks", [])
        for module_id, given in modules.items():
            body = {"id": module_id, "purpose": f"Do {module_id}", **given}
            phase = body.pop("phase", "one")
            writes = body.pop("writes", None)
            if writes is not None:
                body["patch"] = "".join(_added(path, text) for path, text in writes.items())
                body.setdefault("write_scope", list(writes))
            if changes := body.pop("changes", None):
                body["patch"] = "".join(_changed(path, *texts) for path, texts in changes.items())
                body.setdefault("write_scope", list(changes))
            if patch := body.pop("patch", None):
                name = module_id.replace("/", "-")
                self.write({f"patches/{name}.diff": patch})
                body["agent"] = name
                agents[name] = {"kind": "patch", "patch": f"patches/{name}.diff"}
            if run := body.pop("run", None):
                name = module_id.replace("/", "-")
                body["agent"] = name
                agents[name] = {"kind": "command", "run": [run]}
            listed = phases.setdefault(
                phase, {"id": phase, "checks": checks, "wave_checks": wave_checks, "modules": []}
            )
            listed["modules"].append(body)
        whole = {"version": 1, "name": "world", **keys, "agents": agents, "phases": list(phases.values())}
        (self.path / "plan.yaml").write_text(json.dumps(whole, indent=1))  # which is YAML, without its aliases
        self.commit(message="the plan")
        return self.path / "plan.yaml"

    def grace(self, *args: str) -> Said:
        """Run one command in this process."""
        self.capture.readouterr()
        code = main.run(list(args))
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def run(self, *args: str) -> Said:
        return self.grace("run", "plan.yaml", "--sandbox", "memory", *args)

    def status(self, *run: str) -> Any:
        return self.grace("status", *run, "--json").exits(0).json

    @property
    def run_id(self) -> str:
        return str(self.status()["run_id"])

    def states(self) -> dict[str, str]:
        status = self.status()
        assert all(m["verified"] for m in status["modules"]), "status says what git does not show"
        return {m["id"]: m["state"] for m in status["modules"]}

    def attempts(self) -> dict[str, int]:
        return {m["id"]: m["attempt"] for m in self.status()["modules"]}

    def events(self) -> list[dict[str, Any]]:
        return self.grace("events", self.run_id, "--json").exits(0).lines

    def types(self) -> list[str]:
        return [e["type"] for e in self.events() if e["type"] != "note"]

    @contextmanager
    def store(self) -> Iterator[Store]:
        store = Store(self.path / ".git/grace/state.db")
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def context(self) -> Iterator[Context]:
        """The newest run's tools, as its actions get them."""
        with Git.discover(self.path) as git, self.store() as store:
            yield open_context(git, store, store.run(None))

    def saga(self) -> list[tuple[str, str, str]]:
        with self.store() as store:
            return [(s.kind, s.module, s.state) for s in Records(store, store.run(None).run_id).saga()]

    def saga_done(self) -> list[tuple[str, str]]:
        """The effects that stand."""
        return [(kind, module) for kind, module, state in self.saga() if state == "done" and kind != "rollback"]

    def agrees(self) -> None:
        """Assert what must hold at any rest: the saga is a chain, and git, saga and status say the same."""
        with self.context() as ctx:
            steps = [s for s in ctx.records.saga() if s.state == "done" and s.kind in {"merge", "sync"}]
            held = {**self.refs(f"refs/grace/runs/{ctx.run_id}"), **self.refs(f"refs/heads/grace/{ctx.run_id}")}
            tips = [commit for ref, commit in held.items() if ref.endswith("/integration")]
            assert len(tips) == 1, held
            rows = ctx.store.modules(ctx.run_id)
            for step, following in pairwise(steps):
                assert step.after == following.before
            assert tips[0] == (steps[-1].after if steps else ctx.run.base_commit)
            merged = {s.module: s.after for s in steps if s.kind == "merge"}
            assert len(merged) == len([s for s in steps if s.kind == "merge"]), "merged once"
            there = {m["module"]: m["commit_id"] for m in rows if m["state"] in {"asleep", "done"}}
            gone = {m["module"] for m in rows if m["state"] == "cancelled"}  # merged, and then the run was cancelled
            assert there == {module: commit for module, commit in merged.items() if module not in gone}
        self.states()

    def leftovers(self) -> list[str]:
        promised = ("refs/grace/runs/", "refs/grace/rescue/", "refs/heads/main")
        left = [ref for ref in self.refs() if not ref.startswith(promised)]
        left += [str(path) for path in self.path.glob(".git/grace/runs/*/work/*")]
        return left + self.status()["leftovers"]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[World]:
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    made = World(tmp_path / "repo", capsys)
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.commit({"README.md": "a repository\n", "src/old.txt": "old\n"}, "the first")
    monkeypatch.chdir(made.path)
    engine = lambda: Choice(MemorySandbox(made.scripts), "memory: scripted")  # noqa: E731
    monkeypatch.setitem(sandbox.choose._CHOICES, "memory", engine)
    yield made
    logging.getLogger("dbos").handlers.clear()  # the engine writes to the stderr of its first launch, which ends here


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A person's end of a terminal; ours is stdin."""
    person, ours = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as raw, open(raw.fileno(), closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield person
    os.close(person)


class Crash(BaseException):
    """The controller dies here."""


@pytest.fixture
def crash() -> type[Crash]:
    return Crash


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Let this process die once, before or after the `nth` call of a function; a thread's death is everybody's."""

    @contextmanager
    def cutting(point: str, side: str, nth: int = 1) -> Iterator[None]:
        owner_name, _, name = point.rpartition(".")
        owner, whole = pkgutil.resolve_name(owner_name), pkgutil.resolve_name(point)
        calls, died = count(1), threading.Event()
        step = Loop._step

        def dying(*args: Any, **named: Any) -> Any:
            number = next(calls)
            if number == nth and side == "before":
                died.set()
                raise Crash
            result = whole(*args, **named)
            if number == nth and side == "after":
                died.set()
                raise Crash
            return result

        def watched(loop: Loop) -> bool:
            if died.is_set():
                raise Crash
            return step(loop)

        with monkeypatch.context() as patch, suppress(Crash):
            patch.setattr(owner, name, dying)
            patch.setattr(Loop, "_step", watched)
            yield
        assert died.is_set()

    return cutting


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be patient with nothing for long: neither grace with the machine, nor git with a lock."""
    monkeypatch.setenv("GRACE_PATIENCE", "0.2")
    place = list(sandbox.git.process._CONFIG).index("core.filesRefLockTimeout")
    monkeypatch.setitem(sandbox.git.process.scrubbed(), f"GIT_CONFIG_VALUE_{place}", "50")


@pytest.fixture
def exists() -> Callable[[str], Script]:
    """Make a check that is green where a file is."""
    return lambda path: lambda mounts, job: 0 if (mounts["/repo"] / path).exists() else 1
