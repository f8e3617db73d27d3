from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.excerpts.near import Near
from controller.graph.model import Graph

FILES = {
    "app/a.py": "from lib.rare import rare\nfrom lib.hub import hub\ndef a():\n    rare()\n    hub()\n",
    "app/twin.py": "from lib.rare import rare\nfrom lib.extra import extra\nfrom lib.hub import hub\nextra()\n",
    "app/other.py": "from lib.hub import hub\nhub()\n",
    "deep/user.py": "from app.a import a\na()\na()\n",
    "lib/rare.py": "def rare(): pass\n",
    "lib/hub.py": "def hub(): pass\n",
    "lib/extra.py": "def extra(): pass\n",
    **{f"many/m{number}.py": "from lib.hub import hub\nhub()\n" for number in range(70)},
}


@pytest.fixture
def near(arrows: Callable[..., Any]) -> Near:
    return Near(arrows(FILES).graph, ["app/a.py"], ["app"])


def test_what_a_module_uses_and_who_uses_it(near: Near) -> None:
    assert set(near.used) == {"lib/rare.py", "lib/hub.py", "lib/rare.py::rare", "lib/hub.py::hub"}
    assert near.used_files["lib/rare.py"] == 2
    assert {path: sorted(edge.line for edge in edges) for path, edges in near.users.items()} == {
        "deep/user.py": [1, 1, 2]
    }
    assert near.siblings == ("app/other.py", "app/twin.py")


def test_files_that_use_the_same_rare_symbols_are_alike(near: Near) -> None:
    assert next(iter(near.alike)) == "app/twin.py"
    assert near.alike["app/twin.py"] > near.alike["app/other.py"]
    assert not any(path.startswith("many/") for path in near.alike), "a hub says nothing about who is alike"
    assert "lib/extra.py::extra" in near.shared


def test_users_are_the_same_however_a_graph_is_held(repo: Any) -> None:
    graph = repo.knowledge.graph(repo.tree(FILES))
    for node in ("lib/hub.py::hub", "app/a.py::a", "app/a.py", "lib/extra.py::extra", "deep/user.py", "ext:none"):
        assert graph.users_of(node) == Graph.users_of(graph, node)
    assert len(graph.users_of("lib/hub.py::hub")) == 73


def test_only_the_neighbourhood_is_read(repo: Any, plan: Callable[..., Any]) -> None:
    far = {f"far/f{number}.py": f"from far.f{number + 1} import x\nx()\n" for number in range(50)}
    tree = repo.tree({**FILES, **far})
    whole = plan([{"id": "E", "write_scope": ["app/a.py"], "purpose": "Let rare be rarer"}])
    assert repo.knowledge.excerpt(tree, whole, whole.module("E")).surface
    graph = repo.knowledge.graph(tree)
    assert "all" not in vars(graph)
    assert not any(path.startswith(("far/", "many/")) for path in graph._files)
