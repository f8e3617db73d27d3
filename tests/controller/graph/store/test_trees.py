"""Trees through a cache on disk that may be damaged, shared, full or gone."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.graph import Knowledge
from controller.graph.cache import Bounds, Cache
from controller.graph.store import change, crew, reading, trees
from controller.graph.store.trees import Trees

FILES = {
    **{f"m{n}.py": f"import m{n + 1}\nclass A{n}(m{n + 1}.A{n + 1}):\n    def f(self): self.go()\n" for n in range(30)},
    "m30.py": "class A30:\n    def go(self): pass\n",
}
EDITED = {**FILES, "m30.py": "class A30:\n    def stop(self): pass\n"}


def _gone(path: Path) -> None:
    for each in path.parent.glob("facts.db*"):
        each.unlink()


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 500)


def _no_pieces(path: Path) -> None:
    table = sqlite3.connect(path)
    table.execute("DELETE FROM chunk")
    table.commit()
    table.close()


def _wrong_pieces(path: Path) -> None:
    table = sqlite3.connect(path)
    table.execute("UPDATE chunk SET data = '{}'")
    table.commit()
    table.close()


def _wrong_trees(path: Path) -> None:
    table = sqlite3.connect(path)
    table.execute("UPDATE tree SET data = substr(data, 1, 60)")
    table.commit()
    table.close()


@pytest.mark.parametrize("damage", [_gone, _garbage, _no_pieces, _wrong_pieces, _wrong_trees])
@pytest.mark.parametrize("before", [True, False], ids=["a graph is out", "another process"])
def test_damage_costs_time_and_no_answer(repo: Any, damage: Callable[[Path], None], *, before: bool) -> None:
    tree, edited = repo.tree(FILES), repo.tree(EDITED)
    expected = Knowledge(repo.git, repo.folder / "other.db").graph(tree).all, None
    Knowledge(repo.git, repo.cache).graph(tree)
    knowledge = Knowledge(repo.git, repo.cache)
    graph = knowledge.graph(tree) if before else None
    damage(repo.cache)
    assert (graph or knowledge.graph(tree)) == expected[0]
    made = knowledge.delta(tree, edited)
    assert made.nodes_removed == ("m30.py::A30.go",)
    assert len(made.edges_removed) == 30
    assert Knowledge(repo.git, repo.cache).delta(tree, edited) == made


def test_no_place_to_keep_anything(repo: Any) -> None:
    (repo.folder / "file").write_text("")
    knowledge = Knowledge(repo.git, repo.folder / "file" / "facts.db")
    assert len(knowledge.delta(repo.tree(FILES), repo.tree(EDITED)).edges_removed) == 30


def test_a_fresh_process_links_only_what_it_must(repo: Any) -> None:
    tree, edited = repo.tree(FILES), repo.tree({**FILES, "m7.py": FILES["m7.py"] + "x = 1\n", "n.py": ""})
    Knowledge(repo.git, repo.cache).graph(tree)
    world, effort = Trees(repo.git, Cache(repo.cache)).world(edited)
    assert effort == (2, 2)
    assert Trees(repo.git, Cache(repo.cache)).world(edited)[1] == (0, 0)
    assert world.state.files.count == 32


def test_old_trees_are_dropped_with_what_only_they_needed(repo: Any) -> None:
    cache = Cache(repo.cache, Bounds(trees=2, size=1 << 30))
    made = [repo.tree({**FILES, "m9.py": f"x{n} = 1\n"}) for n in range(5)]
    known = Trees(repo.git, cache)
    for tree in made:
        known.world(tree)
    table = sqlite3.connect(repo.cache)
    assert table.execute("SELECT count(*) FROM tree").fetchone()[0] < 5
    pieces = table.execute("SELECT count(*) FROM chunk").fetchone()[0]
    table.close()
    again = Knowledge(repo.git, repo.cache)
    assert again.graph(made[-1]) == Knowledge(repo.git, repo.folder / "other.db").graph(made[-1])
    assert pieces < 3 * len(FILES)


def test_a_file_that_grew_too_large_is_emptied_but_for_the_last_tree(repo: Any) -> None:
    known = Trees(repo.git, Cache(repo.cache, Bounds(trees=40, size=1)))
    made = [repo.tree({**FILES, "m9.py": f"x{n} = 1\n"}) for n in range(3)]
    for tree in made:
        known.world(tree)
    table = sqlite3.connect(repo.cache)
    assert table.execute("SELECT sha FROM tree").fetchall() == [(made[-1],)]
    assert table.execute("SELECT count(*) FROM facts").fetchone()[0] == len(FILES)
    table.close()


def test_two_processes_at_once(repo: Any) -> None:
    made = [repo.tree({**FILES, "m9.py": f"x{n} = 1\n"}) for n in range(6)]
    code = (
        "import sys; from pathlib import Path; from controller.graph import Knowledge; from sandbox.git import Git;"
        "k = Knowledge(Git.discover(Path(sys.argv[1])), Path(sys.argv[2]));"
        "print([len(k.delta(a, b).nodes_added) for a, b in zip(sys.argv[3:], sys.argv[4:])])"
    )
    argv = [sys.executable, "-P", "-c", code, str(repo.folder), str(repo.cache), *made]
    running = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in running] == [f"{[1] * 5}\n"] * 2


def test_processes_give_what_one_gives(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = repo.tree(FILES)
    alone = Trees(repo.git, Cache(repo.folder / "other.db")).world(tree)[0]
    for each in (crew, change, reading, trees):
        monkeypatch.setattr(each, "MANY", 5)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    shared = Trees(repo.git, Cache(repo.cache)).world(tree)[0]
    assert {name: shelf.keys for name, shelf in shared.state.shelves.items()} == {
        name: shelf.keys for name, shelf in alone.state.shelves.items()
    }
    assert shared.state.families == alone.state.families
