"""One thing under two names is said once, and hides nothing that is gone."""

from collections.abc import Callable

import pytest

from packets.graph import GraphReport

Between = Callable[..., GraphReport]

MONEY = (
    "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n"
    "    def add(self, other):\n        return Money(self.cents + other.cents)\n\n\n"
    "def parse(text):\n    whole, _, rest = text.partition('.')\n    return Money(int(whole) * 100 + int(rest or 0))\n"
)
TAX = "def tax(price):\n    rate = 19 if price.country == 'de' else 20\n    return price.cents * rate // 100\n"
BASE = {"app/__init__.py": "", "app/money.py": MONEY, "app/tax.py": TAX, "docs/a.md": "# A\n\none\ntwo\nthree\n"}


def found(report: GraphReport) -> dict[str, str]:
    return {each.before: each.after for each in report.renames}


@pytest.mark.parametrize(
    ("head", "renamed"),
    [
        ({"app/money.py": None, "app/cash.py": MONEY}, {"app/money.py": "app/cash.py"}),
        ({"app/money.py": None, "lib/money.py": MONEY + "\n\nRATE = 1\n"}, {"app/money.py": "lib/money.py"}),
        ({"docs/a.md": None, "docs/b.md": "# A\n\none\ntwo\nfour\n"}, {"docs/a.md": "docs/b.md"}),
        ({"docs/a.md": None, "notes.txt": BASE["docs/a.md"]}, {"docs/a.md": "notes.txt"}),
        ({"app/tax.py": TAX.replace("def tax", "def levy")}, {"app/tax.py::tax": "app/tax.py::levy"}),
        ({"app/money.py": MONEY.replace("Money", "Cash")}, {"app/money.py::Money": "app/money.py::Cash"}),
        (
            {"app/money.py": MONEY.replace("def add", "def plus")},
            {"app/money.py::Money.add": "app/money.py::Money.plus"},
        ),
        (
            {"app/tax.py": "", "app/money.py": MONEY + "\n\n" + TAX.replace("19", "21")},
            {"app/tax.py::tax": "app/money.py::tax"},
        ),
        (
            {"app/money.py": MONEY[MONEY.index("def parse") :], "app/cash.py": MONEY[: MONEY.index("def parse")]},
            {"app/money.py::Money": "app/cash.py::Money"},
        ),
        ({"app/tax.py": "def levy(order):\n    raise NotImplementedError(order.total)\n"}, {}),
        ({"docs/a.md": None, "docs/b.md": "# B\n\nanother\ntext\n"}, {}),
        ({"app/__init__.py": None, "lib/empty.py": ""}, {}),
    ],
)
def test_what_is_the_same_under_another_name(between: Between, head: dict[str, str], renamed: dict[str, str]) -> None:
    assert found(between(BASE, head)) == renamed


def test_what_is_inside_comes_along(between: Between) -> None:
    (rename,) = between(BASE, {"app/money.py": None, "app/cash.py": MONEY}).renames
    assert (rename.inside, rename.likeness) == (4, 1.0)
    (rename,) = between(BASE, {"app/money.py": MONEY.replace("Money", "Cash")}).renames
    assert (rename.inside, rename.likeness) == (2, 1.0)
    moved = MONEY.replace("def add(self, other)", "def plus(self, other)")
    both = between(BASE, {"app/money.py": None, "app/cash.py": moved}).renames
    assert [(each.before, each.after) for each in both] == [
        ("app/money.py", "app/cash.py"), ("app/money.py::Money.add", "app/cash.py::Money.plus"),
    ]  # fmt: skip


def test_twins_are_nobody_s(between: Between) -> None:
    one = "def {}():\n    return 1\n"
    head = {"app/x.py": one.format("c") + one.format("d")}
    report = between({"app/x.py": one.format("a") + one.format("b")}, head)
    assert report.renames == ()
    assert len(report.actual.nodes_removed) == len(report.actual.nodes_added) == 2


def test_the_delta_stays_whole_and_a_used_name_that_went_is_named(between: Between) -> None:
    base = {**BASE, "shop.py": "from app.tax import tax\n\nprint(tax(1))\n"}
    report = between(base, {"app/tax.py": TAX.replace("def tax", "def levy")}, module={"write_scope": ["app/"]})
    assert (report.actual.nodes_removed, report.actual.nodes_added) == (("app/tax.py::tax",), ("app/tax.py::levy",))
    (gone,) = report.surface_in_use
    assert (gone.symbol, gone.now, gone.users) == ("app/tax.py::tax", "app/tax.py::levy", ("shop.py:1", "shop.py:3"))


@pytest.mark.parametrize(
    ("path", "text", "name", "other"),
    [
        ("a.js", "export function tax(p) {\n  return p.cents * 19 / 100 + p.fee;\n}\n", "tax", "levy"),
        ("a.go", "package a\n\nfunc Tax(p Price) int {\n\treturn p.Cents*19/100 + p.Fee\n}\n", "Tax", "Levy"),
        ("a.rs", "pub fn tax(p: &Price) -> i64 {\n    p.cents * 19 / 100 + p.fee\n}\n", "tax", "levy"),
        (
            "A.java", "class A {\n  static long tax(P p) {\n    return p.cents * 19 / 100 + p.fee;\n  }\n}\n",
            "A.tax", "A.levy",
        ),
        ("a.c", "long tax(struct price *p)\n{\n  return p->cents * 19 / 100 + p->fee;\n}\n", "tax", "levy"),
    ],
)  # fmt: skip
def test_in_every_language(between: Between, path: str, text: str, name: str, other: str) -> None:
    leaf, new = name.rpartition(".")[2], other.rpartition(".")[2]
    report = between({path: text}, {path: text.replace(f"{leaf}(", f"{new}(")})
    assert found(report) == {f"{path}::{name}": f"{path}::{other}"}


def test_a_large_upheaval_takes_no_time_to_speak_of(between: Between) -> None:
    many = {f"old/m{n}.py": f"def f{n}(x):\n    return x.y{n} + {n}\n" for n in range(300)}
    moved: dict[str, str | None] = dict.fromkeys(many)
    report = between(many, {**moved, **{path.replace("old/", "new/"): text for path, text in many.items()}})
    assert len(report.renames) == 300
