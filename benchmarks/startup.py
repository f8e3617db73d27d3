"""How fast the way in is: `grace --help`, `--version`, `status --json` as ratios to `python -c pass`, min of N."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AIMS = {"--help": 10.0, "--version": 6.0, "status --json": 6.0}
GRACE = Path(sys.executable).with_name("grace")
PLAN = """\
version: 1
name: startup
agents: {a: {kind: patch, patch: a.diff}}
phases: [{id: one, modules: [{id: A, purpose: Add a file, write_scope: [a.txt]}]}]
"""
PATCH = """\
diff --git a/a.txt b/a.txt
new file mode 100644
--- /dev/null
+++ b/a.txt
@@ -0,0 +1 @@
+a
"""


def finished_run(folder: Path) -> None:
    """Make a repository in which one run has ended, so that `status` has something to read."""
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "a.diff").write_text(PATCH)
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "base"],
        [str(GRACE), "run", "plan.yaml", "--sandbox", "memory", "--yes"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def fastest(commands: dict[str, list[str]], folder: Path, rounds: int) -> dict[str, float]:
    """Return seconds for each command; the rounds are interleaved, so that a busy moment hits all of them."""
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, cwd=folder, check=True, capture_output=True, env={**os.environ, "TERM": "dumb"})
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="how often each command is run; the fastest counts")
    rounds = parser.parse_args().rounds
    commands = {"floor": [sys.executable, "-c", "pass"]} | {a: [str(GRACE), *a.split()] for a in AIMS}
    with tempfile.TemporaryDirectory() as scratch:
        finished_run(Path(scratch))
        best = fastest(commands, Path(scratch), rounds)
    print(f"python -c pass        {best['floor'] * 1000:7.1f} ms")
    missed = 0
    for arguments, aim in AIMS.items():
        ratio = best[arguments] / best["floor"]
        missed += ratio > aim
        took = best[arguments] * 1000
        verdict = "within" if ratio <= aim else "misses"
        print(f"grace {arguments:<15} {took:7.1f} ms   ratio {ratio:5.2f}   {verdict} the aim of {aim:g}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
