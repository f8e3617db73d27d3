"""A Go repository of two modules whose change meets an expected delta, misses it, and exceeds it."""

from collections.abc import Callable
from functools import partial

import pytest

from packets.graph import GraphReport

BASE = {
    "go.mod": "module example.com/shop\n\nreplace example.com/shop/audit => ./audit\n",
    "docs/money.md": "# Money\n",
    "money/money.go": (
        "package money\n\ntype Money struct{ cents int }\n\nfunc New(cents int) *Money { return &Money{cents} }\n\n"
        "func (m *Money) Add(other *Money) *Money { return m }\n"
    ),
    "money/text.go": "package money\n\nfunc (m *Money) String() string { return `` }\n",
    "tax/tax.go": "package tax\n\nconst Rate = 19\n\nfunc Of(cents int) int { return Rate }\n\nfunc init() {}\n",
    "audit/go.mod": "module example.com/shop/audit\n",
    "audit/log.go": "package audit\n\nfunc Log(text string) {}\n",
    "pricing/engine.go": (
        'package pricing\n\nimport "example.com/shop/money"\n\ntype Engine struct{}\n\n'
        "func (e *Engine) Run(m *money.Money) *money.Money { return m.Add(m) }\n"
    ),
    "cmd/main.go": (
        'package main\n\nimport (\n\t"example.com/shop/money"\n\t"example.com/shop/pricing"\n)\n\n'
        "func main() {\n\tengine := &pricing.Engine{}\n\tengine.Run(money.New(1)).String()\n}\n"
    ),
}  # fmt: skip
KNOWN = {"Money": ["money/"], "Tax": ["tax/"], "Audit": ["audit/"], "App": ["cmd/"]}
POLICY = (
    'package pricing\n\nimport "example.com/shop/money"\n\ntype Policy interface{ Guard(m *money.Money) bool }\n\n'
    "func newPolicy() Policy { return nil }\n"
)
ENGINE = (
    'package pricing\n\nimport "example.com/shop/money"\n\ntype Engine struct{ policy Policy }\n\n'
    "func (e *Engine) Run(m *money.Money) *money.Money {\n\tif e.policy.Guard(m) {\n\t\treturn m\n\t}\n"
    "\treturn m.Add(m)\n}\n"
)
Report = Callable[..., GraphReport]


@pytest.fixture
def change(report: Report) -> Report:
    return partial(report, BASE, scope=("pricing/", "docs/"), uses=("Money",), known=KNOWN)


MET = (
    "Engine -> Policy", "Engine.Run -> Policy.Guard", "pricing.Engine -> pricing.Policy",
    "pricing/engine.go -> pricing/policy.go", "Policy -> Money", "newPolicy -> Policy", "add Policy",
    "add pricing.Policy", "add Policy.Guard", "add pricing/policy.go", "add docs/policy.md",
)  # fmt: skip


def test_met(change: Report) -> None:
    files = {"pricing/policy.go": POLICY, "pricing/engine.go": ENGINE, "docs/policy.md": "# P\n"}
    report = change(files, *MET)
    assert [(each.text, each.met, each.reason) for each in report.expected] == [(line, True, "") for line in MET]
    assert report.undeclared == ()
    assert report.surface_in_use == ()


MISSED = (
    "Engine -> Policy", "add Policy", "not Engine -> Money", "remove Engine.Run", "Engine -> Money.String",
)  # fmt: skip


def test_missed(change: Report) -> None:
    found = change({"pricing/engine.go": BASE["pricing/engine.go"] + "// same\n"}, *MISSED).expected
    assert [each.met for each in found] == [False] * len(MISSED)


@pytest.mark.parametrize(
    ("use", "module"),
    [
        ('import "example.com/shop/tax"\n\nfunc f() int { return tax.Of(1) }', "Tax"),
        ('import t "example.com/shop/tax"\n\nfunc f() int { return t.Rate }', "Tax"),
        ('import . "example.com/shop/tax"\n\nfunc f() int { return Of(1) }', "Tax"),
        ('import _ "example.com/shop/tax"', "Tax"),
        ('import "example.com/shop/audit"\n\nfunc f() { audit.Log("") }', "Audit"),
    ],
)
def test_exceeded(change: Report, use: str, module: str) -> None:
    report = change({"pricing/other.go": f"package pricing\n\n{use}\n"})
    assert [(each.target_module, each.path) for each in report.undeclared] == [(module, "pricing/other.go")]


@pytest.mark.parametrize(
    "use",
    [
        'import "example.com/shop/money"\n\nvar m = money.New(1)',
        'import "fmt"\n\nfunc f() { fmt.Println() }',
        "func f(tax T) { tax.Of(1) }",
        "func f() { e := Engine{}; e.Run(nil) }",
    ],
)
def test_what_needs_no_declaration(change: Report, use: str) -> None:
    assert change({"pricing/other.go": f"package pricing\n\n{use}\n"}).undeclared == ()


def test_removed_surface_names_its_users(change: Report) -> None:
    report = change({"pricing/engine.go": "package pricing\n\ntype Engine struct{}\n"}, "remove Engine.Run")
    assert [each.met for each in report.expected] == [True]
    assert [(each.symbol, each.users) for each in report.surface_in_use] == [
        ("pricing/engine.go::Engine.Run", ("cmd/main.go:10",)),
    ]


def test_a_method_that_moves_inside_its_package_is_no_loss(change: Report) -> None:
    head, method = BASE["pricing/engine.go"].split("func")
    files = {"pricing/engine.go": "package pricing\n\ntype Engine struct{}\n", "pricing/run.go": f"{head}func{method}"}
    files["pricing/run.go"] = files["pricing/run.go"].replace("type Engine struct{}\n\n", "")
    report = change(files, "add pricing/run.go", "not pricing/engine.go -> Money", "pricing/run.go -> Money")
    assert [each.met for each in report.expected] == [True, True, True]
    assert report.surface_in_use == ()
