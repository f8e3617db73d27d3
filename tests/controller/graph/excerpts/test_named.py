from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.excerpts.named import Named, parts, stem
from controller.graph.names import Names
from controller.graph.territory import Territory

FILES = {
    "app/rules.py": "class CouponStackingPolicy:\n    def stack(self): pass\nMAX_STACK = 3\n",
    "app/money.py": "class Money: pass\ndef run(): pass\n",
    "app/other.py": "def run(): pass\n",
}


@pytest.fixture
def named(linker: Callable[..., Any], plan: Callable[..., Any]) -> Callable[..., Named]:
    def made(purpose: str, **more: Any) -> Named:
        found = linker(FILES)
        whole = plan([{"id": "E", "write_scope": ["new.py"], "purpose": purpose, **more}], {"Rules": ["app/rules.py"]})
        return Named(Names(found.graph(), found, Territory(whole)), whole.module("E"))

    return made


@pytest.mark.parametrize(
    ("prose", "symbols", "paths"),
    [
        ("Let CouponStackingPolicy decide.", ["app/rules.py::CouponStackingPolicy"], []),
        ("Raise MAX_STACK", ["app/rules.py::MAX_STACK"], []),
        ("Make `Money` whole", ["app/money.py::Money"], []),
        ("Make Money whole", [], []),
        ("Call stack() more", ["app/rules.py::CouponStackingPolicy.stack"], []),
        ("See app/money.py: it is so", [], ["app/money.py"]),
        ("See app.money.Money.", ["app/money.py::Money"], []),
        ("Use `run` twice", ["app/money.py::run", "app/other.py::run"], []),
        ("Nothing_here and no.such.thing, e.g. this: a/b", [], []),
        ("`" * 50 + "(((" + "a." * 500, [], []),
    ],
)
def test_what_prose_names_as_code(
    named: Callable[..., Named], prose: str, symbols: list[str], paths: list[str]
) -> None:
    found = named(prose)
    assert list(found.symbols) == symbols
    assert list(found.paths) == paths


def test_expectations_come_before_prose_and_targets_before_sources(named: Callable[..., Named]) -> None:
    found = named(
        "Use `Money`",
        depends_on=["Rules"],
        expected_deltas={"graph": ["app/other.py -> MAX_STACK", "add Unborn", "not this is no line"]},
    )
    assert found.symbols == ("app/rules.py::MAX_STACK", "app/money.py::Money")
    assert found.paths == ("app/rules.py", "app/other.py")


@pytest.mark.parametrize("prose", ["the coupon stacking policy", "raise the max stack", "ask the Money"])
def test_words_in_a_row_lead_to_the_files_of_what_they_spell(named: Callable[..., Named], prose: str) -> None:
    assert named(prose).homes == (("app/money.py",) if "Money" in prose else ("app/rules.py",))


def test_parts_of_names_meet_words_of_prose() -> None:
    assert parts("CouponStackingPolicy") == [stem(word) for word in ("coupons", "stacked", "policies")]
    assert parts("HTTPServer_max_size") == [stem(word) for word in ("http", "servers", "max", "size")]
    assert parts("a_b") == []
