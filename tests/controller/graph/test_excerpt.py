from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.excerpt import BUDGET, is_test
from packets.packet import GraphExcerpt
from packets.plan import Plan

FILES = {
    "app/money.py": (
        "class Money:\n    def __init__(self, cents: int): pass\n    def add(self): pass\n    def _peek(self): pass\n"
    ),
    "app/policy.py": "class Policy:\n    def guard(self): pass\n",
    "app/util.py": "def helper(x: int) -> int: pass\ndef unused(): pass\n",
    "app/engine.py": (
        "from app.util import helper\nfrom app.policy import Policy\n"
        "class Engine:\n    def run(self, p: Policy):\n        p.guard()\n        p.guard()\n        return helper(1)\n"
        "def other(): Policy()\n"
    ),
    "app/checkout.py": "from app.engine import Engine\ndef total(): Engine().run(1)\n",
    "app/report.py": "import app.engine\n",
    "tests/test_money.py": "def test_money(): pass\n",
}
MAP = {"Pricing/Money": ["app/money.py", "tests/test_money.py"], "Pricing/Policy": ["app/policy.py"]}
Excerpt = Callable[..., GraphExcerpt]


@pytest.fixture
def excerpt(repo: Any, plan: Callable[..., Plan]) -> Excerpt:
    def made(files: dict[str, str], scope: list[str], depends_on: list[str]) -> GraphExcerpt:
        whole = plan([{"id": "E", "write_scope": scope, "depends_on": depends_on}], MAP)
        found: GraphExcerpt = repo.knowledge.excerpt(repo.tree(files), whole, whole.module("E"))
        return found

    return made


def test_used_comes_first_then_the_surface_of_what_is_declared(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py"], ["Pricing/Money", "Pricing/Policy"])
    assert found.depends_on == ("Pricing/Money", "Pricing/Policy", "Policy", "helper")
    assert [(each.symbol, each.at) for each in found.surface] == [
        ("Policy", "app/policy.py:1"),
        ("helper", "app/util.py:1"),
        ("Policy.guard", "app/policy.py:2"),
        ("Money", "app/money.py:1"),
        ("Money.__init__", "app/money.py:2"),
        ("Money.add", "app/money.py:3"),
    ]
    assert found.surface[1].signature == "def helper(x: int) -> int"


def test_dependents_are_symbols_first_and_files_that_only_import(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py"], [])
    assert [(each.symbol, each.at) for each in found.dependents] == [
        ("total", "app/checkout.py:2"),
        ("app/report.py", "app/report.py:1"),
    ]


def test_a_module_that_is_not_born_yet_sees_what_it_may_use(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/new.py"], ["Pricing/Policy"])
    assert [each.symbol for each in found.surface] == ["Policy", "Policy.guard"]
    assert found.dependents == ()


def test_the_excerpt_stays_within_its_budget_and_keeps_the_nearest(excerpt: Excerpt) -> None:
    body = "".join(f"def f{i}(argument_number_one: int, argument_number_two: int) -> int: pass\n" for i in range(900))
    users = {f"app/u{i}.py": "from app.engine import go\ndef use(): go()\n" for i in range(400)}
    files = {"app/policy.py": body, "app/engine.py": "from app.policy import f899\ndef go(): f899()\n", **users}
    found = excerpt(files, ["app/engine.py"], ["Pricing/Policy"])
    assert found.surface[0].symbol == "f899"
    size = sum(len(each.symbol + each.at + each.signature) for each in found.surface)
    size += sum(len(each.symbol + each.at) for each in found.dependents)
    assert BUDGET * 0.5 < size < BUDGET
    assert 10 < len(found.dependents) < 400


@pytest.mark.parametrize(
    ("path", "yes"),
    [
        ("tests/a.py", True),
        ("a/tests/b.py", True),
        ("a/test_b.py", True),
        ("conftest.py", True),
        ("a/latest.py", False),
    ],
)
def test_test_files(path: str, yes: bool) -> None:  # noqa: FBT001
    assert is_test(path) is yes
