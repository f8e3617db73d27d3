"""The controller is killed -9 at every fault point, and comes to what it comes to when nobody kills it.

The points are enumerated from the table of effects: before and after each. Every commit kills at each of them once, at
its first occurrence; `GRACE_CRASH=all` kills at every occurrence, and in every pair of neighbours (half an hour).
Here are the runs on the in-memory engine; real sandboxes and images are killed in test_crash_sandboxes.py, and
test_crash_from_outside.py kills at system calls, so that a point that nobody thought of is hit as well.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox.crash import points

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = ("container.", "image.", "setup.")
"""Effects of a Docker engine and of images: test_crash_sandboxes.py reaches them."""
HERE = tuple(point for point in points() if not point.startswith(ELSEWHERE))
SIX = {
    "A": {},
    "B": {},
    "C": {"depends_on": ["A", "B"]},
    "D": {"phase": "two", "depends_on": ["C"]},
    "Strays": {"phase": "two", "depends_on": ["C"]},
    "F": {"phase": "two", "depends_on": ["D", "Strays"]},
}


DIFF = "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+a\n"


@pytest.fixture(scope="module")
def x(crashing):
    return crashing


@pytest.fixture(scope="module")
def world(x, server, verbs, tmp_path_factory):
    """Give a world whose shelf holds a repository before the run, one that landed, and some of other plans."""
    made = x.World(tmp_path_factory.mktemp("world") / "repo", server, verbs)
    made.begin()
    remote = made.beside / "remote"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    made.keep("empty")
    agents = {"act": {"kind": "command", "run": ["act"]}, "diff": {"kind": "patch", "patch": "a.diff"}}
    after = {"push": "origin", "on_landed": [f"echo hook >> {made.beside}/hooked"], "agents": agents}
    for name, modules, keys in [
        ("fresh", SIX, {}),
        ("small", {"A": {}}, {}),
        ("one", {"A": {"agent": "diff"}}, after),
        ("red", {"A": {}, "Reddens": {}, "C": {"depends_on": ["A"]}}, {}),
        ("odd", {"Breaks": {}}, {}),
        ("told", {"Listens": {}}, {}),
    ]:
        made.take("empty")
        wave_checks = name == "red"
        (made.path / "plan.yaml").write_text(x.plan(modules, wave_checks=wave_checks, **keys))
        (made.path / "a.diff").write_text(DIFF)
        made.repo.git("remote", "add", "origin", str(remote))
        made.repo.commit("the plan")
        made.works()
        made.keep(name)
    made.take("fresh")
    assert made.life(*x.RUN, "--yes").code == 0
    made.keep("landed")
    for folder in (made.path / ".git" / "grace" / "cache").glob("*/*"):
        os.utime(folder, (0, 0))
    made.keep("long ago")
    made.take("fresh")
    assert made.life(*x.RUN, "--yes", crash="ref.integration.after").code == x.KILLED
    lock = made.path / ".git" / "refs" / "heads" / "grace" / made.run / "integration.lock"
    lock.write_text("")
    os.utime(lock, (0, 0))
    made.keep("locked")
    made.take("fresh")
    assert made.life(*x.RUN, "--profile", "fast").code == 4
    made.keep("waiting")
    return made


@pytest.fixture(scope="module")
def scenarios(x):
    """Give every scenario by name; a point is killed in the first that reaches it."""
    run = x.Command((*x.RUN, "--yes"), again=x.RESUME)
    undo = lambda *words: x.Command(("rollback", "RUN", *words))  # noqa: E731
    return {
        "run": x.Scenario("fresh", (run,)),
        "small": x.Scenario("small", (run,)),
        "undo landed": x.Scenario("landed", (undo("--to", "phase:two"),)),
        "undo waiting": x.Scenario("waiting", (undo("--module", "A"),)),
        "undo all": x.Scenario("landed", (undo("--to", "start"),)),
        "red": x.Scenario("red", (run,)),
        # A hook that was cut off is asked about again, and the person says yes: then it runs twice.
        "people": x.Scenario(
            "one", (x.Command(x.RUN, (4,), x.RESUME),), answers=True, may_differ=frozenset({"told", "saga"})
        ),
        "odd": x.Scenario("odd", (x.Command((*x.RUN, "--yes"), (0, 1, 4)), x.Command(x.RESUME))),
        # A worker that was killed before it heard is told by the next packet: one attempt more.
        "told": x.Scenario("told", (run,), may_differ=frozenset({"told", "packets", "modules", "refs", "log", "saga"})),
        "locked": x.Scenario("locked", (x.Command(x.RESUME),)),
        "clean": x.Scenario("long ago", (x.Command(("clean", "RUN", "--force"), (0, 2)),)),
        "init": x.Scenario("empty", (x.Command(("init", "other.yaml"), (0, 2)),)),
    }


@pytest.fixture(scope="module")
def quiet(x, world, scenarios):
    """Give what each scenario comes to when nobody is killed, played when it is first asked for."""
    played = {}

    def known(name):
        if name not in played:
            played[name] = x.calm(world, scenarios[name])
        return played[name]

    return known


@pytest.fixture(scope="module")
def runs(world):
    """Count the lives, and say at the end how many there were."""
    began, before = time.monotonic(), world.lives
    kills = []
    yield kills
    spent = time.monotonic() - began
    sys.stdout.write(
        f"\ncrash everywhere: {len(points())} fault points, {len(HERE)} of them here; "
        f"{len(kills)} runs killed, {world.lives - before} lives, {spent:.0f} s\n"
    )


@pytest.fixture
def killed(x, world, scenarios, quiet, runs):
    """Play a scenario with crashes, and return what is wrong afterwards; each crash must have happened."""

    def play(name, *crashes, all_of_them=True):
        lives = x.play(world, scenarios[name], crashes)
        died = sum(life.code == x.KILLED for life in lives)
        runs.append((name, crashes))
        assert died == len(crashes) if all_of_them else died > 0, f"killed {died} times: {crashes}"
        return x.faults(world, scenarios[name], quiet(name), lives)

    return play


def test_every_point_is_reached_by_a_scenario(scenarios, quiet):
    reached = {point for name in scenarios for life in quiet(name).lives for point in life}
    assert set(HERE) - reached == set()


@pytest.mark.parametrize("point", HERE)
def test_killed_at_each_point(point, scenarios, quiet, killed, x):
    """One crash, at the first time that the point is reached; with GRACE_CRASH=all at every time.

    To save time what comes before an effect is tried in a small run, where it has one: the world is then as it was
    after the effect before, which is tried in the run of six.
    """
    reaching = [name for name in scenarios if any(point in life for life in quiet(name).lives)]
    small = not x.FULL and point.endswith(".before") and "small" in reaching
    name = "small" if small else reaching[0]
    everywhere = [crash for crash in quiet(name).everything if crash.point.startswith(f"{point}:")]
    for crash in everywhere if x.FULL else everywhere[:1]:
        assert not killed(name, crash)


@pytest.mark.parametrize("at", range(1, 7))
def test_killed_in_the_middle(at, quiet, killed):
    """A few places more, evenly over the run: what is done first is not what is done later."""
    everything = quiet("run").everything
    assert not killed("run", everything[len(everything) * at // 7])


@pytest.mark.parametrize("name", ["undo landed", "undo waiting", "undo all", "red"])
def test_killed_while_it_undoes(name, quiet, killed, x):
    """A rollback before and after a landing, and a red wave: every point, also those that a run has too."""
    crashes = quiet(name).everything if x.FULL else quiet(name).points
    if name == "red" and not x.FULL:
        first = next(n for n, crash in enumerate(quiet(name).everything) if crash.point == "saga.replace.before:1")
        crashes = quiet(name).everything[first - 2 : first + 3]
    if name == "undo all" and not x.FULL:
        crashes = crashes[::8]
    wrong = {crash: found for crash in crashes if (found := killed(name, crash))}
    assert not wrong


@pytest.mark.parametrize("step", range(6))
def test_killed_while_it_resumes(step, quiet, killed, x):
    """Killed, and then the one that goes on is killed at another point, before the first one and after it."""
    places = [crash.point for crash in quiet("run").points]
    for n in range(step, len(places), 6) if x.FULL else (step * 13,):
        first, second = places[n], places[(n * 7 + 5) % len(places)]
        assert not killed("run", x.Crash(0, first), x.Crash(x.ANY, second), all_of_them=False)


@pytest.mark.parametrize("step", range(4))
def test_killed_twice_in_a_row_at_the_same_point(step, quiet, killed, x):
    places = [crash.point for crash in quiet("run").points]
    for n in range(step, len(places), 4) if x.FULL else (step * 19 + 3,):
        assert not killed("run", x.Crash(0, places[n]), x.Crash(x.ANY, places[n]), all_of_them=False)


def test_killed_again_and_again(quiet, killed, x):
    """Each life gets a little further than the one before, and the last one to the end."""
    places = [crash.point for crash in quiet("run").points][::4]
    assert not killed("run", x.Crash(0, places[0]), *(x.Crash(x.ANY, p) for p in places[1:]), all_of_them=False)


def test_killed_while_it_undoes_again_and_again(quiet, killed, x):
    for name in ("undo landed", "undo waiting"):
        places = [crash.point for crash in quiet(name).points][::3]
        crashes = (x.Crash(0, places[0]), *(x.Crash(x.ANY, place) for place in places[1:]))
        assert not killed(name, *crashes, all_of_them=False)


def test_a_wrong_point_is_refused_with_the_list(world):
    world.take("fresh")
    ended = world.life("status", crash="ref.nowhere")
    assert ended.code == 2
    assert "ref.land.before" in ended.said
    assert "Traceback" not in ended.said
