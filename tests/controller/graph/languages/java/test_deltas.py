# ruff: noqa: E501 - sources and tables under test, a line each
"""A Java repository of two builds whose change meets an expected delta, misses it, and exceeds it."""

from collections.abc import Callable
from functools import partial

import pytest

from packets.graph import GraphReport

MAIN = "shop/src/main/java/com/shop"
BASE = {
    "pom.xml": "<project/>",
    "docs/money.md": "# Money\n",
    f"{MAIN}/money/Money.java": (
        "package com.shop.money;\n\npublic final class Money {\n  public static final int SCALE = 2;\n"
        "  public Money plus(Money other) { return this; }\n  public long cents() { return 0; }\n}\n"
    ),
    f"{MAIN}/tax/Tax.java": "package com.shop.tax;\n\npublic class Tax {\n  public static int rate() { return 19; }\n}\n",
    f"{MAIN}/pricing/Engine.java": (
        "package com.shop.pricing;\n\nimport com.shop.money.Money;\n\npublic class Engine {\n"
        "  public Money run(Money money) { return money.plus(money); }\n}\n"
    ),
    "app/src/main/java/com/shop/app/Checkout.java": (
        "package com.shop.app;\n\nimport com.shop.money.*;\nimport com.shop.pricing.Engine;\n\nclass Checkout {\n"
        "  private final Engine engine = new Engine();\n"
        "  long total(Money money) { return engine.run(money).cents(); }\n}\n"
    ),
}
KNOWN = {"Money": [f"{MAIN}/money/"], "Tax": [f"{MAIN}/tax/"], "App": ["app/"]}
POLICY = "package com.shop.pricing;\n\ninterface Policy {\n  boolean guard(com.shop.money.Money money);\n}\n"
ENGINE = (
    "package com.shop.pricing;\n\nimport com.shop.money.Money;\n\npublic class Engine {\n  private Policy policy;\n"
    "  public Money run(Money money) { return policy.guard(money) ? money : money.plus(money); }\n}\n"
)
Report = Callable[..., GraphReport]


@pytest.fixture
def change(report: Report) -> Report:
    return partial(report, BASE, scope=(f"{MAIN}/pricing/", "docs/"), uses=("Money",), known=KNOWN)


MET = (
    "Engine -> Policy", "Engine.run -> Policy.guard", "com.shop.pricing.Engine -> com.shop.pricing.Policy",
    f"{MAIN}/pricing/Engine.java -> {MAIN}/pricing/Policy.java", "Policy -> Money", "add Policy",
    "add com.shop.pricing.Policy", "add Policy.guard", f"add {MAIN}/pricing/Policy.java", "add docs/policy.md",
)  # fmt: skip


def test_met(change: Report) -> None:
    files = {f"{MAIN}/pricing/Policy.java": POLICY, f"{MAIN}/pricing/Engine.java": ENGINE, "docs/policy.md": "# P\n"}
    report = change(files, *MET)
    assert [(each.text, each.met, each.reason) for each in report.expected] == [(line, True, "") for line in MET]
    assert report.undeclared == ()
    assert report.surface_in_use == ()


MISSED = (
    "Engine -> Policy", "add Policy", "not Engine -> Money", "remove Engine.run",
)  # fmt: skip


def test_missed(change: Report) -> None:
    found = change({f"{MAIN}/pricing/Engine.java": BASE[f"{MAIN}/pricing/Engine.java"] + "// same\n"}, *MISSED).expected
    assert [each.met for each in found] == [False] * len(MISSED)


@pytest.mark.parametrize(
    "use",
    [
        "import com.shop.tax.Tax;\nclass Other { int r() { return Tax.rate(); } }",
        "import com.shop.tax.*;\nclass Other { int r() { return Tax.rate(); } }",
        "import static com.shop.tax.Tax.rate;\nclass Other { int r() { return rate(); } }",
        "import static com.shop.tax.Tax.*;\nclass Other { int r() { return rate(); } }",
        "class Other { int r() { return com.shop.tax.Tax.rate(); } }",
        "class Other extends com.shop.tax.Tax { }",
    ],
)
def test_exceeded(change: Report, use: str) -> None:
    report = change({f"{MAIN}/pricing/Other.java": f"package com.shop.pricing;\n{use}\n"})
    assert [(each.target_module, each.path) for each in report.undeclared] == [("Tax", f"{MAIN}/pricing/Other.java")]


def test_removed_surface_names_its_users(change: Report) -> None:
    head = "package com.shop.pricing;\n\npublic class Engine { }\n"
    report = change({f"{MAIN}/pricing/Engine.java": head}, "remove Engine.run", "not Engine -> Money")
    assert [each.met for each in report.expected] == [True, True]
    (used,) = report.surface_in_use
    assert used.symbol == f"{MAIN}/pricing/Engine.java::Engine.run"
    assert used.users == ("app/src/main/java/com/shop/app/Checkout.java:8",)
