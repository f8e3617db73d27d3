"""The tables can be made over themselves, and forgetting a run knows all of them."""

import inspect
import re
import sqlite3

from controller.store.schema import TABLES
from controller.store.store import Store


def test_making_them_twice_changes_nothing():
    db = sqlite3.connect(":memory:")
    db.executescript(TABLES)
    before = db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    db.executescript(TABLES)
    assert db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall() == before
    db.close()


def test_every_table_of_a_runs_is_forgotten_with_it():
    made = set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", TABLES))
    forgotten = set(re.findall(r'"(\w+)"', inspect.getsource(Store.forget_run)))
    assert made - {"evidence"} <= forgotten, "evidence is of trees, not of runs"
