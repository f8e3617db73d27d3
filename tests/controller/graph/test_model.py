from collections.abc import Callable, Mapping
from typing import Any

from controller.graph.model import delta
from packets.deltas import GraphDelta

Make = Callable[[Mapping[str, str]], Any]


def test_lookups(arrows: Make) -> None:
    graph = arrows(
        {"a.py": "class A:\n    def f(self): pass\nclass AB: pass\n", "b.py": "from a import A\nA.f()\n"}
    ).graph
    assert graph.inside("a.py::A") == ("a.py::A", "a.py::A.f")
    assert graph.inside("a.py") == ("a.py", "a.py::A", "a.py::A.f", "a.py::AB")
    assert graph.inside("nowhere") == ()
    assert [node.id for node in graph.by_leaf["f"]] == ["a.py::A.f"]
    assert {edge.target for edge in graph.outgoing["b.py"]} == {"a.py", "a.py::A", "a.py::A.f"}
    assert {edge.source for edge in graph.incoming["a.py::A"]} == {"a.py", "b.py"}
    assert graph.path_of("a.py::A.f") == "a.py"
    assert graph.path_of("gone.py::X") == "gone.py"
    assert graph.path_of("ext:os") == ""


def test_delta_names_what_came_and_went(arrows: Make) -> None:
    before = arrows({"a.py": "def f(): pass\ndef g(): pass\n", "b.py": "import a\na.f()\n", "old.txt": ""}).graph
    after = arrows({"a.py": "\n\n\ndef f(): pass\ndef h(): f()\n", "b.py": "import os\nimport a\na.h()\n"}).graph
    assert delta(before, after) == GraphDelta(
        nodes_added=("a.py::h", "ext:os"),
        nodes_removed=("a.py::g", "old.txt"),
        edges_added=("a.py::h -> a.py::f", "b.py -> a.py::h", "b.py -> ext:os"),
        edges_removed=("b.py -> a.py::f",),
    )


def test_lines_and_notes_are_no_delta(arrows: Make) -> None:
    before = arrows({"a.py": "class A:\n    def only(self): pass\ndef f(x): pass\n"}).graph
    after = arrows({"a.py": "\n\nclass A:\n    def only(self): pass\ndef f(x): x.only()\n"}).graph
    assert before != after
    assert delta(before, after) == GraphDelta()
