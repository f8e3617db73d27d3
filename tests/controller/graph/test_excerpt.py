from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.excerpt import is_test, measure
from packets.packet import GraphExcerpt
from packets.plan import Plan

FILES = {
    "app/money.py": (
        "class Money:\n"
        '    """An amount of one currency.\n\n    In cents.\n    """\n\n'
        "    cents: int\n    _rate = 1\n"
        "    def __init__(self, cents: int): pass\n    def add(self): pass\n    def _peek(self): pass\n"
    ),
    "app/policy.py": "class Policy:\n    def guard(self): pass\n",
    "app/util.py": "def helper(x: int) -> int: pass\ndef unused(): pass\n",
    "app/engine.py": (
        "from app.util import helper\nfrom app.policy import Policy\n"
        "class Engine:\n    def run(self, p: Policy):\n        p.guard()\n        p.guard()\n        return helper(1)\n"
        "def other(): Policy()\n"
    ),
    "app/checkout.py": "from app.engine import Engine\n\ndef total():\n    return Engine().run(1)  # the sum\n",
    "app/report.py": "import app.engine\n",
    "far/away.py": "class CouponStackingPolicy:\n    def stack(self): pass\nclass Nothing: pass\n",
    "tests/test_money.py": "def test_money(): pass\n",
}
MAP = {"Pricing/Money": ["app/money.py", "tests/test_money.py"], "Pricing/Policy": ["app/policy.py"]}
Excerpt = Callable[..., GraphExcerpt]


@pytest.fixture
def excerpt(repo: Any, plan: Callable[..., Plan]) -> Excerpt:
    def made(
        files: dict[str, str], scope: list[str], *depends_on: str, budget: int = 6000, **more: Any
    ) -> GraphExcerpt:
        whole = plan([{"id": "E", "write_scope": scope, "depends_on": depends_on, **more}], MAP)
        whole = whole.model_copy(update={"packet_tokens": budget})
        found: GraphExcerpt = repo.knowledge.excerpt(repo.tree(files), whole, whole.module("E"))
        return found

    return made


def said(found: GraphExcerpt) -> str:
    """Return all that an excerpt shows of code."""
    return "\n".join(f"{each.at} {each.signature}\n{each.lines}" for each in found.surface)


def test_declared_modules_come_first_then_what_is_used_then_what_is_near(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py"], "Pricing/Money", "Pricing/Policy")
    assert found.depends_on == ("Pricing/Money", "Pricing/Policy", "Policy", "helper")
    assert [(each.symbol, each.at) for each in found.surface] == [
        ("Policy", "app/policy.py:1"),
        ("Money", "app/money.py:1"),
        ("helper", "app/util.py:1"),
        ("app/util.py", "app/util.py:1"),
        ("app/checkout.py", "app/checkout.py:1"),
        ("app/money.py", "app/money.py:1"),
    ]
    assert found.surface[-1].lines == "Money: def _peek(self)"
    assert found.surface[2].signature == "def helper(x: int) -> int"
    assert found.surface[3].lines == "def unused()"


def test_a_class_is_shown_with_the_lines_that_matter(excerpt: Excerpt) -> None:
    files = FILES | {"app/money.py": "@frozen\n@final\n" + FILES["app/money.py"]}
    money = excerpt(files, ["app/engine.py"], "Pricing/Money").surface[0]
    assert (money.symbol, money.at, money.signature) == ("Money", "app/money.py:3", "class Money")
    assert money.lines.split("\n") == [
        "@frozen", "@final", '"""An amount of one currency."""', "cents: int",
        "def __init__(self, cents: int)", "def add(self)",
    ]  # fmt: skip


def test_dependents_are_shown_with_the_line_that_uses_the_module(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py"])
    assert [(each.symbol, each.at, each.code) for each in found.dependents] == [
        ("total", "app/checkout.py:4", "return Engine().run(1)  # the sum"),
        ("app/report.py", "app/report.py:1", "import app.engine"),
    ]


def test_a_module_that_is_not_born_yet_sees_what_it_may_use(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/new.py"], "Pricing/Policy", notes=["Reuse `Money`"])
    assert [each.symbol for each in found.surface[:2]] == ["Money", "Policy"]
    assert "def helper(x: int) -> int" in said(found), "a file of the same folder"
    assert found.dependents == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"expected_deltas": {"graph": ["Engine -> CouponStackingPolicy"]}},
        {"expected_deltas": {"graph": ["Engine -> far/away.py"]}},
        {"purpose": "Ask CouponStackingPolicy first"},
        {"purpose": "Let the coupon stacking policy decide"},
        {"notes": ["see `far.away.CouponStackingPolicy.stack()`"]},
        {"notes": ["far/away.py knows"]},
    ],
)
@pytest.mark.parametrize("scope", ["app/engine.py", "new/born.py"])
def test_what_the_plan_names_is_in(excerpt: Excerpt, scope: str, entry: dict[str, Any]) -> None:
    assert "CouponStackingPolicy" not in said(excerpt(FILES, [scope]))
    found = excerpt(FILES, [scope], **entry)
    assert "CouponStackingPolicy" in said(found)
    assert "def stack(self)" in said(found)


def test_what_the_plan_names_as_code_comes_before_all_else(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py"], "Pricing/Money", expected_deltas={"graph": ["E -> CouponStackingPolicy"]})
    assert [each.symbol for each in found.surface[:2]] == ["CouponStackingPolicy", "Money"]


def test_what_the_plan_names_is_in_however_large_it_is(excerpt: Excerpt) -> None:
    methods = "".join(f"    def method_number_{number}(self, argument: int) -> int: pass\n" for number in range(99))
    files = crowd() | {"far/away.py": f"class Huge:\n{methods}\nclass CouponStackingPolicy: pass\n"}
    for budget in (200, 6000):
        wanted = {"graph": ["E -> Huge", "E -> CouponStackingPolicy"]}
        found = excerpt(files, ["app/engine.py"], "Pricing/Policy", budget=budget, expected_deltas=wanted)
        assert [each.symbol for each in found.surface[:2]] == ["Huge", "CouponStackingPolicy"]
        assert measure(found) <= budget


def test_members_stand_below_their_class_or_after_its_name(excerpt: Excerpt) -> None:
    shop = {
        "app/a.py": "import app.b\n",
        "app/b.py": "class Shop:\n    def sell(self): pass\n    def _count(self): pass\n",
    }
    assert excerpt(shop, ["app/a.py"]).surface[0].lines == "class Shop\n  def sell(self)\n  def _count(self)"
    found = excerpt(shop, ["app/a.py"], purpose="Ask `Shop`").surface
    assert [each.lines for each in found] == ["def sell(self)", "Shop: def _count(self)"]


def test_the_modules_own_files_are_not_repeated(excerpt: Excerpt) -> None:
    found = excerpt(FILES, ["app/engine.py", "app/util.py"], purpose="Let Engine and `helper` and app/util.py agree")
    assert "app/engine.py:" not in said(found)
    assert "app/util.py:" not in said(found)
    assert "helper" not in found.depends_on


def test_nothing_is_shown_twice(excerpt: Excerpt) -> None:
    found = excerpt(
        FILES, ["app/engine.py"], "Pricing/Money", "Pricing/Policy", notes=["`Policy`, `Money.add`, `Money`"]
    )
    lines = [line.strip() for line in said(found).splitlines() if "def " in line]
    names = [each.symbol for each in found.surface]
    assert len(lines) == len(set(lines))
    assert len(names) == len(set(names))


def crowd() -> dict[str, str]:
    body = "".join(f"def f{i}(argument_number_one: int, argument_number_two: int) -> int: pass\n" for i in range(300))
    users = {f"app/u{i}.py": "from app.engine import go\ndef use(): go()\n" for i in range(60)}
    return {"app/policy.py": body, "app/engine.py": "from app.policy import f299\ndef go(): f299()\n", **users}


@pytest.mark.parametrize("budget", [200, 1000, 6000])
def test_the_budget_is_held_and_filled(excerpt: Excerpt, budget: int) -> None:
    found = excerpt(crowd(), ["app/engine.py"], "Pricing/Policy", budget=budget)
    assert budget * 0.75 < measure(found) <= budget
    assert "def f299(" in said(found), "what is used of a declared module is the first of it"
    assert 1 <= len(found.dependents) < 60


def test_what_is_near_survives_a_small_budget(excerpt: Excerpt) -> None:
    chain = {
        "app/a.py": "from app.b import b\ndef a(): b()\n",
        "app/b.py": "from lib.c import c\ndef b(): c()\n",
        "lib/c.py": "from lib.d import d\ndef c(): d()\n",
        "lib/d.py": "def d(): pass\n" + "".join(f"def d{i}_with_a_long_name(): pass\n" for i in range(80)),
    }
    places = [each.at.partition(":")[0] for each in excerpt(chain, ["app/a.py"]).surface]
    assert places == sorted(places), "in order of distance"
    small = excerpt(chain, ["app/a.py"], budget=200)
    assert small.surface[0].symbol == "b"
    assert "def c()" in said(small)


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
