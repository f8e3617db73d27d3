"""Graphs of real trees: what is parsed, what is remembered, what odd trees hold."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from controller.graph import Knowledge
from controller.graph.link import link
from packets.graph import Node, NodeKind
from packets.plan import Plan
from sandbox.git import Entry

FILES = {"a.py": "def f(): pass\n", "b.py": "import a\na.f()\n", "c.py": "def f(): pass\n", "d.txt": "x"}


def test_a_tree_becomes_a_graph_without_a_checkout(repo: Any) -> None:
    graph = repo.knowledge.graph(repo.tree(FILES))
    assert graph.nodes["a.py::f"] == Node("a.py::f", NodeKind.FUNCTION, "f", "a.py", 1, "def f()")
    assert graph.nodes["d.txt"].kind is NodeKind.FILE
    assert [path.name for path in repo.folder.iterdir()] == [".git"]


def test_refresh_says_what_was_parsed(repo: Any) -> None:
    before = repo.tree(FILES)
    after = repo.tree({**FILES, "b.py": "import a, c\nc.f()\n", "e.md": ""})
    total, parsed, delta = repo.knowledge.refresh(before, after)
    assert (total, parsed) == (5, 1)
    assert delta.edges_removed == ("b.py -> a.py::f",)
    assert repo.knowledge.refresh(before, after)[1] == 0
    assert repo.knowledge.refresh(before, after, no_cache=True)[:2] == (5, 2), "two of the three sources are one blob"
    fresh = Knowledge(repo.git, repo.cache)
    assert fresh.refresh(before, after) == (5, 0, delta), "another process finds the facts on disk"
    assert fresh.refresh(after, after)[2].nodes_added == ()


def test_a_cached_graph_is_the_graph(repo: Any) -> None:
    tree = repo.tree(FILES)
    first = repo.knowledge.graph(tree)
    assert Knowledge(repo.git, repo.cache).graph(tree) == first
    repo.cache.write_bytes(b"broken")
    assert Knowledge(repo.git, repo.cache).graph(tree) == first
    linker = repo.knowledge.linker(tree)
    assert link(linker.facts) == first


def test_odd_entries_of_a_tree(repo: Any) -> None:
    blob = repo.git.write_blob(b"a.py")
    commit = repo.git.commit(repo.tree(FILES), [], "c", "n <n@localhost>")
    odd = {
        "link.py": Entry("120000", blob),
        "sub": Entry("160000", commit),
        "caf\udce9.py": Entry("100644", repo.git.write_blob(b"import a\na.f()\n")),
        "run.py": Entry("100755", repo.git.write_blob(b"def g(): pass\n")),
    }
    graph = repo.knowledge.graph(repo.git.write_tree(repo.tree(FILES), odd))
    assert {"link.py", "sub", "caf\\xe9.py", "run.py::g"} <= graph.nodes.keys()
    assert not [node for node in graph.nodes if node.startswith(("link.py::", "sub::"))]
    assert "a.py::f" in {edge.target for edge in graph.outgoing["caf\\xe9.py"]}
    assert all(node.isprintable() for node in graph.nodes)


def test_threads_share_it(repo: Any) -> None:
    trees = [repo.tree({**FILES, "n.py": f"x = {i}\n"}) for i in range(8)]
    found: list[int] = []

    def work(mine: Sequence[str]) -> None:
        found.extend(len(repo.knowledge.graph(tree).nodes) for tree in mine)

    threads = [threading.Thread(target=work, args=(trees[i:] + trees[:i],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [8] * 32


def test_markers_stand_in_sources_not_in_tests(repo: Any, plan: Callable[..., Plan]) -> None:
    module = {
        "id": "X",
        "write_scope": ["x.py", "tests/"],
        "verification": {"required_markers": ["[A]", "[B]"]},
        "expected_deltas": {"verification": ["add marker [C]"]},
    }
    tree = repo.tree({"x.py": "log('[A]')\nlog('[C]')\n", "tests/test_x.py": "'[B]'\n", "other.py": "'[B]'\n"})
    assert repo.knowledge.markers(tree, plan([module]), ["X"]) == {"[A]", "[C]"}
