"""What was meant by a name that is wrong: in the plan with its place, at harvest, in claims."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.names import SUGGESTED, Found, Names
from controller.graph.nearest import unclear
from controller.graph.territory import Territory
from packets.problem import NameProblem

FILES = {
    "app/__init__.py": "",
    "app/money.py": "class Money:\n    def subtotal(self): pass\n    def total(self): pass\n",
    "app/pricing/engine.py": "class DiscountEngine:\n    def run(self): pass\n\ndef twice(): pass\n",
    "app/other.py": "def twice(): pass\n",
    "shop/pricing/policy.go": "package pricing\n\ntype Policy struct{}\n\nfunc (p Policy) Guard() {}\n",
    "shop/go.mod": "module shop\n",
    "crates/core/src/lib.rs": "pub mod tax;\n",
    "crates/core/src/tax.rs": "pub struct Tax;\nimpl Tax { pub fn rate(&self) {} }\n",
    "crates/core/Cargo.toml": '[package]\nname = "core"\n',
    "src/main/java/com/shop/Cart.java": "package com.shop;\npublic class Cart { public void put() {} }\n",
    "native/list.hpp": "namespace shop {\nclass List { public: void push(); };\n}\n",
}
ENGINE = "did you mean DiscountEngine (app/pricing/engine.py:1)?"
MONEY, SUBTOTAL = "did you mean Money (app/money.py:1)?", "did you mean Money.subtotal (app/money.py:2)?"
RATE = "did you mean tax.Tax.rate (crates/core/src/tax.rs:2)?"
TWINS = "app/other.py::twice (line 1), app/pricing/engine.py::twice (line 4)"
NOWHERE = "and it is in no write scope of this module or of those before it"


@pytest.fixture
def names(linker: Callable[..., Any], plan: Callable[..., Any]) -> Names:
    made = linker(FILES)
    modules = [{"id": "Pricing/Engine", "write_scope": ["app/pricing/"]}]
    return Names(made.graph(), made, Territory(plan(modules, {"Pricing/Money": ["app/money.py"]})))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("DiscountEngin", f"no name DiscountEngin in the result; {ENGINE}"),
        ("discountengine", f"no name discountengine in the result; {ENGINE}"),
        ("Money.subtotel", f"no dotted name Money.subtotel in the result; {SUBTOTAL}"),
        ("Mony.subtotal", f"no name Mony.subtotal in the result; {SUBTOTAL}"),
        ("app/mony.py", "no path app/mony.py in the result; did you mean app/money.py?"),
        ("app/pricin/", "no path app/pricin/ in the result; did you mean app/pricing?"),
        ("lib/engine.py", "no path lib/engine.py in the result"),
        ("Pricing/Mony", "no path Pricing/Mony in the result; did you mean Pricing/Money?"),
        ("app/money.py::Monye", f"no dotted name app/money.py::Monye in the result; {MONEY}"),
        ("tax::Tax::rat", f"no dotted name tax::Tax::rat in the result; {RATE}"),
        ("SomethingElse", "no name SomethingElse in the result"),
        (
            "twice",
            f"twice is ambiguous: {TWINS}; write one of them, or a dotted name",
        ),
        ("Money", ""),
    ],
)  # fmt: skip
def test_a_wrong_name_says_what_was_meant(names: Names, name: str, said: str) -> None:
    assert unclear(names, name, names.resolve(name)) == said


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("Policy.Guard", "shop/pricing/policy.go::Policy.Guard"),
        ("pricing.Policy", "shop/pricing/policy.go::Policy"),
        ("shop.pricing.Policy.Guard", "shop/pricing/policy.go::Policy.Guard"),
        ("Tax.rate", "crates/core/src/tax.rs::Tax.rate"),
        ("Tax::rate", "crates/core/src/tax.rs::Tax.rate"),
        ("crate::tax::Tax", "crates/core/src/tax.rs::Tax"),
        ("tax::Tax::rate", "crates/core/src/tax.rs::Tax.rate"),
        ("com.shop.Cart.put", "src/main/java/com/shop/Cart.java::Cart.put"),
        ("Cart.put", "src/main/java/com/shop/Cart.java::Cart.put"),
        ("shop::List", "native/list.hpp::shop.List"),
        ("List::push", "native/list.hpp::shop.List.push"),
        ("app/money.py::Money::total", "app/money.py::Money.total"),
        ("app/money.py::total", "app/money.py::Money.total"),
        ("pricing.engine", "app/pricing/engine.py"),
    ],
)
def test_names_in_every_language(names: Names, name: str, node: str) -> None:
    meaning = names.resolve(name)
    assert isinstance(meaning, Found), meaning
    assert meaning.ids == frozenset(names.graph.inside(node))


@pytest.mark.parametrize(
    ("line", "severity", "said"),
    [
        ("DiscountEngin -> Invoice", "warning", f"no name DiscountEngin yet; {ENGINE}"),
        ("add Invoice", "", ""),
        ("add DiscountEngines", "", ""),
        ("remove Invoice", "warning", "no name Invoice on the base: there is nothing to remove"),
        ("not DiscountEngine -> Mony", "warning", f"no name Mony on the base: there is nothing to remove; {MONEY}"),
        ("add app/mony.py", "error", f"no path app/mony.py, {NOWHERE}; did you mean app/money.py?"),
    ],
)  # fmt: skip
def test_a_plan_is_told_before_anything_runs(
    repo: Any, plan: Callable[..., Any], line: str, severity: str, said: str
) -> None:
    module = {"id": "Pricing/Engine", "write_scope": ["app/pricing/"], "expected_deltas": {"graph": [line]}}
    found: list[NameProblem] = repo.knowledge.name_problems(repo.tree(FILES), plan([module]))
    assert [(each.severity, each.message) for each in found] == ([(severity, said)] if said else [])


def test_an_edge_that_its_review_would_refuse_is_told_before(repo: Any, plan: Callable[..., Any]) -> None:
    engine = {"write_scope": ["app/pricing/"], "expected_deltas": {"graph": ["DiscountEngine -> Money", "add New"]}}
    money = {"id": "Money", "write_scope": ["app/money.py"]}
    tree = repo.tree(FILES)
    (said,) = repo.knowledge.name_problems(tree, plan([money, {"id": "Engine", **engine}]))
    assert (said.module, said.nth, said.severity, said.undeclared) == ("Engine", 0, "warning", True)
    assert said.message == "Money is of Money, which Engine does not declare: a review refuses that"
    assert not repo.knowledge.name_problems(tree, plan([money, {"id": "Engine", "depends_on": ["Money"], **engine}]))
    assert not repo.knowledge.name_problems(tree, plan([{"id": "Engine", **engine}]))  # nobody's: free to use


def test_any_number_of_wrong_names_takes_no_time_to_speak_of(names: Names) -> None:
    said = [unclear(names, name, names.resolve(name)) for name in (f"Mone{n}" for n in range(2 * SUGGESTED))]
    assert sum("did you mean" in each for each in said) <= SUGGESTED
    assert all(each.startswith("no name Mone") for each in said)
