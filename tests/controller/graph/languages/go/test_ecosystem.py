"""Where Go imports lead: modules, replacements, workspaces, vendored packages, tests beside their package."""

from collections.abc import Mapping

import pytest

from controller.graph.language import Files, ecosystem, facts, kind_of
from controller.graph.languages.go.ecosystem import Go


def go(files: Mapping[str, str]) -> Go:
    read = {path: facts(kind_of(path), text.encode()) for path, text in files.items()}
    settings = {path: dict(each.settings) for path, each in read.items() if each.settings}
    imported = frozenset(row.module for each in read.values() for row in each.imports)
    found = ecosystem("go", Files(frozenset(files), settings, imported))
    assert isinstance(found, Go)
    return found


ONE = {
    "go.mod": "module example.com/shop\nrequire github.com/x/y/v2 v2.0.0\n",
    "main.go": "package main",
    "money/money.go": "package money",
    "money/cents.go": "package money",
    "money/gen.go": "package main",
    "money/money_test.go": "package money",
    "money/other_test.go": "package money",
    "money/outside_test.go": "package money_test",
    "money/more_test.go": "package money_test",
    "internal/tax/tax.go": "package taxes",
    "docs/readme.md": "",
}


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("example.com/shop", "./"),
        ("example.com/shop/money", "money/"),
        ("example.com/shop/internal/tax", "internal/tax/"),
        ("example.com/shop/docs", None),
        ("example.com/shop/nowhere", None),
        ("example.com/shopping/money", None),
        ("money", None),
        ("fmt", None),
        ("github.com/x/y", None),
        ("./money", "money/"),
        ("../x", None),
    ],
)
def test_places(module: str, place: str | None) -> None:
    assert go(ONE).place(module, "main.go") == place


def test_members_and_neighbours() -> None:
    found = go(ONE)
    assert found.members("money/") == ("money/cents.go", "money/money.go"), "neither tests nor a stray main"
    assert found.members("./") == ("main.go",)
    assert found.beside("money/money.go") == ("money/cents.go",)
    assert found.beside("money/money_test.go") == ("money/cents.go", "money/money.go", "money/other_test.go")
    assert found.beside("money/outside_test.go") == ("money/more_test.go",)
    assert found.beside("money/gen.go") == ()
    assert found.beside("docs/readme.md") == ()


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("fmt", ""),
        ("net/http", ""),
        ("C", ""),
        ("github.com/x/y/v2/sub", "github.com/x/y/v2"),
        ("github.com/a/b/c/d", "github.com/a/b"),
        ("example.org/a/b", "example.org/a"),
    ],
)
def test_third_party_packages(module: str, package: str) -> None:
    assert go(ONE).package(module, "money/money.go") == package


def test_names_in_plans() -> None:
    found = go(ONE)
    assert found.anywhere("money") == ("money/",)
    assert found.anywhere("internal.tax") == ("internal/tax/",)
    assert found.anywhere("taxes") == ("internal/tax/",), "as its package clause says"
    assert found.anywhere("nowhere") == found.anywhere("main") == ()
    assert found.candidates("money.Budget") == ("money/cents.go", "money/money.go", "money/budget.go")
    assert found.candidates("nowhere.Budget") == ()
    assert (found.folder("money/"), found.folder("money/money.go")) == ("money", None)


MANY = {
    "go.work": "use ./app\nuse ./lib\nreplace example.com/forked => ./forks/it\n",
    "app/go.mod": "module example.com/app\nreplace example.com/old => ../old\nreplace example.com/out => ../../out\n",
    "app/main.go": "package main",
    "app/tools/go.mod": "module example.com/tools\n",
    "app/tools/tools.go": "package tools",
    "lib/go.mod": "module example.com/lib\n",
    "lib/lib.go": "package lib",
    "lib/v2/go.mod": "module example.com/lib/v2\n",
    "lib/v2/lib.go": "package lib",
    "forks/it/it.go": "package it",
    "old/go.mod": "module example.com/old\n",
    "old/x/x.go": "package x",
    "app/vendor/github.com/v/w/w.go": "package w",
}


@pytest.mark.parametrize(
    ("importer", "module", "place"),
    [
        ("app/main.go", "example.com/lib", "lib/"),
        ("app/main.go", "example.com/lib/v2", "lib/v2/"),
        ("app/main.go", "example.com/app/tools", None),
        ("app/main.go", "example.com/tools", "app/tools/"),
        ("app/main.go", "example.com/old/x", "old/x/"),
        ("app/main.go", "example.com/forked", "forks/it/"),
        ("app/main.go", "example.com/out", None),
        ("app/main.go", "github.com/v/w", "app/vendor/github.com/v/w/"),
        ("lib/lib.go", "github.com/v/w", None),
    ],
)
def test_many_modules_in_one_tree(importer: str, module: str, place: str | None) -> None:
    assert go(MANY).place(module, importer) == place


def test_a_tree_without_go_mod_is_known_by_what_its_files_import() -> None:
    files = {
        "cmd/main.go": 'package main\nimport ("github.com/u/r/store"; "github.com/u/r/pkg/money"; "z.org/store")',
        "store/store.go": "package store",
        "pkg/money/money.go": "package money",
    }
    found = go(files)
    assert found.place("github.com/u/r/store", "cmd/main.go") == "store/"
    assert found.place("github.com/u/r/pkg/money", "cmd/main.go") == "pkg/money/"
    assert found.place("z.org/store", "cmd/main.go") is None
