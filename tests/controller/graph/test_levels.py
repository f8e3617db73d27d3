"""A delta lifted by containment: files, then modules of the plan."""

from collections.abc import Callable

from controller.graph.levels import Ends, ends
from controller.graph.model import Graph
from packets.graph import GraphReport, Node, NodeKind

Between = Callable[..., GraphReport]

BASE = {
    "a/x.py": "from b.y import f\n\ndef g(): f()\n",
    "a/z.py": "",
    "b/y.py": "def f(): pass\ndef h(): pass\n",
    "c/w.py": "def k(): pass\n",
    "free.py": "def u(): pass\n",
}
KNOWN = {"A": ["a/"], "B": ["b/"], "C": ["c/"], "D": ["d/"]}


def test_a_dependency_is_new_where_there_was_none_before(between: Between) -> None:
    head = {"a/x.py": "from b.y import f, h\n\ndef g(): f(); h()\n"}
    report = between(BASE, head, known=KNOWN)
    assert "a/x.py::g -> b/y.py::h" in report.actual.edges_added
    assert (report.files.edges_added, report.modules.edges_added) == ((), ())

    report = between(BASE, {"a/z.py": "from b.y import h\n"}, known=KNOWN)
    assert report.files.edges_added == ("a/z.py -> b/y.py",)
    assert report.modules.edges_added == (), "another file of the module has it already"

    report = between(BASE, {"a/z.py": "from c.w import k\nfrom free import u\nimport os\n"}, known=KNOWN)
    assert report.files.edges_added == ("a/z.py -> c/w.py", "a/z.py -> ext:os", "a/z.py -> free.py")
    assert "A -> C" in report.modules.edges_added


def test_it_is_gone_when_nothing_is_left_of_it(between: Between) -> None:
    base = {**BASE, "a/z.py": "from b.y import h\n"}
    assert between(base, {"a/x.py": "def g(): pass\n"}, known=KNOWN).modules.edges_removed == ()
    report = between(BASE, {"a/x.py": "def g(): pass\n"}, known=KNOWN)
    assert report.files.edges_removed == ("a/x.py -> b/y.py",)
    assert "A -> B" in report.modules.edges_removed


def test_modules_come_and_go_with_their_files(between: Between) -> None:
    report = between(BASE, {"d/new.py": "", "c/w.py": None, "a/more.py": ""}, known=KNOWN)
    assert (report.modules.nodes_added, report.modules.nodes_removed) == (("D",), ("C",))
    assert report.files.nodes_added == ("a/more.py", "d/new.py")


def test_a_path_may_hold_an_arrow() -> None:
    graph = Graph({"a -> b.py": Node("a -> b.py", NodeKind.FILE, "a -> b.py", "a -> b.py", 1)}, ())
    assert ends("a -> b.py -> c.py", graph) == Ends("a -> b.py", "c.py")
    assert ends("x -> y", graph) == Ends("x", "y")
