"""One world to crash in: a repository in the middle of somebody's work, lives of the controller, and what must hold.

`World.life` is one command, killed at a fault point if it is told one. What must hold afterwards is said once, in
`World.wrong`: the same trees and commits as nobody had killed anything, everything done once, nothing left over.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

KILLED = -signal.SIGKILL
FULL = os.environ.get("GRACE_CRASH") == "all"
ONCE = ("attempt.judged", "merge.done", "undo.done", "refresh.done", "landing.done", "after.done", "run.finished")


class Life(NamedTuple):
    """How one command ended, the fault points that it passed, and all that it said."""

    code: int
    points: list[str]
    said: str


class Command(NamedTuple):
    """One command of a scenario: its words (`RUN` is the run's id), the exit codes that are right, what repeats it."""

    words: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    again: tuple[str, ...] = ()


@dataclass
class World:
    """A repository at `path`, a server of lives, and beside it what is no part of the repository."""

    path: Path
    server: Any
    verbs: Any
    env: dict[str, str] = field(default_factory=dict)
    shelf: dict[str, Path] = field(default_factory=dict)
    lives: int = 0
    named: str = ""

    @property
    def repo(self) -> Any:
        return self.verbs.Repo(self.path)

    @property
    def beside(self) -> Path:
        return self.path.parent / "beside"

    @property
    def worked(self) -> Path:
        return self.beside / "worked"

    @property
    def scratch(self) -> Path:
        return self.beside / "tmp"

    # --- what there is before

    def begin(self) -> None:
        """Make a repository in which somebody is at work: edits, staged and not, a stash, files that git ignores."""
        repo = self.repo
        self.path.mkdir(parents=True)
        self.scratch.mkdir(parents=True)
        repo.git("init", "-q", "-b", "main")
        mine = {"mine/edited.txt": "before\n", "mine/staged.txt": "before\n", "mine/stashed.txt": "before\n"}
        repo.commit("the first", {"README.md": "x\n", "src/old.txt": "old\n", ".gitignore": "*.log\n", **mine})

    def works(self) -> None:
        """Leave the work of a person in the checkout."""
        repo = self.repo
        repo.write({"mine/stashed.txt": "stashed\n"})
        repo.git("stash", "-q")
        repo.write(
            {"mine/edited.txt": "edited\n", "mine/staged.txt": "staged\n", "mine/new.txt": "new\n", "a.log": "x"}
        )
        repo.git("add", "mine/staged.txt")

    def keep(self, name: str) -> None:
        """Put all of it on the shelf under a name."""
        self.shelf[name] = self.path.parent / f"shelf-{name}"
        shutil.copytree(self.path.parent / "repo", self.shelf[name] / "repo", symlinks=True)
        shutil.copytree(self.beside, self.shelf[name] / "beside", symlinks=True)

    def take(self, name: str) -> None:
        """Make it as it was when it was put there."""
        for part in ("repo", "beside"):
            shutil.rmtree(self.path.parent / part, ignore_errors=True)
            shutil.copytree(self.shelf[name] / part, self.path.parent / part, symlinks=True)

    # --- lives

    def life(self, *words: str, crash: str = "none", **env: str) -> Life:
        """Run one command to its end, or until it is killed at the fault point."""
        self.lives += 1
        trace = self.beside / "trace"
        trace.unlink(missing_ok=True)
        given = {"GRACE_CRASH_AT": crash, "GRACE_CRASH_TRACE": str(trace), "TMPDIR": str(self.scratch)}
        given |= {"GRACE_TEST_WORKED": str(self.worked), **self.env, **env}
        self.named = self.run or self.named
        words = tuple(self.named if word == "RUN" else word for word in words)
        ended = self.server.live(self.path, words, given, None, self.verbs.PATIENCE)
        points = trace.read_text().splitlines() if trace.exists() else []
        return Life(ended["code"], points, ended["out"] + ended["err"])

    @property
    def run(self) -> str:
        """The newest run's id; empty where no run is written down."""
        found = self.rows("SELECT run_id FROM runs ORDER BY created_at DESC, rowid DESC LIMIT 1")
        return str(found[0][0]) if found else ""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Read our tables; none without a database that is whole."""
        path = self.path / ".git" / "grace" / "state.db"
        if not path.exists():
            return []
        with sqlite3.connect(path) as db:
            try:
                found = db.execute(sql).fetchall()
            except sqlite3.OperationalError:
                found = []
        db.close()
        return found

    # --- what there is afterwards

    def mine(self) -> dict[str, str]:
        """Everything of the person's in the checkout: HEAD, index, edits, stash, files that git does not know."""
        repo = self.repo
        new = {str(p.relative_to(self.path)): p.read_text() for p in (self.path / "mine").iterdir()}
        asked = {
            "head": ("symbolic-ref", "HEAD"), "main": ("rev-parse", "main"), "index": ("ls-files", "-s"),
            "status": ("--no-optional-locks", "status", "--porcelain", "-uall", "--ignored"),
            "stash": ("stash", "list"), "edits": ("diff",), "staged": ("diff", "--cached"),
            "config": ("config", "--local", "--list"),
        }  # fmt: skip
        found = {name: repo.git(*words) for name, words in asked.items()}
        found["status"] = "\n".join(line for line in found["status"].splitlines() if ".grace" not in line)
        return found | {"files": json.dumps(new, sort_keys=True)}

    def outcome(self) -> dict[str, Any]:
        """All that must be the same whatever was killed; the run's id is taken out of it."""
        repo, run = self.repo, self.run
        form = "%T%x00%an <%ae>%x00%cn <%ce>%x00%B%x01"
        log = re.sub("[0-9a-f]{40}", "COMMIT", repo.git("log", "--first-parent", f"--format={form}", "main"))
        mine = {name: text for name, text in self.mine().items() if name != "main"}
        refs = {ref: repo.tree(commit) for ref, commit in repo.refs().items() if "/rescue/" not in ref}
        rows = {
            "modules": "SELECT module, state, attempt, reverted, wave, phase FROM modules ORDER BY place",
            "packets": "SELECT module, attempt, packet_id FROM attempts ORDER BY module, attempt",
            "runs": "SELECT state, exit FROM runs",
            "saga": "SELECT kind, module, wave, phase, state FROM saga WHERE kind != 'rollback' ORDER BY n",
            "open": "SELECT subject FROM approvals WHERE state='open'",
        }
        told = Counter(
            f"{kind} {module} {attempt} {json.loads(data).get('decision', '')}"
            for kind, module, attempt, data in self.rows("SELECT type, module, attempt, data FROM events")
            if kind in ONCE
        )
        found = {
            "log": log,
            "refs": refs,
            "mine": mine,
            "told": dict(told),
            **{n: self.rows(s) for n, s in rows.items()},
        }
        return json.loads(json.dumps(found).replace(run, "RUN") if run else json.dumps(found))

    def rescued(self) -> set[str]:
        """The rescue refs, without the run's id."""
        return {ref.replace(self.run, "RUN") for ref in self.repo.refs() if "/rescue/" in ref}

    def leftovers(self) -> list[str]:
        """Everything that nobody promised would stay."""
        left = [str(path) for path in self.scratch.iterdir()]
        git = self.path / ".git"
        for pattern in ("**/*.lock", "grace/runs/**/*.aside", "grace/runs/**/*.new", "info/exclude.*", "**/tmp_*"):
            left += [str(path) for path in git.glob(pattern) if path.name != "submit.lock"]
        live = self.rows("SELECT 1 FROM runs WHERE state NOT IN ('done', 'failed', 'cancelled')")
        left += [what for what in self.repo.leftovers() if not (live and what.startswith("refs/heads/grace/"))]
        return left + processes(str(self.path), self.run) + docker_left(self.run)

    def twice(self) -> list[str]:
        """Name the attempts that were given more than one packet, and the modules that were merged more than once."""
        issued = defaultdict(set)
        for line in self.worked.read_text().splitlines() if self.worked.exists() else ():
            module, attempt, packet = line.split()
            issued[f"{module} {attempt}"].add(packet)
        for module, attempt, data in self.rows("SELECT module, attempt, data FROM events WHERE type='attempt.started'"):
            issued[f"{module} {attempt}"].add(json.loads(data)["packet_id"])
        found = [f"{attempt} has {len(packets)} packets" for attempt, packets in issued.items() if len(packets) > 1]
        landed = self.repo.git("log", "--format=%(trailers:key=Grace-Module,valueonly)", "main").split()
        landed = [module for module in landed if f"Revert {module}" not in self.repo.git("log", "--format=%s", "main")]
        return found + [f"{module} landed {n} times" for module, n in Counter(landed).items() if n > 1]


def processes(*words: str) -> list[str]:
    """Name the processes whose command line or marked environment speaks of one of the words."""
    found = []
    for proc in Path("/proc").iterdir():
        if proc.name.isdecimal() and int(proc.name) != os.getpid():
            try:
                line = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if line and any(word and word in line for word in words):
                found.append(f"process {proc.name}: {line[:120]}")
    return found


def docker_left(run: str) -> list[str]:
    """Name the containers, networks and volumes of a run, in any status."""
    if not run or shutil.which("docker") is None:
        return []
    found = []
    for kind in (("ps", "-a"), ("network", "ls"), ("volume", "ls")):
        asked = ["docker", *kind, "--filter", f"label=grace.run={run}", "-q"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        found += [f"{kind[0]} {name}" for name in done.stdout.split()]
    return found


def plan(
    modules: dict[str, dict[str, Any]],
    *,
    checks: Sequence[str] = ("all is green",),
    wave_checks: bool = False,
    **keys: Any,
) -> str:
    """Return a plan in which every module is built by `act` (see lives.py), unless it says otherwise."""
    phases: dict[str, dict[str, Any]] = {}
    for module, given in modules.items():
        body = {"id": module, "purpose": f"Do {module}", "agent": "act", "write_scope": [f"src/{module.lower()}.txt"]}
        body |= {key: value for key, value in given.items() if key != "phase"}
        waves = {"wave_checks": ["all is green"]} if wave_checks else {}
        phase = phases.setdefault(given.get("phase", "one"), {"checks": list(checks), **waves, "modules": []})
        phase["modules"].append(body)
    whole = {
        "version": 1, "name": "crash", "agents": {"act": {"kind": "command", "run": ["act"]}},
        "defaults": {"agent": "act", "limits": {"attempts": 3}}, **keys,
        "phases": [{"id": name, **body} for name, body in phases.items()],
    }  # fmt: skip
    return yaml.safe_dump(whole, sort_keys=False)


class Crash(NamedTuple):
    """Where a scenario is killed: in which of its lives, and at which fault point of that life."""

    life: int
    point: str


@dataclass(frozen=True)
class Scenario:
    """What is done to the repository on the shelf `start`: commands in order, each repeated when it was killed.

    `answers` says yes to whatever the run asks afterwards, until it is over. `may_differ` names what a crash may change
    in the outcome, with the reason beside it.
    """

    start: str
    commands: tuple[Command, ...]
    answers: bool = False
    may_differ: frozenset[str] = frozenset()


RUN = ("run", "plan.yaml", "--sandbox", "memory", "--max-workers", "2")
RESUME = ("resume", "RUN")


@dataclass
class Calm:
    """A scenario that nobody disturbed: what it came to, and the fault points of each life."""

    outcome: dict[str, Any]
    rescued: set[str]
    lives: list[list[str]]

    @property
    def points(self) -> list[Crash]:
        """Every point, each at the first time that it is reached."""
        found: dict[str, Crash] = {}
        for number, points in enumerate(self.lives):
            for point in points:
                found.setdefault(point, Crash(number, f"{point}:1"))
        return list(found.values())

    @property
    def everything(self) -> list[Crash]:
        """Every point at every time that it is reached, in order."""
        found = []
        for number, points in enumerate(self.lives):
            seen: Counter[str] = Counter()
            for point in points:
                seen[point] += 1
                found.append(Crash(number, f"{point}:{seen[point]}"))
        return found

    def at(self, point: str) -> Crash:
        return next(crash for crash in self.points if crash.point == f"{point}:1")


def play(world: World, scenario: Scenario, crashes: tuple[Crash, ...] = ()) -> list[Life]:
    """Play a scenario; whatever is killed is repeated as a person would. Returns the lives."""
    world.take(scenario.start)
    world.named = world.run
    lives: list[Life] = []
    pending = list(crashes)
    before = world.mine()

    def live(words: tuple[str, ...]) -> Life:
        # Numbers count the lives of the undisturbed run; what a crash adds is killed where the next one says.
        crash = pending.pop(0) if pending and (pending[0].life in {len(lives), ANY}) else None
        lives.append(world.life(*words, crash=crash.point if crash else "none"))
        assert "Traceback" not in lives[-1].said, lives[-1].said[-3000:]
        if lives[-1].code == KILLED:
            untouched(world, before, lives)
        return lives[-1]

    for command in scenario.commands:
        life = live(command.words)
        while life.code == KILLED:
            life = live(command.again if command.again and world.run else command.words)
        assert life.code in command.codes, f"{command.words} exits {life.code}\n{life.said[-3000:]}"
    while scenario.answers and lives[-1].code != 0:
        assert len(lives) < MOST, lives[-1].said[-3000:]
        subject = world.rows("SELECT subject FROM approvals WHERE state='open' ORDER BY asked_at, rowid")[0][0]
        live(("approve", "RUN", str(subject)))
        while live(RESUME).code == KILLED:
            pass
    return lives


ANY = -1
MOST = 40
LANDING = frozenset({"checkout.land.before", "ref.land.before"})
TOUCHING = LANDING | {"checkout.revert.before", "ref.revert.before", "plan.write.before"}


def untouched(world: World, before: dict[str, str], lives: list[Life]) -> None:
    """Hold the person's checkout to what it was, until the first life that lands, reverts, or writes a plan."""
    if not any(TOUCHING & set(life.points) for life in lives):
        assert world.mine() == before


def calm(world: World, scenario: Scenario) -> Calm:
    """Play a scenario that nobody disturbs."""
    lives = play(world, scenario)
    assert not world.leftovers()
    return Calm(world.outcome(), world.rescued(), [life.points for life in lives])


def faults(world: World, scenario: Scenario, quiet: Calm, lives: list[Life]) -> list[str]:
    """Say what is not as it is when nobody is killed; nothing when all of it is."""
    found, expected = world.outcome(), quiet.outcome
    differ = [key for key in found if found[key] != expected[key] and key not in scenario.may_differ]
    wrong = [f"{key}: {found[key]} instead of {expected[key]}" for key in differ]
    wrong += [f"left over: {what}" for what in world.leftovers()] + world.twice()
    wrong += [f"lost: {ref}" for ref in quiet.rescued - world.rescued()]
    return [*wrong, lives[-1].said[-1500:]] if wrong else []
