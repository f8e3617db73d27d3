"""Edges over many Rust files: re-exports, methods away from their type, traits, stars, other crates."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Arrows = Callable[[Mapping[str, str]], Any]

SHOP = {
    "Cargo.toml": '[workspace]\nmembers = ["money", "app"]\n',
    "money/Cargo.toml": '[package]\nname = "shop-money"\nedition = "2021"\n',
    "money/src/lib.rs": """
pub mod cents;
mod rate;
pub mod ops { pub fn deep() {} }
pub use cents::Money;
pub use rate::*;
pub use self::cents::{Kind, make as build};
pub static ZERO: Money = Money { rate: None };
""",
    "money/src/cents.rs": """
use crate::rate::Rate;
use super::rate::Apply;
pub struct Money { pub rate: Option<Rate> }
pub enum Kind { Gross, Net(u8) }
impl Kind { pub fn tax(&self) {} }
impl Money {
    pub fn new(cents: u8) -> Self { Money { rate: None } }
    pub fn try_new(cents: u8) -> Result<Self, String> { Ok(Self::new(cents)) }
    pub fn same(&self) -> &Self { self }
}
pub fn make() -> Money { Money::new(1) }
impl Apply for Money { fn apply(&self) {} }
""",
    "money/src/rate.rs": """
use crate::Money;
pub struct Rate;
pub struct Other;
impl Other { pub fn add(&self) {} }
pub trait Apply { fn apply(&self); fn twice(&self) { self.apply() } }
impl Money { pub fn add(&self, other: &Money) -> Rate { self.rate.as_ref().unwrap().times(); Rate } }
impl Rate { pub fn times(&self) {} }
""",
    "app/Cargo.toml": """
[package]
name = "app"
edition = "2021"
[dependencies]
cash = { path = "../money", package = "shop-money" }
""",
}


def linked(arrows: Arrows, body: str, *kinds: str, head: str = "use cash::*;") -> set[str]:
    """Give the targets of what the function `main` of another crate does."""
    found = arrows({**SHOP, "app/src/main.rs": f"{head}\nfn main() {{ {body} }}\n"}).of(*(kinds or ("calls",)))
    start = "app/src/main.rs::main -> "
    return {each.removeprefix(start) for each in found if each.startswith(start)}


CENTS, RATE = "money/src/cents.rs", "money/src/rate.rs"


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("cash::Money::new(1)", f"{CENTS}::Money.new"),
        ("cash::cents::make()", f"{CENTS}::make"),
        ("cash::build().same().same()", f"{CENTS}::Money.same"),
        ("cash::ops::deep()", "money/src/lib.rs::ops.deep"),
        ("let m = cash::Money::new(1); m.add(&m).times()", f"{RATE}::Money.add"),
        ("let m = cash::Money::new(1); m.add(&m).times()", f"{RATE}::Rate.times"),
        ("let m = cash::Money::try_new(1).unwrap(); m.add(&m);", f"{RATE}::Money.add"),
        ("let m: cash::Money = x; m.apply()", f"{CENTS}::Money.apply"),
        ("let m: cash::Money = x; m.twice()", f"{RATE}::Apply.twice"),
        ("let m: &dyn cash::Apply = x; m.apply()", f"{RATE}::Apply.apply"),
        ("cash::ZERO.add(x)", f"{RATE}::Money.add"),
        ("cash::Kind::Net(1).tax()", f"{CENTS}::Kind.tax"),
        ("cash::Kind::Net(1).tax()", f"{CENTS}::Kind.Net"),
        ("if let Some(r) = cash::build().rate { r.times() }", f"{RATE}::Rate.times"),
        ("let o = cash::Other; let o: cash::Other = o; o.add()", f"{RATE}::Other.add"),
        ("assert!(cash::build().same() == x)", f"{CENTS}::Money.same"),
    ],
)
def test_calls_into_a_crate(arrows: Arrows, body: str, target: str) -> None:
    assert target in linked(arrows, body, head="")


def test_stars_bring_what_the_crate_re_exports(arrows: Arrows) -> None:
    assert linked(arrows, "Money::new(1).same(); build(); let r: Rate = x; r.times()") == {
        f"{CENTS}::Money.new", f"{CENTS}::Money.same", f"{CENTS}::make", f"{RATE}::Rate.times",
    }  # fmt: skip


def test_a_call_leads_to_the_method_of_its_own_type_alone(arrows: Arrows) -> None:
    assert linked(arrows, "let o: Other = x; o.add(1)") == {f"{RATE}::Other.add"}
    assert linked(arrows, "let o: Nothing = x; o.add(1)") == set()


def test_inside_the_crate(arrows: Arrows) -> None:
    found = arrows(SHOP)
    assert {
        f"{CENTS}::Money.try_new -> {CENTS}::Money.new",
        f"{CENTS}::make -> {CENTS}::Money.new",
        f"{RATE}::Money.add -> {RATE}::Rate.times",
        f"{RATE}::Apply.twice -> {RATE}::Apply.apply",
    } <= found.of("calls")
    assert found.of("inherits") == {f"{CENTS}::Money -> {RATE}::Apply"}
    assert {
        "money/src/lib.rs -> money/src/rate.rs",
        f"money/src/lib.rs -> {CENTS}::Money",
        f"{CENTS} -> {RATE}::Rate",
        f"{RATE} -> {CENTS}::Money",
        f"{RATE} -> money/src/lib.rs",
    } <= found.of("imports")


def test_the_facade_is_named(arrows: Arrows) -> None:
    main = {"app/src/main.rs": "use cash::{Money, ops};\nfn main() { serde::x(); }\n"}
    edges = arrows({**SHOP, **main}).graph.outgoing["app/src/main.rs"]
    assert {(edge.target, edge.via) for edge in edges if edge.kind == "imports"} == {
        ("money/src/lib.rs", ""),
        (f"{CENTS}::Money", "money/src/lib.rs"),
        ("money/src/lib.rs::ops", ""),
        ("ext:serde", ""),
    }


def test_a_call_leads_to_the_function_and_not_to_the_module_of_its_name(arrows: Arrows) -> None:
    files = {
        "src/lib.rs": "mod serve;\npub use serve::serve;\nfn f() { serve(); }\n",
        "src/serve.rs": "pub fn serve() {}\n",
    }
    assert arrows(files).of("calls") == {"src/lib.rs::f -> src/serve.rs::serve"}


def test_what_a_file_uses_of_itself_is_no_import(arrows: Arrows) -> None:
    files = {"src/lib.rs": "enum K { A }\nuse K::A;\nfn f() { use self::K as L; L::A; A; }\n"}
    found = arrows(files)
    assert found.of("imports") == set()
    assert "src/lib.rs::f -> src/lib.rs::K.A" in found.of("uses")
