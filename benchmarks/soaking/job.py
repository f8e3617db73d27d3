"""A repository with a plan of many small modules, and what an undisturbed run of it comes to.

Every module writes one file, which says for which attempt and from which packet it was made; a few fail their first
attempt. So the landed tree tells by itself whether each piece of work is there, is whole, and is the one of the record.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

PHASES = 4
WAVES = 5  # in each phase
FLAKY = 12  # every so manieth module fails its first attempt
EDITED, NOTES = "README.md", "notes.txt"
"""What the user has in the checkout that no run may touch: an edit that is not committed, a file that is not known."""


@dataclass(frozen=True)
class Module:
    """One module of the plan; `seconds` its worker takes, `attempts` it needs."""

    name: str
    phase: int
    needs: tuple[str, ...]
    seconds: float
    attempts: int

    @property
    def path(self) -> str:
        """The file that it writes."""
        return f"out/{self.name}.txt"

    @property
    def shell(self) -> str:
        """The worker: a half-done file first, so that a tree taken too early shows."""
        fails = '[ "$GRACE_ATTEMPT" = 1 ] && exit 3; ' if self.attempts > 1 else ""
        packet = """$(grep -o 'sha256:[0-9a-f]*' "$GRACE_PACKET_JSON" | head -n 1)"""
        return (
            f"echo half-done > {self.path}; sleep {self.seconds}; {fails}"
            f'echo "{self.name} $GRACE_ATTEMPT {packet}" > {self.path}'
        )

    @property
    def check(self) -> str:
        """What proves it."""
        return f"grep -q '^{self.name} ' {self.path}"


def modules(count: int) -> list[Module]:
    """Return the modules: phases of waves, each module needing one or two of the wave before."""
    made: list[Module] = []
    size = max(1, count // (PHASES * WAVES))
    for number in range(count):
        phase = min(number * PHASES // count, PHASES - 1)
        first = next((i for i, m in enumerate(made) if m.phase == phase), number)
        place = number - first
        above = [first + place - size, first + place - size - 1] if place >= size else []
        needs = tuple(made[i].name for i in above[: 1 + number % 2] if first <= i < number)
        made.append(Module(f"m{number:03}", phase, needs, (number * 7 % 10) / 10, 2 if number % FLAKY == 1 else 1))
    return made


def plan(listed: list[Module]) -> str:
    """Return the plan (JSON is YAML)."""
    agents = {m.name: {"kind": "command", "run": ["sh", "-c", m.shell]} for m in listed}
    phases = []
    for phase in sorted({m.phase for m in listed}):
        mine = [
            {
                "id": m.name, "agent": m.name, "purpose": f"Write {m.name}", "write_scope": [m.path],
                "depends_on": list(m.needs), "verification": {"module_local_checks": [m.check]},
            }
            for m in listed if m.phase == phase
        ]  # fmt: skip
        phases.append({"id": f"phase-{phase}", "modules": mine})
    defaults = {"limits": {"attempts": 3, "deadline": "10m"}}
    whole = {
        "version": 1,
        "name": "soak",
        "sandbox": "docker",
        "defaults": defaults,
        "agents": agents,
        "phases": phases,
    }
    return json.dumps(whole, indent=1)


def environment(**extra: str) -> dict[str, str]:
    """Return the caller's environment without anybody's git configuration."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "GRACE_"))}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", "TERM": "dumb"}
    return {**kept, **quiet, **extra}


def git(folder: Path, *args: str) -> str:
    """Run one git command."""
    done = subprocess.run(["git", *args], cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"git {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def repository(folder: Path, listed: list[Module]) -> None:
    """Make the user's repository, with the edits in its checkout that no run may touch."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "soak")
    git(folder, "config", "user.email", "soak@localhost")
    (folder / EDITED).write_text("a repository\n")
    (folder / "plan.yaml").write_text(plan(listed))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    (folder / EDITED).write_text("a repository, edited by its owner\n")
    (folder / NOTES).write_text("the owner's notes\n")
