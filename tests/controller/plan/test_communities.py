"""Modules proposed from code that holds together."""

import pytest

from controller.graph.language import facts, kind_of
from controller.graph.link import link
from controller.plan.communities import acyclic, cover, propose
from packets.scope import Scope


def graph_of(files):
    return link({path: facts(kind_of(path), text.encode()) for path, text in sorted(files.items())})


def clique(folder, names, **more):
    """Files of one package that all use each other, and others where it is said."""
    return {
        f"{folder}/{name}.py": "".join(f"from {folder}.{other} import {other}\n" for other in names if other != name)
        + "".join(f"from {wanted} import {leaf}\n" for wanted, leaf in more.get(name, {}).items())
        + f"def {name}(): ...\n"
        for name in names
    } | {f"{folder}/__init__.py": ""}


@pytest.fixture
def shop():
    files = {
        **clique("pricing", ["money", "tax", "coupon"]),
        **clique("orders", ["cart", "checkout", "invoice"], checkout={"pricing.tax": "tax"}),
        "tests/test_tax.py": "from pricing.tax import tax\ndef test_tax(): tax()\n",
        "tests/test_checkout.py": "from orders.checkout import checkout\nfrom pricing.tax import tax\n"
        "def test_checkout():\n    checkout()\n    checkout()\n",
        "README.md": "",
        "docs/conf.py": "x = 1\n",
    }
    return graph_of(files)


def in_tests(graph):
    return [path for path in graph.by_path if path.startswith("tests/")]


def test_what_uses_each_other_is_a_module_with_its_tests_and_needs(shop):
    pricing, orders = propose(shop, in_tests(shop))
    assert pricing.scope == ("pricing/", "tests/test_tax.py")
    assert orders.scope == ("orders/", "tests/test_checkout.py")
    assert (pricing.depends_on, orders.depends_on) == ((), (0,))
    assert orders.tests == ("tests/test_checkout.py",)


def test_the_same_code_gives_the_same_proposals(shop):
    assert propose(shop, in_tests(shop)) == propose(shop, in_tests(shop))


def test_no_scope_holds_the_plan(shop):
    for each in propose(shop, in_tests(shop), besides="orders/plan.yaml"):
        assert not Scope.parse(each.scope).matches("orders/plan.yaml")


def test_there_are_never_more_than_asked_for():
    files = {path: text for n in range(9) for path, text in clique(f"pack{n}", ["a", "b"]).items()}
    files |= {f"pack{n}/c.py": f"from pack{n + 1}.a import a\nfrom pack{n}.a import a\n" for n in range(8)}
    graph = graph_of(files)
    assert 4 < len(propose(graph, [])) <= 9
    assert len(propose(graph, [], most=4)) == 4


@pytest.mark.parametrize("files", [{}, {"a.py": ""}, {"README.md": "x"}, clique("one", ["a", "b", "c"])])
def test_code_that_cannot_be_parted_gives_nothing(files):
    assert propose(graph_of(files), []) == []


def test_circles_lose_their_weakest_need():
    order, needs = acyclic(3, {(0, 1): 5, (1, 0): 1, (1, 2): 2, (2, 0): 1})
    assert needs == {0: {1}, 1: {2}, 2: set()}
    assert order == [2, 1, 0]


def test_a_cover_holds_exactly_its_files():
    everything = ["a/x.py", "a/y.py", "a/z.py", "a/in/q.py", "b/one.py", "b/two.py", "c/d/e.py", "top.py", "odd/s*.py"]
    ours = ["a/x.py", "a/y.py", "a/z.py", "b/one.py", "c/d/e.py", "top.py", "odd/s*.py"]
    entries = cover(ours, everything)
    scope = Scope.parse(entries)
    assert [path for path in everything if scope.matches(path)] == ours
    assert set(entries) == {"a/*", "b/one.py", "c/", "top.py", "odd/"}
