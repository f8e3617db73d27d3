"""Reading: packets, reviews and events, of any run, at any time, without a change."""

import shutil

import pytest

from controller.cli import look
from controller.lock import held

TWO = {"A": {"writes": {"src/a.txt": "a"}}, "B": {"writes": {"src/b.txt": "b"}, "depends_on": ["A"]}}


@pytest.fixture
def done(world):
    world.plan(TWO)
    world.run("--yes").exits(0)
    return world


def test_packets_are_printed_as_they_were_given(done):
    said = done.grace("packets", done.run_id, "A").exits(0).out
    copy = (done.path / ".grace/runs" / done.run_id / "packets/A--1.yaml").read_text()
    assert said == f"---\n{copy}"
    bodies = done.grace("packets", "--json").exits(0).json
    assert bodies["run_id"] == done.run_id
    assert [(p["module_id"], p["attempt"], p["wave"]) for p in bodies["packets"]] == [("A", 1, 1), ("B", 1, 2)]


def test_reading_changes_nothing_and_brings_lost_copies_back(done):
    before = done.refs()
    shutil.rmtree(done.path / ".grace")
    done.grace("packets").exits(0)
    assert (done.path / ".grace/runs" / done.run_id / "reviews/A--1.json").is_file()
    assert done.refs() == before


def test_copies_that_cannot_be_written_take_no_reading_away(done):
    shutil.rmtree(done.path / ".grace")
    (done.path / ".grace").write_text("a file of somebody's\n")
    assert "module_id: A" in done.grace("packets", done.run_id, "A").exits(0).out


def test_reviews_show_deltas_difference_and_findings(done):
    whole = done.grace("review", done.run_id, "A").exits(0).out
    assert "A  attempt 1  accept" in whole
    assert "+a" in whole
    assert "+a" in done.grace("review", done.run_id, "A", "--diff").exits(0).out
    assert "attempt 1" not in done.grace("review", done.run_id, "A", "--diff").out
    assert "src/a.txt | 1 +" in done.grace("review", done.run_id, "A", "--stat").exits(0).out


@pytest.mark.parametrize("command", ["packets", "review"])
def test_a_module_that_is_none_or_had_no_attempt_is_said(world, command):
    world.plan(TWO)
    world.run().exits(4)
    assert "is no module" in world.grace(command, world.run_id, "Z").exits(2).err
    assert "has had no attempt yet" in world.grace(command, world.run_id, "B").exits(2).err


def test_foreign_bytes_are_shown_and_break_nothing(world):
    world.scripts["work"] = lambda mounts, job: (mounts["/repo"] / "src/a.txt").write_bytes(b"\xff\xfe\x1b[31m\n") and 0
    world.plan({"A": {"run": "work", "write_scope": ["src/a.txt"]}})
    world.run("--yes").exits(0)
    for form in ([], ["--diff"], ["--stat"], ["--json"]):
        world.grace("review", *form).exits(0).out.encode()


def test_events_follow_until_nobody_carries_the_run(done, monkeypatch):
    with done.context() as ctx:
        holding = held(ctx.folder, ctx.run_id)
        holding.__enter__()
        looks = []

        def sleep(_seconds):
            looks.append(1)
            holding.__exit__(None, None, None)

        monkeypatch.setattr(look.time, "sleep", sleep)
        said = done.grace("events", "--follow", "--json").exits(0)
    assert looks == [1]
    assert said.lines[-1]["type"] == "run.finished"
    assert len(said.lines) == len(done.events())


def test_events_in_words(done):
    said = done.grace("events").exits(0).out
    assert "the run begins" in said
    assert "landed" in said
