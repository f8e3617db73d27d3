"""grace refresh: one level on demand; it changes nothing and says what it parsed."""

import pytest

PLAN = {
    "A": {"writes": {"src/a.py": "def f():\n    return 1"}, "verification": {"module_local_checks": ["check-a"]}},
    "B": {"writes": {"src/b.py": "x = 1"}, "phase": "two", "verification": {"module_local_checks": ["check-b"]}},
}


@pytest.fixture
def done(world):
    world.ran = []
    for name in ("check-a", "check-b", "phase"):
        world.scripts[name] = lambda mounts, job: world.ran.append(job.argv[-1]) or 0
    world.plan(PLAN, checks=["phase"])
    world.run("--yes").exits(0)
    with world.store() as store, store.db.transaction() as db:
        db.execute("DELETE FROM evidence")
    world.ran.clear()
    return world


@pytest.mark.parametrize(
    ("level", "checks"),
    [
        (("--module", "A"), ["check-a"]),
        (("--wave", "2"), ["check-b"]),
        (("--phase", "one"), ["check-a", "phase"]),
        (("--full",), ["check-a", "check-b", "phase"]),
    ],
)
def test_each_level_runs_its_own_checks(done, level, checks):
    before, head = done.refs(), done.head
    said = done.grace("refresh", done.run_id, *level, "--json").exits(0).json
    assert said["level"] == level[0].removeprefix("--")
    assert sorted(done.ran) == checks
    assert [c["command"] for c in said["checks"]] == checks
    assert said["files_total"] == len(done.files("main"))
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


@pytest.mark.parametrize("args", [(), ("--full", "--wave", "1"), ("--wave", "9"), ("--module", "Z"), ("--phase", "x")])
def test_not_one_level_or_one_that_does_not_exist_is_wrong_usage(done, args):
    done.grace("refresh", done.run_id, *args).exits(2)
