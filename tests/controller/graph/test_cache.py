"""The cache may be broken in any way: answers stay the same, no error comes."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.graph.cache import Cache
from controller.graph.language import facts

FOUND = facts("python", b"import a\ndef f(): a.g()\n")


def test_what_was_put_is_found_by_blob_and_version(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "facts.db")
    assert cache.facts(["b1"], "v") == {}
    cache.put_facts({"b1": FOUND}, "v")
    cache.put_facts({"b1": FOUND, "b2": FOUND}, "v")
    assert cache.facts(["b1", "b2", "b3"], "v") == {"b1": FOUND, "b2": FOUND}
    assert cache.facts(["b1"], "other") == {}
    many = [f"x{i}" for i in range(1500)]
    cache.put_facts(dict.fromkeys(many, FOUND), "v")
    assert len(cache.facts(many, "v")) == len(many)


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 400)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])
    for beside in path.parent.glob("facts.db-*"):
        beside.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _other_table(path: Path) -> None:
    path.unlink()
    table = sqlite3.connect(path)
    table.execute("CREATE TABLE facts (x TEXT)")
    table.commit()
    table.close()


def _bad_rows(path: Path) -> None:
    table = sqlite3.connect(path)
    table.execute("UPDATE facts SET surface = '[1, 2'")
    table.commit()
    table.close()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [_garbage, _truncated, _folder, _other_table, _bad_rows, _empty])
def test_damage_is_only_slower(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "facts.db"
    cache = Cache(path)
    cache.put_facts({f"b{i}": FOUND for i in range(200)}, "v")
    damage(path)
    assert cache.facts(["b1"], "v") in ({}, {"b1": FOUND})
    cache.put_facts({"b1": FOUND}, "v")
    assert cache.facts(["b1"], "v") in ({}, {"b1": FOUND})


def test_a_file_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    _garbage(path)
    cache = Cache(path)
    cache.put_facts({"b1": FOUND}, "v")
    cache.put_facts({"b1": FOUND}, "v")
    assert cache.facts(["b1"], "v") == {"b1": FOUND}


def test_a_locked_cache_is_waited_for_shortly(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    cache = Cache(path)
    cache.put_facts({"b1": FOUND}, "v")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    cache.put_facts({"b2": FOUND}, "v")
    assert cache.facts(["b1"], "v") in ({}, {"b1": FOUND})
    holder.execute("ROLLBACK")
    holder.close()
    assert cache.facts(["b1", "b2"], "v") == {"b1": FOUND}, "a lock is no damage: nothing was dropped"


def test_no_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert Cache(tmp_path / "file" / "facts.db").facts(["b"], "v") == {}
    Cache(tmp_path / "file" / "facts.db").put_facts({"b": FOUND}, "v")
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    Cache(folder / "facts.db").put_facts({"b": FOUND}, "v")


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    code = (
        "import sys; from pathlib import Path; from controller.graph.cache import Cache;"
        "from controller.graph.language import facts; f = facts('python', b'import a');"
        "c = Cache(Path(sys.argv[1]));"
        "[c.put_facts({f'{i}-{sys.argv[2]}': f, f'{i}': f}, 'v') for i in range(60)]"
    )
    running = [subprocess.Popen([sys.executable, "-P", "-c", code, str(path), name]) for name in "ab"]
    assert [process.wait(60) for process in running] == [0, 0]
    found = Cache(path).facts([f"{i}-{name}" for i in range(60) for name in "ab"], "v")
    assert len(found) > 60, "most was kept; what met a lock may be missing"
