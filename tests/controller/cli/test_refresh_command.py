"""grace refresh: one level on demand; it changes nothing and says what it parsed."""

import pytest

PLAN = {
    "A": {"writes": {"src/a.py": "def f():\n    return 1"}, "verification": {"module_local_checks": ["check-a"]}},
    "B": {"writes": {"src/b.py": "x = 1"}, "phase": "two", "verification": {"module_local_checks": ["check-b"]}},
}


LEVELS = {
    ("--module", "A"): ["check-a"],
    ("--wave", "2"): ["check-b"],
    ("--phase", "one"): ["check-a", "phase"],
    ("--full",): ["check-a", "check-b", "phase"],
}


@pytest.fixture
def done(world):
    world.ran = []
    for name in ("check-a", "check-b", "phase"):
        world.scripts[name] = lambda mounts, job: world.ran.append(job.argv[-1]) or 0
    world.plan(PLAN, checks=["phase"])
    world.run("--yes").exits(0)
    forget(world)
    return world


def forget(world):
    """Let nothing be known to be green."""
    with world.store() as store, store.db.transaction() as db:
        db.execute("DELETE FROM evidence")
    world.ran.clear()


def test_each_level_runs_its_own_checks_and_nothing_is_changed(done):
    before, head = done.refs(), done.head
    for level, checks in LEVELS.items():
        said = done.grace("refresh", done.run_id, *level, "--json").exits(0).json
        assert said["level"] == level[0].removeprefix("--")
        assert sorted(done.ran) == checks
        assert [c["command"] for c in said["checks"]] == checks
        assert said["files_total"] == len(done.files("main"))
        forget(done)
    assert (done.refs(), done.head) == (before, head)
    assert done.leftovers() == []


def test_no_cache_parses_everything_and_a_known_tree_nothing(done):
    cached = done.grace("refresh", "--full", "--no-checks", "--json").exits(0).json
    fresh = done.grace("refresh", "--full", "--no-checks", "--no-cache", "--json").exits(0).json
    assert cached["files_parsed"] == 0
    assert fresh["files_parsed"] > 0
    assert fresh["graph_delta"] == cached["graph_delta"]
    assert done.ran == []


def test_a_red_check_is_exit_1_and_what_was_behind_the_plans_back_is_drift(done):
    done.scripts["check-a"] = lambda mounts, job: 1
    done.commit({"src/stray.py": "y = 1\n"})
    said = done.grace("refresh", "--full", "--json").exits(1).json
    assert [d["path"] for d in said["drift"] if d["kind"] == "unplanned_file"] == ["src/stray.py"]
    words = done.grace("refresh", "--full").exits(1).out
    assert "RED check-a" in words
    assert "src/stray.py" in words


def test_what_is_green_on_this_very_tree_is_not_run_again_and_what_is_left_out_is_said(done):
    first = done.grace("refresh", "--wave", "2", "--json").exits(0).json
    assert (first["checks_reused"], done.ran) == ([], ["check-b"])
    again = done.grace("refresh", "--wave", "2", "--json").exits(0).json
    assert (again["checks_reused"], done.ran) == (["check-b"], ["check-b"])
    assert [c["command"] for c in again["checks"]] == ["check-b"]
    left = {out["command"]: out["why"] for out in again["checks_left_out"]}
    assert left.keys() == {"check-a", "phase"}
    words = done.grace("refresh", "--wave", "2").exits(0).out
    assert "ok  check-b (green on this very tree before, not run again)" in words
    assert f"--  check-a: left out, {left['check-a']}" in words
    assert "looked at: B" in words
    none = done.grace("refresh", "--wave", "2", "--no-checks", "--json").exits(0).json
    assert (none["checks"], none["checks_left_out"][0]) == ([], {"command": "check-b", "why": "--no-checks"})


def test_what_changed_behind_the_plans_back_far_away_widens_the_level(done):
    """A file in nobody's scope, or one of another module's that was changed after it had been merged."""
    narrow = [("--module", "A"), ("--wave", "1")]
    for level in narrow:
        said = done.grace("refresh", *level, "--json").exits(0).json
        assert (said["reached"], said["escalations"]) == (said["level"], [])
        assert said["looked"]["changed"] == 2, "since before A's merge: its file, and that of B"
    done.commit({"src/a.py": "def f():\n    return 2\n"})
    assert done.grace("refresh", "--module", "A", "--json").exits(0).json["reached"] == "module", "its own edits do not"
    done.commit({"src/b.py": "x = 2\n"})
    for level in narrow:
        wide = done.grace("refresh", *level, "--json").exits(0).json
        assert (wide["level"], wide["reached"]) == (level[0].removeprefix("--"), "full")
        assert "src/b.py changed" in wide["escalations"][0]["why"]
        assert [c["command"] for c in wide["checks"]] == ["check-a", "check-b", "phase"]
    assert "wider: " in done.grace("refresh", "--wave", "1").out


def test_exactly_one_level_of_those_that_there_are_but_a_patch_may_name_none(done):
    for args in [(), ("--full", "--wave", "1"), ("--wave", "9"), ("--module", "Z"), ("--phase", "x")]:
        done.grace("refresh", done.run_id, *args).exits(2)
    assert done.grace("refresh", "--patch").exits(0).out == ""
    done.commit({"src/stray.py": "y = 1\n"})
    said = done.grace("refresh", "--patch").exits(0).out
    assert said.startswith("--- a/plan.yaml\n+++ b/plan.yaml\n")
    assert done.ran == []
    assert done.grace("refresh", "--patch", "--full").exits(0).out == said
