"""One file, whatever state it is in: one line that says what is wrong, never a traceback."""

import sqlite3
import threading

import pytest

from controller.store.database import Database
from controller.store.schema import APPLICATION, VERSION
from packets.errors import MachineLacks, UsageError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grace" / "state.db"


def test_it_is_made_only_when_asked(path):
    with pytest.raises(UsageError, match="no grace runs yet"):
        Database(path)
    assert not path.parent.exists(), "a reading command creates nothing"
    Database(path, create=True).close()
    Database(path).close()
    Database(path, create=True).close()


def test_it_is_a_write_ahead_log_that_is_synced_on_every_connection(path):
    Database(path, create=True).close()
    for create in (False, True):
        db = Database(path, create=create)
        assert db.row("PRAGMA journal_mode")[0] == "wal"
        assert db.row("PRAGMA synchronous")[0] == 2, "FULL"
        assert (db.row("PRAGMA user_version")[0], db.row("PRAGMA application_id")[0]) == (VERSION, APPLICATION)
        db.close()


def foreign(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE runs (something TEXT)")
    db.close()


def newer(path):
    Database(path, create=True).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()


def truncated(path):
    Database(path, create=True).close()
    path.write_bytes(path.read_bytes()[:5000])
    path.with_name("state.db-wal").unlink(missing_ok=True)


FAULTS = [
    (foreign, UsageError, "not grace's"),
    (newer, MachineLacks, "newer grace"),
    (truncated, MachineLacks, "cannot use"),
    (lambda path: path.write_bytes(b"no database at all" * 100), MachineLacks, "cannot use"),
    (lambda path: path.mkdir(), MachineLacks, "cannot use"),
]


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(("spoil", "kind", "said"), FAULTS)
def test_a_file_that_is_not_ours_to_use_is_one_line(path, spoil, kind, said, create):
    path.parent.mkdir()
    spoil(path)
    with pytest.raises(kind, match=said) as caught:
        Database(path, create=create).rows("SELECT * FROM runs")
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_an_empty_file_holds_no_runs(path):
    path.parent.mkdir()
    path.touch()
    with pytest.raises(UsageError, match="no grace runs yet"):
        Database(path)


def test_a_creation_that_was_cut_off_is_finished(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA application_id={APPLICATION}")
        db.execute("CREATE TABLE evidence (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT")
    db.close()
    with pytest.raises(UsageError, match="no grace runs yet"):
        Database(path)
    db = Database(path, create=True)
    assert db.rows("SELECT * FROM runs") == []
    db.close()


def test_a_transaction_is_all_or_nothing(path):
    db = Database(path, create=True)

    def write(second):
        with db.transaction() as inner:
            inner.execute("INSERT INTO evidence VALUES ('a', 'b')")
            second(inner)

    with pytest.raises(ZeroDivisionError):
        write(lambda inner: 1 / 0)
    assert db.rows("SELECT * FROM evidence") == []
    with pytest.raises(MachineLacks):
        write(lambda inner: inner.execute("INSERT INTO nowhere VALUES (1)"))
    assert db.row("SELECT * FROM evidence") is None
    with db.transaction() as inner:
        inner.execute("INSERT INTO evidence VALUES ('a', 'b')")
    assert [tuple(r) for r in db.rows("SELECT * FROM evidence")] == [("a", "b")]
    db.close()


def test_d2_a_reader_is_not_held_up_by_a_writer(path):
    writer, reader = Database(path, create=True), Database(path)
    with writer.transaction() as inner:
        inner.execute("INSERT INTO evidence VALUES ('a', 'b')")
        assert reader.rows("SELECT * FROM evidence") == []
    assert len(reader.rows("SELECT * FROM evidence")) == 1
    writer.close()
    reader.close()


def test_threads_share_one_connection(path):
    db = Database(path, create=True)

    def write(number):
        with db.transaction() as inner:
            inner.execute("INSERT INTO evidence VALUES (?, '')", (str(number),))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(db.rows("SELECT * FROM evidence")) == 20
    db.close()
