# ruff: noqa: E501 - sources and tables under test, a line each
"""A C and a C++ repository whose change meets an expected delta, misses it, and exceeds it."""

from collections.abc import Callable
from functools import partial

import pytest

from packets.graph import GraphReport

C = {
    "include/money.h": "#ifndef MONEY_H\n#define MONEY_H\ntypedef struct money { long cents; } money_t;\n"
    "money_t money_add(money_t a, money_t b);\n#define MONEY_SCALE 2\n#endif\n",
    "src/money.c": '#include "money.h"\nstatic long sum(long a, long b) { return a + b; }\n'
    "money_t money_add(money_t a, money_t b) { money_t m = { sum(a.cents, b.cents) }; return m; }\n",
    "include/tax.h": "int tax_rate(void);\n",
    "src/tax.c": '#include "tax.h"\nint tax_rate(void) { return 19; }\n',
    "include/engine.h": '#include "money.h"\nmoney_t engine_run(money_t m);\n',
    "src/engine.c": '#include "engine.h"\nmoney_t engine_run(money_t m) { return money_add(m, m); }\n',
    "app/main.c": '#include <stdio.h>\n#include "engine.h"\nint main(void) { money_t m = { 1 };\n  engine_run(m);\n  return 0; }\n',
    "scripts/build.sh": "cc -o app app/main.c\n",
}
KNOWN = {"Money": ["include/money.h", "src/money.c"], "Tax": ["include/tax.h", "src/tax.c"], "App": ["app/"]}
SCOPE = ("include/engine.h", "src/engine.c", "include/policy.h", "src/policy.c", "docs/")
POLICY = {
    "include/policy.h": '#include "money.h"\nint policy_guard(money_t m);\n',
    "src/policy.c": '#include "policy.h"\nint policy_guard(money_t m) { return m.cents > MONEY_SCALE; }\n',
    "src/engine.c": '#include "engine.h"\n#include "policy.h"\n'
    "money_t engine_run(money_t m) { return policy_guard(m) ? m : money_add(m, m); }\n",
    "docs/policy.md": "# Policy\n",
}
Report = Callable[..., GraphReport]


@pytest.fixture
def change(report: Report) -> Report:
    return partial(report, C, scope=SCOPE, uses=("Money",), known=KNOWN)


MET_IN_C = (
    "engine_run -> policy_guard", "src/engine.c -> src/policy.c", "src/engine.c -> include/policy.h",
    "engine.c -> policy.h", "policy_guard -> MONEY_SCALE", "add policy_guard", "add src/policy.c", "add docs/policy.md",
)  # fmt: skip


def test_met_in_c(change: Report) -> None:
    report = change(POLICY, *MET_IN_C)
    assert [(each.text, each.met, each.reason) for each in report.expected] == [(line, True, "") for line in MET_IN_C]
    assert report.undeclared == ()
    assert report.surface_in_use == ()


MISSED_IN_C = (
    "engine_run -> policy_guard", "add policy_guard", "not engine_run -> money_add",
)  # fmt: skip


def test_missed_in_c(change: Report) -> None:
    found = change({"src/engine.c": C["src/engine.c"] + "/* same */\n"}, *MISSED_IN_C).expected
    assert [each.met for each in found] == [False] * len(MISSED_IN_C)


def test_exceeded_in_c(change: Report) -> None:
    source = (
        '#include "engine.h"\n#include "tax.h"\nmoney_t engine_run(money_t m) { tax_rate(); return money_add(m, m); }\n'
    )
    report = change({"src/engine.c": source})
    assert [(each.target_module, each.path) for each in report.undeclared] == [("Tax", "src/engine.c")]


def test_a_function_that_moves_behind_its_header_is_no_removal(change: Report) -> None:
    moved = {"src/engine.c": '#include "engine.h"\n', "src/policy.c": C["src/engine.c"]}
    report = change(moved, "remove src/engine.c::engine_run", "add src/policy.c::engine_run")
    assert [each.met for each in report.expected] == [True, True]
    assert report.surface_in_use == ()


def test_a_function_that_goes_with_its_prototype_is_one(change: Report) -> None:
    gone = {"src/engine.c": '#include "engine.h"\n', "include/engine.h": '#include "money.h"\n'}
    report = change(gone, "remove engine_run")
    assert [each.met for each in report.expected] == [True]
    assert ("src/engine.c::engine_run", ("app/main.c:4",)) in [
        (each.symbol, each.users) for each in report.surface_in_use
    ]


CPP = {
    "shop/money.hpp": "#pragma once\nnamespace shop {\nclass Money {\n public:\n  explicit Money(long cents);\n"
    "  Money add(const Money& other) const;\n  long cents() const { return cents_; }\n private:\n  long cents_;\n};\n}\n",
    "shop/money.cpp": '#include "shop/money.hpp"\nnamespace shop {\nMoney::Money(long cents) : cents_(cents) {}\n'
    "Money Money::add(const Money& other) const { return Money(cents_ + other.cents_); }\n}\n",
    "shop/tax.hpp": "namespace shop { namespace tax { inline int rate() { return 19; } } }\n",
    "shop/engine.hpp": '#include "shop/money.hpp"\nnamespace shop {\nclass Engine {\n public:\n  Money run(const Money& m);\n};\n}\n',
    "shop/engine.cpp": '#include "shop/engine.hpp"\nnamespace shop {\nMoney Engine::run(const Money& m) { return m.add(m); }\n}\n',
    "app/main.cpp": '#include "shop/engine.hpp"\nusing namespace shop;\nint main() {\n  Engine engine;\n'
    "  return engine.run(Money(1)).cents();\n}\n",
}
CPP_KNOWN = {"Money": ["shop/money.*"], "Tax": ["shop/tax.hpp"], "App": ["app/"]}
CPP_SCOPE = ("shop/engine.hpp", "shop/engine.cpp", "shop/policy.hpp")
CPP_POLICY = {
    "shop/policy.hpp": '#include "shop/money.hpp"\nnamespace shop {\nstruct Policy {\n  virtual ~Policy() = default;\n'
    "  virtual bool guard(const Money& m) = 0;\n};\ntemplate <typename T> struct Always : public Policy {\n"
    "  bool guard(const Money& m) override { return m.cents() > 0; }\n};\n}\n",
    "shop/engine.hpp": '#include <memory>\n#include "shop/policy.hpp"\nnamespace shop {\nclass Engine {\n public:\n'
    "  Money run(const Money& m);\n private:\n  std::unique_ptr<Policy> policy_;\n};\n}\n",
    "shop/engine.cpp": '#include "shop/engine.hpp"\nnamespace shop {\n'
    "Money Engine::run(const Money& m) { return policy_->guard(m) ? m : m.add(m); }\n}\n",
}


@pytest.fixture
def cpp(report: Report) -> Report:
    return partial(report, CPP, scope=CPP_SCOPE, uses=("Money",), known=CPP_KNOWN)


MET_IN_CPP = (
    "Engine -> Policy", "Engine.run -> Policy.guard", "shop::Engine::run -> shop::Policy::guard", "Always -> Policy",
    "shop.Engine -> shop.Policy", "shop/engine.cpp -> shop/policy.hpp", "add Policy", "add shop.Always.guard",
)  # fmt: skip


def test_met_in_cpp(cpp: Report) -> None:
    report = cpp(CPP_POLICY, *MET_IN_CPP)
    assert [(each.text, each.met, each.reason) for each in report.expected] == [(line, True, "") for line in MET_IN_CPP]
    assert report.undeclared == ()
    assert report.surface_in_use == ()


MISSED_IN_CPP = (
    "Engine -> Policy", "add Policy", "not Engine -> Money", "Engine.run -> Money.add",
)  # fmt: skip


def test_missed_in_cpp(cpp: Report) -> None:
    found = cpp({"shop/engine.cpp": CPP["shop/engine.cpp"] + "// same\n"}, *MISSED_IN_CPP).expected
    assert [each.met for each in found] == [False] * len(MISSED_IN_CPP)


def test_exceeded_in_cpp(cpp: Report) -> None:
    source = (
        '#include "shop/engine.hpp"\n#include "shop/tax.hpp"\nnamespace shop {\n'
        "Money Engine::run(const Money& m) { return tax::rate() > 0 ? m : m.add(m); }\n}\n"
    )
    report = cpp({"shop/engine.cpp": source})
    assert [(each.target_module, each.path) for each in report.undeclared] == [("Tax", "shop/engine.cpp")]


def test_removed_method_names_its_users(cpp: Report) -> None:
    header = CPP["shop/engine.hpp"].replace("  Money run(const Money& m);\n", "")
    source = '#include "shop/engine.hpp"\n'
    report = cpp({"shop/engine.hpp": header, "shop/engine.cpp": source}, "remove Engine.run", "not Engine -> Money.add")
    assert [each.met for each in report.expected] == [True, True]
    assert [each.users for each in report.surface_in_use if each.symbol == "shop/engine.cpp::shop.Engine.run"] == [
        ("app/main.cpp:5",)
    ]
