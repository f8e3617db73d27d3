"""Imports against the files they mean; the counts are checked against grimp, which reads only imports."""

import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grimp
import pytest

from controller.graph.language import facts, kind_of
from controller.graph.link import Linker, link
from packets.graph import EdgeKind, NodeKind

MONEY = "class Money:\n    def add(self): pass\nRATE = 3\ndef cents(): pass\n"
Make = Callable[[Mapping[str, str]], Any]

ALL = ("imports", "calls", "uses", "inherits")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import app.money\napp.money.cents()", "m.py -> app/money.py::cents"),
        ("import app.money as x\nx.Money.add()", "m.py -> app/money.py::Money.add"),
        ("import app\napp.money.cents()", "m.py -> app/money.py::cents"),
        ("from app import money\nmoney.cents()", "m.py -> app/money.py::cents"),
        ("from app import money as x\nx.RATE", "m.py -> app/money.py::RATE"),
        ("from app.money import Money as M\nM.add()", "m.py -> app/money.py::Money.add"),
        ("from app.money import *\ncents()", "m.py -> app/money.py::cents"),
        ("from app.facade import Money", "m.py -> app/money.py::Money"),
        ("from app.facade import Cash\nCash.add()", "m.py -> app/money.py::Money.add"),
        ("from app.star import cents", "m.py -> app/money.py::cents"),
        ("import app.facade\napp.facade.Cash.add()", "m.py -> app/money.py::Money.add"),
        ("from app.money import missing", "m.py -> app/money.py"),
        ("import app.money\napp.money.missing()", "m.py -> app/money.py"),
        ("try: from fast import cents\nexcept E: from app.money import cents\ncents()", "m.py -> app/money.py::cents"),
        ("if T: from app.money import Money\ndef f(x: Money): x.add()", "m.py::f -> app/money.py::Money.add"),
        ("def f():\n    from app.money import Money\n    return Money.add()", "m.py::f -> app/money.py::Money.add"),
        ("import requests", "m.py -> ext:requests"),
        ("from os.path import join", "m.py -> ext:os.path"),
        ("import app.nowhere", "m.py -> ext:app.nowhere"),
    ],
)  # fmt: skip
def test_names_lead_through_imports(arrows: Make, source: str, expected: str) -> None:
    files = {
        "app/__init__.py": "",
        "app/money.py": MONEY,
        "app/facade.py": "from .money import Money\nfrom .money import Money as Cash\n",
        "app/star.py": "from .money import *\n",
    }
    assert expected in arrows({**files, "m.py": source}).of(*ALL)


def test_methods_are_found_in_bases_across_files(arrows: Make) -> None:
    made = arrows(
        {
            "a.py": "class A:\n    def base(self): pass\n",
            "b.py": "import a\nclass B(a.A):\n    def own(self):\n        self.base()\n        super().base()\n",
            "c.py": "from b import B\ndef f(x: B): x.base()\n",
        }
    )
    assert made.of("calls") == {"b.py::B.own -> a.py::A.base", "c.py::f -> a.py::A.base"}
    assert made.of("inherits") == {"b.py::B -> a.py::A"}


def test_edges_through_a_facade_name_it(arrows: Make) -> None:
    made = arrows(
        {
            "app/__init__.py": "from .money import Money\n",
            "app/money.py": MONEY,
            "m.py": "from app import Money\nMoney()\n",
        }
    )
    through = {(e.kind, e.target, e.via) for e in made.graph.edges if e.source == "m.py"}
    assert through == {
        (EdgeKind.IMPORTS, "app/__init__.py", ""),
        (EdgeKind.IMPORTS, "app/money.py::Money", "app/__init__.py"),
        (EdgeKind.CALLS, "app/money.py::Money", "app/__init__.py"),
    }


def test_calls_by_a_bare_name_are_not_resolved(arrows: Make) -> None:
    made = arrows({"a.py": "class A:\n    def only(self): pass\n", "b.py": "def f(x): x.only()\n"})
    assert made.of("calls") == set()
    assert made.of("calls", resolved=False) == {"b.py::f -> a.py::A.only"}
    two = arrows(
        {
            "a.py": "class A:\n    def only(self): pass\nclass B:\n    def only(self): pass\n",
            "b.py": "def f(x): x.only()\n",
        }
    )
    assert two.of("calls", resolved=False) == set(), "two of the name: nobody knows"


def test_a_local_of_the_name_of_a_module_is_no_dependency(arrows: Make) -> None:
    made = arrows({"money.py": MONEY, "m.py": "def f(money): money.cents()\n"})
    assert made.of(*ALL) == set()


def test_circles_end_and_do_not_depend_on_who_asks_first() -> None:
    files = {
        "p/__init__.py": "from .a import *\nfrom .b import *\n",
        "p/a.py": "from .b import *\nfrom . import *\nclass A(B): pass\n",
        "p/b.py": "from .a import *\nfrom .c import B\n",
        "p/c.py": "from p import *\nclass B:\n    def go(self): pass\n",
        "m.py": "from p import A, B\ndef f(a: A): a.go()\n",
        "n.py": "from p.a import B\nclass X(Y): pass\nclass Y(X): pass\nX().go()\n",
    }
    read = {path: facts(kind_of(path), text.encode()) for path, text in files.items()}
    whole = Linker(read)
    expected = {path: whole.file_edges(path) for path in files}
    assert "p/c.py::B.go" in {edge.target for edge in expected["m.py"].edges}
    for path in files:
        assert Linker(read).file_edges(path) == expected[path]


def test_many_modules_that_all_import_each_other_end_soon() -> None:
    count = 60
    stars = [f"from m{i} import *\n" for i in range(count)]
    names = "\n".join(f"    nowhere{i}()" for i in range(20))
    files = {
        f"m{i}.py": "".join(stars[:i] + stars[i + 1 :]) + f"def f{i}():\n    f{count - 1 - i}()\n{names}\n"
        for i in range(count)
    }
    start = time.process_time()
    graph = link({path: facts(kind_of(path), text.encode()) for path, text in files.items()})
    assert time.process_time() - start < 10
    assert len(graph.nodes) == 2 * count
    assert sum(edge.kind is EdgeKind.CALLS for edge in graph.edges) == count


def test_diamonds_of_classes_are_climbed_once() -> None:
    lines = ["class A0: pass", "class B0: pass"]
    lines += [f"class {kind}{i}(A{i - 1}, B{i - 1}): pass" for i in range(1, 300) for kind in "AB"]
    lines += ["A299.missing()", "class Loop(Loop2): pass", "class Loop2(Loop): pass", "Loop.missing()"]
    start = time.process_time()
    graph = link({"a.py": facts("python", "\n".join(lines).encode())})
    assert time.process_time() - start < 5
    assert sum(edge.kind is EdgeKind.INHERITS for edge in graph.edges) == 4 * 299 + 2


def test_equal_trees_give_equal_graphs_whatever_the_order() -> None:
    files = {"b.py": "import a\na.f()\n", "a.py": "def f(): pass\n", "README": ""}
    forward = link({path: facts(kind_of(path), text.encode()) for path, text in files.items()})
    backward = link({path: facts(kind_of(path), files[path].encode()) for path in reversed(files)})
    assert forward == backward
    assert list(forward.nodes) == list(backward.nodes) == sorted(forward.nodes)
    assert forward.nodes["README"].kind is NodeKind.FILE


def test_holes_say_what_leads_nowhere() -> None:
    files = {"a.py": "def f(): pass\n", "m.py": "from a import f, gone\nimport a\na.f()\na.lost()\nimport os\n"}
    linker = Linker({path: facts(kind_of(path), text.encode()) for path, text in files.items()})
    assert linker.file_edges("m.py").holes == {(1, "gone"), (4, "a.lost"), (5, "os:")}


@pytest.mark.parametrize("package", ["rich", "click"])
def test_imports_are_those_that_grimp_finds(package: str) -> None:
    site = Path(sysconfig.get_path("purelib"))
    files = {str(p.relative_to(site)): p.read_bytes() for p in sorted((site / package).rglob("*.py"))}
    graph = link({path: facts(kind_of(path), data) for path, data in files.items()})
    ours = {
        (graph.path_of(e.source), graph.path_of(e.target))
        for e in graph.edges
        if e.kind is EdgeKind.IMPORTS and not e.via and not e.target.startswith("ext:")
    }

    def path_of(module: str) -> str:
        path = module.replace(".", "/")
        return f"{path}/__init__.py" if f"{path}/__init__.py" in files else f"{path}.py"

    found = grimp.build_graph(package, cache_dir=None)
    theirs = {(path_of(m), path_of(t)) for m in found.modules for t in found.find_modules_directly_imported_by(m)}
    assert len(theirs) > 50
    assert {pair for pair in ours if pair[0] != pair[1]} == {pair for pair in theirs if pair[0] != pair[1]}
