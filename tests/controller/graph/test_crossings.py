"""Undeclared dependencies at every level, by what the code names; not by what it is handed."""

from collections.abc import Callable

import pytest

from packets.graph import GraphReport

Between = Callable[..., GraphReport]

BASE = {
    "app/__init__.py": "",
    "app/tax.py": "class Tax:\n    def rate(self): pass\n\ndef tax(): pass\n",
    "app/money.py": (
        "from app.tax import Tax\n\nclass Money(Tax):\n"
        "    def own(self): pass\n    def tax(self) -> Tax: return Tax()\n"
    ),
    "app/engine.py": "",
    "app/free.py": "from app.tax import Tax as Levy\nfrom app.tax import tax\n",
}
KNOWN = {"Tax": ["app/tax.py"], "Money": ["app/money.py"]}
ENGINE = {"id": "Engine", "write_scope": ["app/engine.py"], "depends_on": ["Money"]}


def undeclared(report: GraphReport) -> list[tuple[str, int]]:
    return [(each.target_module, each.line) for each in report.undeclared]


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        ("import app.tax\n", 1),
        ("from app import tax\n", 1),
        ("from app.tax import *\n", 1),
        ("\ndef late():\n    from app.tax import tax\n", 3),
        ("from app.free import Levy\n", 1),
        ("import app.free\n\ndef f(): app.free.tax()\n", 3),
        ("from app.tax import Tax\n\nclass Own(Tax): pass\n", 1),
        ("import app.tax as t\n\nclass Own(t.Tax): pass\n", 1),
        ("from app.tax import Tax\n\ndef f(x: Tax): pass\n", 1),
        ("if 0:\n    import app.tax\n", 2),
    ],
)
def test_whatever_names_another_module_must_be_declared(between: Between, engine: str, line: int) -> None:
    report = between(BASE, {"app/engine.py": engine}, module=ENGINE, known=KNOWN)
    assert undeclared(report) == [("Tax", line)]
    assert report.undeclared[0].depends_on == ("Money", "Tax")


@pytest.mark.parametrize(
    "engine",
    [
        "from app.money import Money\n\nclass Own(Money):\n    def f(self): self.rate()\n",
        "from app.money import Money\n\ndef f(): Money().rate()\n",
        "from app.money import Money\n\ndef f(m: Money): m.rate()\n",
        "from app.money import Money\n\ndef f(m: Money): m.tax().rate()\n",
        "from app.money import Tax\n",  # the facade is what the code names
    ],
)
def test_what_is_inherited_or_handed_over_is_up_to_who_gives_it(between: Between, engine: str) -> None:
    assert undeclared(between(BASE, {"app/engine.py": engine}, module=ENGINE, known=KNOWN)) == []


def test_a_circle_has_no_line_to_add(between: Between) -> None:
    later = {"id": "Later", "write_scope": ["app/later.py"], "depends_on": ["Engine"]}
    base = {**BASE, "app/later.py": "def g(): pass\n"}
    report = between(base, {"app/engine.py": "from app.later import g\n"}, module=ENGINE, others=(later,), known=KNOWN)
    (use,) = report.undeclared
    assert (use.target_module, use.depends_on) == ("Later", ())


LANGUAGES = {
    "go": (
        {
            "go.mod": "module shop\n", "eng/e.go": "package eng\n",
            "tax/tax.go": "package tax\n\nfunc Rate() int { return 1 }\n",
        },
        "eng/e.go",
        [
            'package eng\n\nimport "shop/tax"\n\nfunc Run() int { return tax.Rate() }\n',
            'package eng\n\nimport _ "shop/tax"\n',
            'package eng\n\nimport . "shop/tax"\n\nvar X = Rate()\n',
        ],
    ),
    "java": (
        {
            "src/main/java/s/tax/Tax.java":
                "package s.tax;\npublic class Tax { public static int rate() { return 1; } }\n",
            "src/main/java/s/eng/E.java": "package s.eng;\nclass E {}\n",
        },
        "src/main/java/s/eng/E.java",
        [
            "package s.eng;\nimport s.tax.Tax;\nclass E {}\n",
            "package s.eng;\nclass E { int x = s.tax.Tax.rate(); }\n",
            "package s.eng;\nclass E extends s.tax.Tax {}\n",
        ],
    ),
    "script": (
        {"tax/index.ts": "export class Tax {}\n", "eng/e.ts": "", "free.ts": "export * from './tax';\n"},
        "eng/e.ts",
        [
            "import { Tax } from '../tax';\nexport class E extends Tax {}\n",
            "import '../tax';\n",
            "export * from '../tax';\n",
            "const t = await import('../tax');\n",
            "import { Tax } from '../free';\nlet x: Tax;\n",
        ],
    ),
    "rust": (
        {
            "Cargo.toml": '[package]\nname = "shop"\n', "src/lib.rs": "pub mod tax;\npub mod eng;\n",
            "src/tax.rs": "pub fn rate() -> i32 { 1 }\npub struct Tax;\nimpl Tax { pub fn new() -> Tax { Tax } }\n",
            "src/eng.rs": "",
        },
        "src/eng.rs",
        [
            "use crate::tax::rate;\n",
            "pub fn f() -> i32 { crate::tax::rate() }\n",
            "pub fn f() { crate::tax::Tax::new(); }\n",
            "use super::tax;\npub fn f() -> i32 { tax::rate() }\n",
            "pub use crate::tax::*;\n",
        ],
    ),
    "c": (
        {
            "tax/tax.h": "int rate(void);\n", "eng/e.c": "",
            "tax/tax.c": '#include "tax.h"\nint rate(void) { return 1; }\n',
        },
        "eng/e.c",
        ['#include "../tax/tax.h"\n', '#include "tax/tax.h"\nint f(void) { return rate(); }\n'],
    ),
}  # fmt: skip
CASES = [(name, text) for name, (_, _, texts) in LANGUAGES.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_in_every_language(between: Between, language: str, text: str) -> None:
    base, path, _ = LANGUAGES[language]
    tax = [entry for entry in base if "tax" in entry]
    report = between(base, {path: text}, module={"id": "Engine", "write_scope": [path]}, known={"Tax": tax})
    assert {(each.target_module, each.path) for each in report.undeclared} == {("Tax", path)}
