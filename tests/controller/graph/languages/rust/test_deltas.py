"""A Rust workspace whose change meets an expected delta, misses it, and exceeds it."""

from collections.abc import Callable
from functools import partial

import pytest

from packets.graph import GraphReport

BASE = {
    "Cargo.toml": '[workspace]\nmembers = ["money", "tax", "shop"]\n',
    "docs/money.md": "# Money\n",
    "money/Cargo.toml": '[package]\nname = "shop-money"\nedition = "2021"\n',
    "money/src/lib.rs": "mod ops;\npub struct Money {\n    pub cents: u64,\n}\npub fn new() -> Money { todo!() }\n",
    "money/src/ops.rs": "use crate::Money;\nimpl Money {\n    pub fn add(&self) -> Money { todo!() }\n}\n",
    "tax/Cargo.toml": '[package]\nname = "shop-tax"\nedition = "2021"\n',
    "tax/src/lib.rs": "pub mod rate;\npub use rate::of;\npub trait Taxed {}\n",
    "tax/src/rate.rs": "pub fn of(cents: u64) -> u64 {\n    cents\n}\n",
    "shop/Cargo.toml": (
        '[package]\nname = "shop"\nedition = "2021"\n\n[dependencies]\nshop-money = { path = "../money" }\n'
        'taxes = { path = "../tax", package = "shop-tax" }\n'
    ),
    "shop/src/lib.rs": "pub mod app;\npub mod engine;\n",
    "shop/src/engine.rs": (
        "use shop_money::Money;\n\npub struct Engine;\n\nimpl Engine {\n"
        "    pub fn run(&self, money: &Money) -> Money {\n        money.add()\n    }\n}\n"
    ),
    "shop/src/app.rs": (
        "use crate::engine::Engine;\n\npub fn total() -> u64 {\n    let engine = Engine {};\n"
        "    engine.run(&shop_money::new()).cents\n}\n"
    ),
}  # fmt: skip
KNOWN = {"Money": ["money/"], "Tax": ["tax/"], "App": ["shop/src/app.rs", "shop/src/lib.rs"]}
POLICY = (
    "use shop_money::Money;\n\npub trait Policy {\n    fn guard(&self, money: &Money) -> bool;\n}\n\n"
    "pub fn default_policy() -> Box<dyn Policy> {\n    todo!()\n}\n"
)
ENGINE = (
    'use shop_money::Money;\n\n#[path = "policy.rs"]\n'
    "mod policy;\nuse policy::Policy;\n\npub struct Engine {\n"
    "    policy: Box<dyn Policy>,\n}\n\nimpl Engine {\n    pub fn run(&self, money: &Money) -> Money {\n"
    "        if self.policy.guard(money) {\n            return shop_money::new();\n        }\n"
    "        money.add()\n    }\n}\n"
)  # fmt: skip
Report = Callable[..., GraphReport]


@pytest.fixture
def change(report: Report) -> Report:
    scope = ("shop/src/engine.rs", "shop/src/policy.rs", "shop/src/other.rs", "docs/")
    return partial(report, BASE, scope=scope, uses=("Money",), known=KNOWN)


MET = (
    "Engine -> Policy", "Engine.run -> Policy.guard", "Engine::run -> Policy::guard", "engine.Engine -> policy.Policy",
    "shop/src/engine.rs -> shop/src/policy.rs", "Policy -> Money", "default_policy -> Policy", "add Policy",
    "add shop/src/policy.rs", "add Policy.guard", "add docs/policy.md", "Engine.run -> shop_money.new",
)  # fmt: skip


def test_met(change: Report) -> None:
    files = {"shop/src/policy.rs": POLICY, "shop/src/engine.rs": ENGINE, "docs/policy.md": "# P\n"}
    report = change(files, *MET)
    assert [(each.text, each.met, each.reason) for each in report.expected] == [(line, True, "") for line in MET]
    assert report.undeclared == ()
    assert report.surface_in_use == ()


MISSED = (
    "Engine -> Policy", "add Policy", "not Engine -> Money", "remove Engine.run", "Engine -> tax",
)  # fmt: skip


def test_missed(change: Report) -> None:
    found = change({"shop/src/engine.rs": BASE["shop/src/engine.rs"] + "// same\n"}, *MISSED).expected
    assert [each.met for each in found] == [False] * len(MISSED)


@pytest.mark.parametrize(
    "use",
    [
        "use taxes::of;\nfn f() { of(1); }",
        "use taxes::rate;\nfn f() { rate::of(1); }",
        "use taxes::*;\nfn f() { of(1); }",
        "fn f() { taxes::rate::of(1); }",
        'fn f() { println!("{}", taxes::of(1)); }',
        "struct S;\nimpl taxes::Taxed for S {}",
        "use taxes as t;\nfn f() { t::of(1); }",
        "extern crate taxes;",
        "use crate::app::total;",
    ],
)  # fmt: skip
def test_exceeded(change: Report, use: str) -> None:
    report = change({"shop/src/other.rs": f"{use}\n"})
    module = "App" if "app" in use else "Tax"
    assert [(each.target_module, each.path) for each in report.undeclared] == [(module, "shop/src/other.rs")]


@pytest.mark.parametrize(
    "use",
    [
        "use shop_money::Money;\nfn f(m: Money) { m.add(); }",
        "use std::fmt;",
        "use crate::engine::Engine;\nfn f() { crate::engine::Engine {}; super::engine::Engine {}; }",
        "fn f(x: T) { x.of(1); }",
        "mod taxes { pub fn of() {} }\nfn f() { taxes::of(); }",
    ],
)
def test_what_needs_no_declaration(change: Report, use: str) -> None:
    assert change({"shop/src/other.rs": f"{use}\n"}).undeclared == ()


def test_removed_surface_names_its_users(change: Report) -> None:
    report = change({"shop/src/engine.rs": "pub struct Engine {}\n"}, "remove Engine.run", "not Engine -> Money")
    assert [each.met for each in report.expected] == [True, True]
    assert [(each.symbol, each.users) for each in report.surface_in_use] == [
        ("shop/src/engine.rs::Engine.run", ("shop/src/app.rs:5",)),
    ]


def test_a_method_that_moves_to_another_file_is_no_loss(change: Report) -> None:
    moved = (
        "use crate::engine::Engine;\nuse shop_money::Money;\n" + BASE["shop/src/engine.rs"].partition("Engine;\n\n")[2]
    )
    report = change(
        {"shop/src/engine.rs": "pub struct Engine;\n", "shop/src/other.rs": moved}, "shop/src/other.rs -> Money"
    )
    assert [each.met for each in report.expected] == [True]
    assert report.surface_in_use == ()
