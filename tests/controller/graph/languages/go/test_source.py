"""What one Go file says: definitions, imports, and where names lead from inside it."""

import random
import textwrap
import time

import pytest

from controller.graph.facts import FileFacts
from controller.graph.language import facts


def read(source: str) -> FileFacts:
    return facts("go", textwrap.dedent(source).encode())


def leads(source: str) -> set[str]:
    """Give `source kind scope:root.attrs` of every reference, `-` for what is empty."""
    found = read(source).references
    return {f"{r.source or '-'} {r.kind} {r.scope or '-'}:{'.'.join((r.root, *r.attrs))}" for r in found}


def inside(body: str, imports: str = 'import "m/money"') -> set[str]:
    """Give what the body of a function calls."""
    return {each.partition(":")[2] for each in leads(f"package p\n{imports}\nfunc f() {{\n{body}\n}}\n")}


def test_definitions_with_kind_line_and_signature() -> None:
    found = read(
        """
        package p
        const (
        \tA = iota
        \tB
        )
        var x, y int = 1, 2
        type (
        \tMoney struct{ cents int }
        \tAdder interface {
        \t\tAdd(other Money) (Money, error)
        \t}
        \tAlias = Money
        )
        func New[T any](
        \tcents T,
        ) *Money { type local int; return nil }
        func (m *Money) Add(other Money) Money { return m }
        func (s Set[K, V]) Has(k K) bool { return true }
        func (_ *Money) init() {}
        func init() {}
        func init() {}
        var _ Adder = (*Money)(nil)
        """
    ).definitions
    assert [(d.qual, d.kind, d.line) for d in found] == [
        ("A", "variable", 4),
        ("B", "variable", 5),
        ("x", "variable", 7),
        ("y", "variable", 7),
        ("Money", "class", 9),
        ("Adder", "class", 10),
        ("Adder.Add", "method", 11),
        ("Alias", "class", 13),
        ("New", "function", 15),
        ("Money.Add", "method", 18),
        ("Set.Has", "method", 19),
        ("Money.init", "method", 20),
        ("init", "function", 21),
    ]
    signatures = {d.qual: d.signature for d in found}
    assert signatures["Money"] == "Money struct"
    assert signatures["New"] == "func New[T any]( cents T, ) *Money"
    assert signatures["Money.Add"] == "func (m *Money) Add(other Money) Money"
    assert signatures["Adder.Add"] == "Add(other Money) (Money, error)"
    assert signatures["x"] == "x, y int = 1, 2"


def test_every_form_of_import() -> None:
    found = read(
        """
        package p
        import "fmt"
        import (
        \tm "example.com/shop/money"
        \t. "example.com/shop/tax"
        \t_ "example.com/shop/driver"
        \t"example.com/go-yaml/v2"
        \t"gopkg.in/check.v1"
        )
        """
    ).imports
    assert [(i.bound, i.module, i.symbol, i.line) for i in found] == [
        ("fmt", "fmt", "", 3),
        ("m", "example.com/shop/money", "", 5),
        ("*", "example.com/shop/tax", "*", 6),
        ("_", "example.com/shop/driver", "init", 7),
        ("yaml", "example.com/go-yaml/v2", "", 8),
        ("check", "gopkg.in/check.v1", "", 9),
    ]


@pytest.mark.parametrize(
    ("path", "used", "bound"),
    [
        ("a/prometheus-client", "client.New()", {"prometheus-client", "client"}),
        ("a/whatever", "other.New()", {"whatever", "other"}),
        ("a/whatever", "other.New(); third.New()", {"whatever"}),
        ("a/money", "money.New(); other.New()", {"money"}),
    ],
)
def test_a_package_that_is_not_called_like_its_folder(path: str, used: str, bound: set[str]) -> None:
    found = read(f'package p\nimport "{path}"\nfunc f() {{ {used} }}\n').imports
    assert {each.bound for each in found} == bound


@pytest.mark.parametrize(
    "body",
    [
        "money := 1; money.Add()",
        "var money int; money.Add()",
        "for money := range x { money.Add() }",
        "for _, money := range x { money.Add() }",
        "if money := x(); true { money.Add() }",
        "if x { money := 1; money.Add() }",
        "switch money := x(); { case true: money.Add() }",
        "switch money := x.(type) { case int: money.Add() }",
        "select { case money := <-c: money.Add() }",
        "g := func(money int) { money.Add() }",
        "g := func() (money int) { money.Add() }",
        "a, money := x(); money.Add()",
        "const money = 1; money.Add()",
        "type money int; money.Add()",
    ],
)
def test_a_local_hides_an_import_of_its_name(body: str) -> None:
    found = inside(body)
    assert "money.Add" not in found
    assert any(each.endswith(".Add") for each in found), "the call stays"


@pytest.mark.parametrize(
    "body",
    [
        "money.Add()",
        "money := money.Add(); _ = money",
        "money.Add(); money := 1; _ = money",
        "if money := x(); true { _ = money }; money.Add()",
        "{ money := 1; _ = money }; money.Add()",
        "for money := range x { _ = money }; money.Add()",
        "g := func(money int) {}; money.Add()",
        "x := T{money: money.Add()}",
        "x := func() { money.Add() }",
        "go money.Add()",
        "defer func() { money.Add() }()",
        "money.\n\t\tAdd()",
        "var money = money.Add()",
        "switch x { case 1: money := 2; _ = money; case 2: money.Add() }",
    ],
)
def test_an_import_is_seen_where_nothing_hides_it(body: str) -> None:
    assert "money.Add" in inside(body)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("var m money.Money; m.Add()", "money.Money.Add"),
        ("var m *money.Money; m.Add()", "money.Money.Add"),
        ("m := money.Money{}; m.Add()", "money.Money.Add"),
        ("m := &money.Money{Cents: 1}; m.Add()", "money.Money.Add"),
        ("m := new(money.Money); m.Add()", "money.Money.Add"),
        ("m := money.New(1); m.Add()", "money.New.().Add"),
        ("m, err := money.New(1); m.Add(); _ = err", "money.New.().Add"),
        ("err, m := money.New(1); m.Add(); _ = err", "money.New.()1.Add"),
        ("m := x.(*money.Money); m.Add()", "money.Money.Add"),
        ("m, ok := x.(*money.Money); m.Add()", "money.Money.Add"),
        ("switch m := x.(type) { case *money.Money: m.Add() }", "money.Money.Add"),
        ("for _, m := range []money.Money{} { m.Add() }", "money.Money.Add"),
        ("var all []money.Money; for _, m := range all { m.Add() }", "money.Money.Add"),
        ("var all map[string]*money.Money; all[1].Add()", "money.Money.Add"),
        ("var c chan money.Money; m := <-c; m.Add()", "money.Money.Add"),
        ("var all [][]money.Money; all[1][2].Add()", "money.Money.Add"),
        ("money.New(1).Add(2).Sub()", "money.New.().Add.().Sub"),
        ("m := money.New(1); m = money.New(2); m.Sum.Add()", "money.New.().Sum.Add"),
        ("a := money.New(1); b := a; c := b.Neg(); c.Add()", "money.New.().Neg.().Add"),
        ("m := money.New(1); m = m.Neg(); { m := m.Abs(); m.Add() }", "money.New.().Abs.().Add"),
        ("g := func(all ...money.Money) { all[0].Add() }", "money.Money.Add"),
        ("var m money.List[int]; m.Add()", "money.List.Add"),
        ("money.Map[int, string](x)", "money.Map"),
        ("m := (money.New(1)); m.Add()", "money.New.().Add"),
    ],
)
def test_locals_are_replaced_by_their_types(body: str, called: str) -> None:
    assert called in inside(body)


@pytest.mark.parametrize(
    "body",
    [
        "m := -money.Rate; m.Add()",
        "m := money.A + money.B; m.Add()",
        "a, b := money.A, 1; b.Add(); _ = a",
        "m := []money.Money{}; m.Add()",
        "m := func() money.Money { return x }; m.Add()",
        "switch m := x.(type) { case *money.Money, int: m.Add() }",
        "for m := range []money.Money{} { m.Add() }",
    ],
)
def test_what_nobody_can_know_stays_a_bare_call(body: str) -> None:
    assert not {each for each in inside(body) if each.startswith("money") and each.endswith(".Add")}
    assert ".Add" in inside(body)


def test_type_parameters_stand_for_their_constraint() -> None:
    found = leads("package p\nfunc f[T Adder, U any](t T, u U) { t.Add(); u.Sub() }\n")
    assert {each for each in found if "calls" in each} == {"f calls -:Adder.Add", "f calls -:.Sub"}


def test_receivers_fields_and_embedding() -> None:
    source = """
        package p
        import "m/money"
        type Engine struct {
        \t*Base
        \tmoney.Rates
        \tpolicy *Policy
        \tall    []money.Money
        }
        type Runner interface {
        \tmoney.Adder
        \tRun() *Engine
        }
        type Number interface { ~int | Money }
        func (e *Engine) Run() (*Policy, []money.Money) {
        \te.policy.Guard()
        \te.all[0].Add()
        \treturn nil, nil
        }
        var Default = New()
    """
    found = leads(source)
    assert {each for each in found if "inherits" in each} == {
        "Engine inherits -:Base",
        "Engine inherits -:money.Rates",
        "Runner inherits -:money.Adder",
    }
    assert {"Engine.Run calls -:Engine.policy.Guard", "Engine.Run calls -:Engine.all[].Add"} <= found
    assert "Number uses -:Money" in found
    rows = {(each.scope, each.bound, each.symbol) for each in read(source).imports if not each.denotes}
    assert rows == {
        ("Engine", "Base", "Base"),
        ("Engine", "Rates", "money.Rates"),
        ("Engine", "policy", "Policy"),
        ("Engine", "all[]", "money.Money"),
        ("Runner.Run", "()", "Engine"),
        ("Engine.Run", "()", "Policy"),
        ("Engine.Run", "()1[]", "money.Money"),
        ("Default", "=", "New.()"),
    }


def test_keys_of_literals_are_fields_unless_the_literal_is_a_map() -> None:
    assert "Limit" not in inside("x := T{Limit: 1}")
    assert "Limit" in inside("x := map[string]int{Limit: 1}")


def test_what_stands_outside_functions_belongs_to_the_file_or_the_type() -> None:
    found = leads("package p\nvar x = make2(Limit)\ntype T struct{ f func(money.Money) Policy }\n")
    assert found == {"- calls -:make2", "- uses -:Limit", "T uses -:money.Money", "T uses -:Policy"}


def test_a_broken_file_says_what_can_be_read() -> None:
    found = read("package p\nfunc a() {}\nfunc b( {\nfunc c() { a() }\n")
    assert "a" in {each.qual for each in found.definitions}
    assert found.error_line == 3


SEED = """package p
import ("m/money"; . "x")
type T[K any] struct { *Base; a, b []map[string]*money.M `x` }
func (t *T[K]) F(x ...int) (r *T[K], err error) {
	for i, v := range t.a[1:] { v["x"].Add(i)(2).b[3].c() }
	switch y := x.(type) { case *T[int]: y.F(); default: }
	if a, ok := <-c; ok { go func() { defer a.b() }() }
	return &T[K]{a: nil}, F[int](3)
}
"""


def test_no_input_raises() -> None:
    chance = random.Random(7)
    source = SEED.encode()
    for _ in range(150):
        mutated = bytearray(source)
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(mutated))
            kind = chance.randrange(3)
            if kind == 0:
                del mutated[at : at + chance.randrange(1, 30)]
            elif kind == 1:
                mutated[at:at] = bytes(chance.choices(b"(){}[]<>.:;,*&\"'`\n\0\xff azT=", k=chance.randrange(1, 6)))
            else:
                other = chance.randrange(len(source))
                mutated[at:at] = source[other : other + chance.randrange(1, 60)]
            mutated = mutated or bytearray(source)
        assert isinstance(facts("go", bytes(mutated)), FileFacts)


@pytest.mark.parametrize(
    "source",
    [
        b"package p\nfunc f() { " + b"(" * 20_000 + b"}",
        b"package p\nfunc f() { x" + b".a()" * 20_000 + b" }",
        b"package p\nfunc f() " + b"{ x := 1; " * 3_000 + b"}" * 3_000,
        b"package p\nvar x = " + b"T{" * 5_000,
        b"package p\nfunc f() { " + b"x := x.y(); " * 2_000 + b"}",
        b"package p\ntype T " + b"[]" * 20_000 + b"int",
        b"\xff\xfe" * 10_000,
        b"package p\nimport ("
        + b"".join(b'"x%d";' % at for at in range(3_000))
        + b")\nfunc f() { "
        + b"".join(b"y%d.Z(); " % at for at in range(3_000))
        + b"}",
    ],
)
def test_hostile_input_is_read_in_time(source: bytes) -> None:
    began = time.process_time()
    facts("go", source)
    assert time.process_time() - began < 3
