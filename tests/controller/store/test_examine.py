"""What is wrong with a database, in words; a sound one has nothing wrong with it."""

import sqlite3

from controller.store.examine import faults, journal_fault


def test_a_run_that_came_to_its_end_is_sound(world):
    world.plan({"A": {"writes": {"src/a.txt": "a"}}})
    world.run("--yes").exits(0)
    path = world.path / ".git/grace/state.db"
    assert faults(path) == []
    (journal,) = world.path.glob(".git/grace/runs/*/engine.db")
    assert journal_fault(journal) == ""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET type='nonsense' WHERE seq=(SELECT max(seq) FROM events)")
    db.close()
    (said,) = faults(path)
    assert world.run_id in said
    said = world.grace("events", world.run_id).exits(3)
    assert "is damaged" in said.err
    assert "grace doctor" in said.err


def test_what_is_not_there_or_no_database_is_said(tmp_path):
    path = tmp_path / "state.db"
    assert "No such file" in faults(path)[0]
    path.touch()
    assert faults(path) == ["it is empty"]
    assert journal_fault(path) == "", "a journal that is not begun is as good as new"
    path.write_bytes(b"something else" * 1000)
    assert "no database" in faults(path)[0]
    assert "not a database" in journal_fault(path)
