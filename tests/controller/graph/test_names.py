from collections.abc import Callable
from typing import Any

import pytest

from controller.graph.names import Ambiguous, Found, Names, Unknown
from controller.graph.territory import Territory

FILES = {
    "app/__init__.py": "from app.money import Money as Cash\n",
    "app/money.py": "import requests\nclass Money:\n    def add(self): pass\n    class Inner: pass\nRATE = 3\n",
    "app/pricing/__init__.py": "",
    "app/pricing/engine.py": "class Engine:\n    def add(self): pass\n    def run(self): pass\ndef twice(): pass\n",
    "app/pricing/other.py": "def twice(): pass\ndef run(): pass\nengine = 1\n",
    "docs/guide.md": "",
    "README.md": "",
}


@pytest.fixture
def names(linker: Callable[..., Any], plan: Callable[..., Any]) -> Names:
    made = linker(FILES)
    modules = [
        {"id": "Pricing/Engine2", "write_scope": ["app/pricing/"]},
        {"id": "Shop/New", "write_scope": ["app/new.py"]},
    ]
    return Names(made.graph(), made, Territory(plan(modules, {"Pricing/Purse": ["app/money.py"]})))


MONEY = {"app/money.py::Money", "app/money.py::Money.add", "app/money.py::Money.Inner"}
MONEY_FILE = {"app/money.py", "app/money.py::RATE", *MONEY}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("app/money.py", MONEY_FILE),
        ("app/money.py::Money", MONEY),
        ("Pricing/Purse", MONEY_FILE),
        ("Purse", MONEY_FILE),
        ("app.money", MONEY_FILE),
        ("money", MONEY_FILE),
        ("Money", MONEY),
        ("app.money.Money", MONEY),
        ("app.Cash", MONEY),
        ("money.Money", MONEY),
        ("Money.add", {"app/money.py::Money.add"}),
        ("app.money.Money.add", {"app/money.py::Money.add"}),
        ("app.Cash.add", {"app/money.py::Money.add"}),
        ("RATE", {"app/money.py::RATE"}),
        ("run", {"app/pricing/other.py::run"}),
        ("Inner", {"app/money.py::Money.Inner"}),
        ("requests", {"ext:requests"}),
        ("docs/", {"docs/guide.md"}),
        ("docs", None),
        ("README.md", {"README.md"}),
    ],
)
def test_names_mean(names: Names, name: str, ids: set[str] | None) -> None:
    meaning = names.resolve(name)
    assert (set(meaning.ids) if isinstance(meaning, Found) else None) == ids


def test_folders_and_packages_mean_all_beneath(names: Names) -> None:
    by_path, dotted, module = (names.resolve(name) for name in ("app/pricing", "app.pricing", "Pricing/Engine2"))
    assert isinstance(by_path, Found)
    assert by_path == dotted == module
    assert "app/pricing/engine.py::Engine.run" in by_path.ids


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("twice", ("app/pricing/engine.py::twice", "app/pricing/other.py::twice")),
        ("add", ("app/money.py::Money.add", "app/pricing/engine.py::Engine.add")),
    ],
)
def test_ambiguous_names_list_the_candidates(names: Names, name: str, candidates: tuple[str, ...]) -> None:
    assert names.resolve(name) == Ambiguous(candidates)


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("CouponPolicy", "name", None),
        ("CouponPolicy.guard", "name", None),
        ("app/gone.py", "path", "app/gone.py"),
        ("app/gone/", "path", "app/gone/"),
        ("app.gone", "dotted name", "app/gone.py"),
        ("app.money.Gone", "dotted name", "app/money.py"),
        ("Money.subtract", "dotted name", "app/money.py"),
        ("Shop/New", "module", None),
        ("No/Module", "path", "No/Module"),
    ],
)
def test_unknown_names_say_where_they_would_be(names: Names, name: str, kind: str, place: str | None) -> None:
    meaning = names.resolve(name)
    assert isinstance(meaning, Unknown)
    assert str(meaning.kind) == kind
    assert place is None or place in meaning.places


def test_a_field_gives_way_to_what_stands_at_the_top(linker, plan):
    files = {
        "tax.ts": "export class Tax { rate = 1 }\n",
        "rates.ts": "export const rate = 2\n",
        "other.ts": "class A { own = 1 }\n",
    }
    made = linker(files)
    found = Names(made.graph(), made, Territory(plan([{"id": "A", "write_scope": ["x"]}])))
    assert found.resolve("rate") == Found(frozenset({"rates.ts::rate"}))
    assert found.resolve("own") == Found(frozenset({"other.ts::A.own"}))
