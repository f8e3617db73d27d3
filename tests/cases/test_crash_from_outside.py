"""Kills from outside, at system calls, so that a point that nobody thought of is hit as well.

strace lets a process die with its N-th rename, unlink, link, mkdir, fsync or write to a database: the controller, over
growing N; one of its gits, where it stands in for `git` on the path; or both at once, as when a machine goes down.
Every commit tries places that are spread evenly; `GRACE_CRASH=all` tries every one (half an hour).
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = "rename,renameat,renameat2,link,linkat,symlink,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync"
WRITES = f"{CALLS},ftruncate,pwrite64"
DIFF = "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+a\n"
PLACES = 8
"""How many places each test tries."""
GIT = """#!/bin/sh
# Stands in for git: counts its processes, and lets the one that was chosen die at a system call, and its parent too.
k=$(flock "{folder}/lock" sh -c 'n=$(($(cat "{folder}/count") + 1)); echo $n > "{folder}/count"; echo $n')
. "{folder}/wanted"
if [ "$WANTED" = all ]; then exec strace -f -qq -o "{folder}/seen/$k" -e trace={calls} {git} "$@"; fi
[ "$k" = "$WANTED" ] || exec {git} "$@"
echo "$@" > "{folder}/victim"
strace -f -qq -o /dev/null -e trace={calls} -e inject={calls}:signal=KILL:when=$WHEN {git} "$@"
code=$?
[ -z "$BOTH" ] || kill -9 $PPID
[ "$code" -lt 128 ] || kill -9 $$
exit $code
"""


@pytest.fixture(scope="module")
def strace():
    """Give strace, installed where that can be done without asking anybody; CI never goes without."""
    if not shutil.which("strace") and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True, check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "strace"]
        subprocess.run(install, capture_output=True, check=False)
    works = shutil.which("strace") is not None
    works = works and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode == 0
    if not works and os.environ.get("CI") == "true":
        pytest.fail("CI=true and no strace that works: apt-get install strace", pytrace=False)
    if not works:
        pytest.skip("NO STRACE, NOT TESTED: install it, and allow ptrace")


@pytest.fixture(scope="module")
def x(crashing):
    return crashing


@pytest.fixture(scope="module")
def made(x, server, verbs, tmp_path_factory):
    """Give a world with a plan of one module; it says at the end how many runs were killed."""
    world = x.World(tmp_path_factory.mktemp("world") / "repo", server, verbs)
    world.begin()
    agents = {"act": {"kind": "command", "run": ["act"]}, "diff": {"kind": "patch", "patch": "a.diff"}}
    (world.path / "plan.yaml").write_text(x.plan({"A": {"agent": "diff"}}, checks=["true"], agents=agents))
    (world.path / "a.diff").write_text(DIFF)
    world.repo.commit("the plan")
    world.works()
    world.keep("fresh")
    killed = []
    world.killed = killed
    yield world
    sys.stdout.write(f"\ncrash from outside: {len(killed)} runs killed at system calls\n")


@pytest.fixture(scope="module")
def quiet(x, made):
    return x.calm(made, x.Scenario("fresh", (x.Command(("run", "plan.yaml", "--yes", "--sandbox", "memory")),)))


class Outside:
    """One run of the installed command, with something between it and the system."""

    def __init__(self, made, verbs, folder):
        self.made, self.verbs, self.folder = made, verbs, folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True, exist_ok=True)
        script = GIT.format(folder=folder, calls=CALLS, git=shutil.which("git"))
        (self.bin / "git").write_text(script)
        (self.bin / "git").chmod(0o755)

    def run(self, *before, git=""):
        self.made.take("fresh")
        self.made.named = ""
        command = [*before, str(self.verbs.GRACE), "run", "plan.yaml", "--yes", "--sandbox", "memory"]
        env = self.verbs.environment(TMPDIR=str(self.made.scratch))
        if git:
            shutil.rmtree(self.folder / "seen", ignore_errors=True)
            (self.folder / "seen").mkdir()
            (self.folder / "count").write_text("0")
            (self.folder / "wanted").write_text(git)
            (self.folder / "victim").unlink(missing_ok=True)
            env["PATH"] = f"{self.bin}:{env['PATH']}"
        done = subprocess.run(
            command, cwd=self.made.path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr[-3000:]
        return done

    def goes_on(self, x, quiet):
        """Resume as a person would, and return what is wrong afterwards."""
        # When a machine goes down, this lock of git's stays; it is not grace's to take away, and a person is told.
        (self.made.path / ".git" / "packed-refs.lock").unlink(missing_ok=True)
        words = x.RESUME if self.made.run else ("run", "plan.yaml", "--yes", "--sandbox", "memory")
        life = self.made.life(*words)
        if life.code == 4 and (locked := re.search(r"if none is running, remove (\S+\.lock)", life.said)):
            Path(locked[1]).unlink()  # a lock of the user's own index is never taken away: the person is told to
            life = self.made.life(*x.RESUME)
        if life.code:
            return [f"exit {life.code}: {life.said[-1500:]}"]
        for garbage in self.made.path.glob(".git/objects/**/tmp_*"):
            garbage.unlink()  # what a killed git was writing: nothing refers to it, and git's own prune removes it
        scenario = x.Scenario("fresh", ())
        return x.faults(self.made, scenario, quiet, [life])


def spread(places, full):
    """Give all places, or some, evenly."""
    return places if full else places[:: max(1, len(places) // PLACES)]


@pytest.mark.usefixtures("strace")
def test_the_controller_is_killed_at_any_system_call(made, outside, x, quiet):
    trace = outside.folder / "trace"
    outside.run("strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={WRITES}")
    threads = [line.split()[0] for line in trace.read_text().splitlines() if "(" in line]
    most = max(threads.count(thread) for thread in set(threads))
    assert most > 100
    wrong = {}
    for when in spread(range(1, most + 1), x.FULL):
        inject = ("-e", f"trace={WRITES}", "-e", f"inject={WRITES}:signal=KILL:when={when}")
        if outside.run("strace", "-f", "-qq", "-o", "/dev/null", *inject).returncode < 0:
            made.killed.append(when)
        if found := outside.goes_on(x, quiet):
            wrong[when] = found
    assert made.killed
    assert not wrong


@pytest.fixture
def outside(made, verbs, tmp_path):
    return Outside(made, verbs, tmp_path)


@pytest.mark.parametrize("both", ["", "BOTH=1\n"], ids=["alone", "with the controller"])
@pytest.mark.usefixtures("strace")
def test_a_git_is_killed_at_any_system_call(made, outside, x, quiet, both):
    tmp_path = outside.folder
    outside.run(git="WANTED=all\n")
    counted = {int(path.name): len(path.read_text().splitlines()) for path in (tmp_path / "seen").iterdir()}
    places = [(number, when) for number, calls in sorted(counted.items()) for when in range(1, calls + 1)]
    assert len(places) > 40
    wrong, victims = {}, 0
    for number, when in spread(places, x.FULL):
        said = outside.run(git=f"WANTED={number}\nWHEN={when}\n{both}").stderr
        victim = tmp_path / "victim"
        name = victim.read_text().strip() if victim.exists() else "nobody"
        victims += victim.exists()
        made.killed.append(name)
        if found := outside.goes_on(x, quiet):
            wrong[name[:100], when] = (said[-500:], found)
    assert victims
    assert not wrong
