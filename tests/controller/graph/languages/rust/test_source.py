"""What one Rust file says: definitions, imports, and where names lead from inside it."""

import random
import textwrap
import time

import pytest

from controller.graph.facts import FileFacts
from controller.graph.language import facts


def read(source: str) -> FileFacts:
    return facts("rust", textwrap.dedent(source).encode())


def leads(source: str) -> set[str]:
    """Give `source kind scope:root.attrs` of every reference, `-` for what is empty."""
    found = read(source).references
    return {f"{r.source or '-'} {r.kind} {r.scope or '-'}:{'.'.join((r.root, *r.attrs))}" for r in found}


def inside(body: str, head: str = "use m::money; use m::Money;") -> set[str]:
    """Give what the body of a function leads to."""
    return {each.partition(":")[2] for each in leads(f"{head}\nfn f() {{\n{body}\n}}\n")}


def imported(source: str) -> list[tuple[str, str, str, str, str]]:
    return [(i.scope, i.bound, i.module, i.symbol, i.denotes) for i in read(source).imports]


def test_definitions_with_kind_line_and_signature() -> None:
    found = read(
        """
        pub const RATE: u8 = 1;
        static NAME: &str = "x";
        pub struct Money<T> where T: Copy {
            pub cents: T,
        }
        struct Pair(Money, u8);
        pub enum Kind {
            A,
            B(u8),
            C { x: u8 },
        }
        union Bits { a: u8 }
        type Alias = Money<u8>;
        pub trait Adder: Base {
            const ZERO: u8;
            type Out;
            fn add(&self) -> Self::Out;
            fn twice(&self) {}
        }
        impl<T> Money<T> {
            pub const ONE: u8 = 1;
            pub async fn new(
                cents: u8,
            ) -> Self { fn helper() {} loop {} }
        }
        impl Adder for Money<u8> {
            type Out = u8;
            fn add(&self) -> u8 { 1 }
        }
        impl Adder for (u8, str) { fn add(&self) {} }
        impl Adder for str { fn add(&self) {} }
        macro_rules! money { () => { fn hidden() {} } }
        mod inner {
            pub fn deep() {}
        }
        extern "C" { fn foreign(); }
        """
    ).definitions
    assert [(d.qual, d.kind, d.line) for d in found] == [
        ("RATE", "variable", 2),
        ("NAME", "variable", 3),
        ("Money", "class", 4),
        ("Pair", "class", 7),
        ("Kind", "class", 8),
        ("Kind.A", "variable", 9),
        ("Kind.B", "variable", 10),
        ("Kind.C", "variable", 11),
        ("Bits", "class", 13),
        ("Alias", "class", 14),
        ("Adder", "class", 15),
        ("Adder.ZERO", "variable", 16),
        ("Adder.add", "method", 18),
        ("Adder.twice", "method", 19),
        ("Money.ONE", "variable", 22),
        ("Money.new", "method", 23),
        ("Money.new.helper", "function", 25),
        ("Money.add", "method", 29),
        ("u8_str.add", "method", 31),
        ("str.add", "method", 32),
        ("money", "function", 33),
        ("inner", "class", 34),
        ("inner.deep", "function", 35),
        ("foreign", "function", 37),
    ]
    signatures = {d.qual: d.signature for d in found}
    assert signatures["Money"] == "pub struct Money<T> where T: Copy"
    assert signatures["Money.new"] == "pub async fn new( cents: u8, ) -> Self"
    assert signatures["Adder.add"] == "fn add(&self) -> Self::Out;"
    assert signatures["Pair"] == "struct Pair(Money, u8);"


def test_every_form_of_import() -> None:
    assert imported(
        """
        extern crate serde as s;
        mod a;
        use a::b::{self, c as d, E, inner::*};
        use crate::x::Y;
        pub(crate) use super::super::up;
        use self::a::Z;
        use std::fmt;
        use ::leading::L;
        use m::Tr as _;
        fn f() { use g::h; }
        """
    ) == [
        ("", "s", "serde", "", "serde"),
        ("", "a", "self.a", "", "mod self::a"),
        ("", "b", "self.a.b", "a.b", "self"),
        ("", "d", "self.a.b.c", "a.b.c", "self"),
        ("", "E", "self.a.b.E", "a.b.E", "self"),
        ("", "*", "self.a.b.inner", "*", "mod self::a::b::inner"),
        ("", "Y", "crate.x.Y", "x.Y", "crate"),
        ("", "up", "super.super.up", "up", "super::super"),
        ("", "Z", "self.a.Z", "a.Z", "self"),
        ("", "fmt", "std.fmt", "fmt", "std"),
        ("", "L", "leading.L", "L", "leading"),
        ("", "_", "m.Tr", "Tr", "m"),
        ("f", "h", "g.h", "h", "g"),
    ]


def test_modules_inside_the_file() -> None:
    source = """
        use m::Money;
        fn top() {}
        mod tests {
            use super::*;
            use super::top as t;
            use self::deep::low;
            mod deep { pub fn low() { super::up(); super::super::top(); Money::new(); } }
            fn up() { t(); low(); top(); Money::new(); self::deep::low(); }
        }
        mod apart { fn alone() { top(); Money::new(); crate::z(); } }
    """
    calls = {each for each in leads(source) if "calls" in each}
    assert calls == {
        "tests.deep.low calls tests:up",
        "tests.deep.low calls -:top",
        "tests.up calls tests:t",
        "tests.up calls tests:low",
        "tests.up calls -:top",
        "tests.up calls -:Money.new",
        "tests.up calls tests:deep.low",
        "apart.alone calls -:crate.z",
    }


def test_files_and_paths_of_modules() -> None:
    found = read(
        """
        mod plain;
        #[cfg(unix)]
        #[path = "unix.rs"]
        mod imp;
        #[cfg_attr(windows, path = "win.rs")]
        #[cfg_attr(not(windows), path = "other.rs")]
        mod sys;
        mod outer { mod inner; #[path = "x/y.rs"] pub mod given; }
        """
    ).settings
    lines = "plain\nimp=unix.rs\nsys=other.rs\nsys=win.rs\nouter::inner\nouter::given=x/y.rs"
    assert found == (("mods", lines),)


@pytest.mark.parametrize(
    "body",
    [
        "let money = 1; money.add();",
        "let mut money = 1; money.add();",
        "let (a, money) = x; money.add();",
        "let [money, ..] = x; money.add();",
        "let P { money, .. } = x; money.add();",
        "let P { a: money } = x; money.add();",
        "let Some(money) = x else { return }; money.add();",
        "if let Some(money) = x { money.add(); }",
        "while let Some(ref money) = x { money.add(); }",
        "for money in x { money.add(); }",
        "for (i, money) in x { money.add(); }",
        "match x { Some(money) => money.add(), _ => {} }",
        "match x { money @ 1 => money.add(), _ => {} }",
        "match x { money if money.add() => 1, _ => 2 };",
        "let g = |money| money.add();",
        "let g = |money: u8| money.add();",
        "let g = move |&(money, _)| money.add();",
        "fn g(money: u8) { money.add(); }",
    ],
)
def test_a_local_hides_an_import_of_its_name(body: str) -> None:
    found = inside(body)
    assert "money.add" not in found
    assert any(each.endswith(".add") for each in found), "the call stays"


@pytest.mark.parametrize(
    "body",
    [
        "money::add();",
        "let money = money::add();",
        "money::add(); let money = 1;",
        "{ let money = 1; } money::add();",
        "let money = 1; money::add();",
        "for money in x {} money::add();",
        "let x = |y| money::add();",
        "let money = 1; fn g() { money::add(); }",
        "vec![money::add()];",
        'println!("{}", money::add());',
        "x.map(money::add());",
        "money::\n    add();",
        "money::add::<u8>();",
        "if let Some(x) = money::add() {}",
        "let x = S { money: money::add() };",
        "return money::add()?;",
    ],
)
def test_an_import_is_seen_where_nothing_hides_it(body: str) -> None:
    assert "money.add" in inside(body)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("let m: Money = x; m.add();", "Money.add"),
        ("let m: &mut Money = x; m.add();", "Money.add"),
        ("let m: Box<Money> = x; m.add();", "Money.add"),
        ("let m = Money::new(1); m.add();", "Money.new.().add"),
        ("let m = Money { cents: 1 }; m.add();", "Money.add"),
        ("let m = &mut Money::new(1); m.add();", "Money.new.().add"),
        ("let m = Money::new(1)?; m.add();", "Money.new.()?.add"),
        ("let m = Money::new(1).unwrap(); m.add();", "Money.new.()?.add"),
        ("let m = Money::new(1).await?; m.add();", "Money.new.()?.add"),
        ("if let Some(m) = Money::find(1) { m.add(); }", "Money.find.()?.add"),
        ("match Money::find(1) { Ok(m) => m.add(), _ => {} }", "Money.find.()?.add"),
        ("let m: Option<Money> = x; if let Some(m) = m { m.add(); }", "Money.add"),
        ("let all: Vec<Money> = x; for m in &all { m.add(); }", "Money.add"),
        ("let all: Vec<Money> = x; for m in all.iter() { m.add(); }", "Money.add"),
        ("let all: &[Money] = x; all[0].add();", "Money.add"),
        ("let all: HashMap<u8, Money> = x; all[0].add();", "Money.add"),
        ("let m: Money = x; let n = m.clone(); n.add();", "Money.add"),
        ("let m: Arc<Money> = x; m.sum.add();", "Money.sum.add"),
        ("Money::new(1)\n    // why\n    .add()\n    .sub();", "Money.new.().add.().sub"),
        ("let m: &dyn money::Adder = x; m.add();", "money.Adder.add"),
        ("let m: impl money::Adder = x; m.add();", "money.Adder.add"),
        ("let m = x as Money; m.add();", "Money.add"),
        ("let g = |m: Money| m.add();", "Money.add"),
        ("let m = Money::new(1); let m = m.neg(); m.add();", "Money.new.().neg.().add"),
        ("money::reset!(1);", "money.reset"),
    ],
)
def test_locals_are_replaced_by_their_types(body: str, called: str) -> None:
    assert called in inside(body)


def test_self_fields_results_and_bases() -> None:
    source = """
        use m::{Money, Policy, Tr};
        pub struct Engine { policy: Option<Policy>, all: Vec<Money>, pair: Pair }
        struct Pair(Money, u8);
        enum Kind { A, B(u8) }
        impl Engine {
            fn new() -> Result<Self, E> { Self { policy: None } }
            fn run(&self) -> Money {
                self.all[0].add();
                self.pair.0.add();
                Self::new();
                self.policy.as_ref().unwrap().guard();
                Kind::A.run();
            }
        }
        impl Tr for Engine {}
        trait Sub: Tr + m::Other {}
        type Short = Engine;
    """
    found = leads(source)
    assert {each for each in found if "inherits" in each} == {
        "Engine inherits -:Tr",
        "Sub inherits -:Tr",
        "Sub inherits -:m.Other",
        "Short inherits -:Engine",
    }
    assert {
        "Engine.run calls -:Engine.all[].add",
        "Engine.run calls -:Engine.pair.0.add",
        "Engine.run calls -:Engine.new",
        "Engine.run calls -:Engine.policy?.guard",
        "Engine.run calls -:Kind.A.run",
    } <= found
    rows = {(each.scope, each.bound, each.symbol) for each in read(source).imports if not each.denotes}
    assert rows == {
        ("Engine", "policy?", "Policy"),
        ("Engine", "all[]", "Money"),
        ("Engine", "pair", "Pair"),
        ("Pair", "0", "Money"),
        ("Pair", "()", "Pair"),
        ("Kind.A", "=", "Kind"),
        ("Kind.B", "()", "Kind"),
        ("Engine.new", "()?", "Engine"),
        ("Engine.run", "()", "Money"),
    }


def test_type_parameters_stand_for_their_bound() -> None:
    source = "use m::Tr;\nfn f<T: Tr, U>(t: T, u: U, v: V) where U: Tr { t.a(); u.b(); v.c(); }\n"
    calls = {each for each in leads(source) if "calls" in each}
    assert calls == {"f calls -:Tr.a", "f calls -:Tr.b", "f calls -:.c"}


def test_crates_named_without_a_use() -> None:
    source = "use a::b;\nfn f(x: serde::De) { json::to(); b::c(); u8::max(); x::y(); Vec::new(); std::fmt(); }\n"
    assert [row for row in imported(source) if row[3] == ""] == [
        ("", name, name, "", name) for name in ("serde", "json", "x", "std")
    ]
    starred = "use a::*;\nfn f() { json::to(); }\n"
    assert ("", "json", "", "", "json") in imported(starred), "the star may bring it: no dependency of its own"


def test_variants_that_a_star_brings() -> None:
    source = "enum Kind { A, B(u8) }\nfn f(k: Kind) { use Kind::*; match k { A => 1, B(x) => 2 } }\n"
    assert {("f", "A", "", "Kind.A", ""), ("f", "B", "", "Kind.B", "")} <= set(imported(source))
    assert {"f uses f:A", "f uses f:B"} <= leads(source)


def test_attributes_macros_and_fields_in_macros_are_no_uses() -> None:
    source = "fn test() {}\nfn x() {}\n#[test]\nfn a() { v![S { x: 1 }]; }\nmacro_rules! m { () => { x() } }\n"
    assert leads(source) == set()


def test_what_a_macro_is_given_may_bind_what_we_do_not_see() -> None:
    assert leads("mod route; fn user() {}\nfn a() { m!(|route| route.layer(1), user, x => user); }\n") == {
        "a calls -:.layer"
    }
    found = leads(
        "mod route; fn user() {}\nfn a() { m!(route::layer(1), user(), K::A); route.layer(); }\nenum K { A }\n"
    )
    assert found == {"a calls -:route.layer", "a calls -:user", "a uses -:K.A", "a calls -:.layer"}


def test_a_broken_file_says_what_can_be_read() -> None:
    found = read("fn a() {}\nfn b( {\nfn c() { a() }\n")
    assert "a" in {each.qual for each in found.definitions}
    assert found.error_line


SEED = """use a::{self, b::{c as d, *}, E};
#[path = "z.rs"] mod z;
mod inl { use super::*; pub fn g() { super::f::<u8>(1); } }
pub struct S<T: Tr> { pub a: Vec<T>, b: Option<Box<c::D>> }
enum K { A, B(u8), C { x: X } }
impl<T> Tr for S<T> where T: Foo { fn m(&self) -> Result<Self, E> { Self::new(1)?.x.b()[0].c::<u8>(2).await } }
macro_rules! mm { ($x:expr) => { foo($x) } }
fn f<T>(a: &mut A, (b, c): (B, C)) -> impl I<T> {
  let Some(q) = r else { return }; match a { K::C { x, y: yy } => x.f(), n if n > 1 => 3, _ => {} }
  for i in items.iter() { println!("{}", foo::bar(x.y()), S { a: 1 }); } |p: A, q| p.0.b(q)
}
"""


def test_no_input_raises() -> None:
    chance = random.Random(11)
    source = SEED.encode()
    for _ in range(150):
        mutated = bytearray(source)
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(mutated))
            kind = chance.randrange(3)
            if kind == 0:
                del mutated[at : at + chance.randrange(1, 30)]
            elif kind == 1:
                mutated[at:at] = bytes(chance.choices(b"(){}[]<>.:;,*&\"'|!?\n\0\xff azT=", k=chance.randrange(1, 6)))
            else:
                other = chance.randrange(len(source))
                mutated[at:at] = source[other : other + chance.randrange(1, 60)]
            mutated = mutated or bytearray(source)
        assert isinstance(facts("rust", bytes(mutated)), FileFacts)


@pytest.mark.parametrize(
    "source",
    [
        b"fn f() { " + b"(" * 20_000 + b"}",
        b"fn f() { x" + b".a()" * 20_000 + b"; }",
        b"fn f() " + b"{ let x = 1; " * 3_000 + b"}" * 3_000,
        b"use " + b"a::{" * 3_000 + b"}" * 3_000,
        b"use a::{" + b"b, " * 20_000 + b"};",
        b"fn f() { " + b"let x = x.y(); " * 2_000 + b"}",
        b"type T = " + b"Vec<" * 5_000 + b"u8",
        b"x!(" * 5_000,
        b"mod a { " * 3_000,
        b"\xff\xfe" * 10_000,
        b"enum E { " + b"".join(b"V%d, " % at for at in range(3_000)) + b"} fn f() { " + b"use E::*; " * 3_000 + b"}",
    ],
)
def test_hostile_input_is_read_in_time(source: bytes) -> None:
    began = time.process_time()
    facts("rust", source)
    assert time.process_time() - began < 3
