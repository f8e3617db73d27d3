"""Edges over many Go files: one namespace a package, methods anywhere in it, promoted members, results."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

Arrows = Callable[[Mapping[str, str]], Any]

SHOP = {
    "go.mod": "module example.com/shop\n",
    "money/money.go": """package money
type Money struct { Base; rate *Rate }
type Base struct{}
func (b *Base) ID() int { return 1 }
var Zero = New(0)
const Limit = 1
func New(cents int) *Money { return &Money{} }
type Other struct{}
func (o Other) Add() {}
""",
    "money/add.go": """package money
func (m *Money) Add(other *Money) *Money { return m.scale(other.rate) }
func (m *Money) scale(r *Rate) *Money { r.Apply(); return m }
type Rate struct{}
func (r *Rate) Apply() {}
type Alias = Money
func init() {}
""",
    "money/add_test.go": "package money\nfunc helper() { New(1).Add(nil); Limit2() }\nfunc Limit2() {}\n",
    "money/out_test.go": 'package money_test\nimport "example.com/shop/money"\nfunc g() { money.New(1); New() }\n',
}


def linked(arrows: Arrows, body: str, *kinds: str, imports: str = "") -> set[str]:
    """Give the targets of what the function `main` of another package does."""
    main = f'package main\nimport "example.com/shop/money"\n{imports}\nfunc main() {{ {body} }}\n'
    found = arrows({**SHOP, "main.go": main}).of(*(kinds or ("calls",)))
    start = "main.go::main -> "
    return {each.removeprefix(start) for each in found if each.startswith(start)}


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("money.New(1)", "money/money.go::New"),
        ("money.New(1).Add(nil)", "money/add.go::Money.Add"),
        ("money.New(1).Add(nil).Add(nil)", "money/add.go::Money.Add"),
        ("m := money.New(1); m.Add(m)", "money/add.go::Money.Add"),
        ("var m money.Alias; m.Add(m)", "money/add.go::Money.Add"),
        ("money.New(1).ID()", "money/money.go::Base.ID"),
        ("money.New(1).Base.ID()", "money/money.go::Base.ID"),
        ("money.Zero.Add(nil)", "money/add.go::Money.Add"),
        ("go money.Zero.ID()", "money/money.go::Base.ID"),
        ("var o money.Other; o.Add()", "money/money.go::Other.Add"),
    ],
)
def test_calls_into_a_package(arrows: Arrows, body: str, target: str) -> None:
    assert target in linked(arrows, body)


def test_a_call_leads_to_the_method_of_its_own_type_alone(arrows: Arrows) -> None:
    assert linked(arrows, "var o money.Other; o.Add()") == {"money/money.go::Other.Add"}
    assert linked(arrows, "var o money.Nothing; o.Add()") == set()


def test_uses_of_a_package(arrows: Arrows) -> None:
    assert linked(arrows, "_ = money.Limit; var m money.Money", "uses") == {
        "money/money.go::Limit",
        "money/money.go::Money",
    }


def test_files_of_a_package_see_each_other(arrows: Arrows) -> None:
    calls = arrows(SHOP).of("calls")
    assert {
        "money/add.go::Money.Add -> money/add.go::Money.scale",
        "money/add.go::Money.scale -> money/add.go::Rate.Apply",
        "money/money.go -> money/money.go::New",
        "money/add_test.go::helper -> money/money.go::New",
        "money/add_test.go::helper -> money/add.go::Money.Add",
        "money/out_test.go::g -> money/money.go::New",
    } <= calls
    assert "money/add.go::Money.Add -> money/money.go::Money" in arrows(SHOP).of("uses")
    assert not {each for each in calls if each.startswith("money/out_test.go::g -> money/add_test")}


def test_tests_are_not_seen_from_outside(arrows: Arrows) -> None:
    assert linked(arrows, "money.Limit2(); money.helper()") == set()


def test_embedding_and_aliases_inherit(arrows: Arrows) -> None:
    assert arrows(SHOP).of("inherits") == {
        "money/money.go::Money -> money/money.go::Base",
        "money/add.go::Alias -> money/money.go::Money",
    }


@pytest.mark.parametrize(
    ("imports", "body", "kind", "target"),
    [
        ('import . "example.com/shop/money"', "New(1)", "calls", "main.go::main -> money/money.go::New"),
        ('import m "example.com/shop/money"', "m.New(1)", "calls", "main.go::main -> money/money.go::New"),
        ('import _ "example.com/shop/money"', "", "imports", "main.go -> money/add.go::init"),
        ('import "example.org/x"', "x.New(1)", "imports", "main.go -> ext:example.org/x"),
        ('import "fmt"', "fmt.Println()", "imports", "main.go -> ext:fmt"),
    ],
)
def test_imports(arrows: Arrows, imports: str, body: str, kind: str, target: str) -> None:
    main = f"package main\n{imports}\nfunc main() {{ {body} }}\n"
    assert target in arrows({**SHOP, "main.go": main}).of(kind)


def test_a_folder_that_is_called_otherwise_than_its_package(arrows: Arrows) -> None:
    files = {
        "go.mod": "module m\n",
        "go-lib/lib.go": "package lib\nfunc F() {}\n",
        "pkg-two/x.go": "package two\nfunc G() {}\n",
        "main.go": 'package main\nimport ("m/go-lib"; "m/pkg-two")\nfunc main() { lib.F(); two.G() }\n',
    }
    assert arrows(files).of("calls") == {"main.go::main -> go-lib/lib.go::F", "main.go::main -> pkg-two/x.go::G"}
