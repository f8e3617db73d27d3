"""Where Rust paths lead: modules by `mod`, crates by Cargo.toml, workspaces, renamed dependencies, editions."""

from collections.abc import Mapping

import pytest

from controller.graph.language import Files, ecosystem, facts, kind_of
from controller.graph.languages.rust.ecosystem import Rust


def rust(files: Mapping[str, str]) -> Rust:
    read = {path: facts(kind_of(path), text.encode()) for path, text in files.items()}
    settings = {path: dict(each.settings) for path, each in read.items() if each.settings}
    found = ecosystem("rust", Files(frozenset(files), settings))
    assert isinstance(found, Rust)
    return found


ONE = {
    "Cargo.toml": '[package]\nname = "shop-core"\nedition = "2021"\n[dependencies]\nserde_json = "1"\nrand-core = "1"',
    "src/lib.rs": 'mod a; mod inline { mod deep; } #[path = "odd/name.rs"] mod given; mod both;',
    "src/main.rs": "mod cli;",
    "src/cli.rs": "",
    "src/a.rs": "mod b; mod tests;",
    "src/a/b.rs": "mod c;",
    "src/a/b/c.rs": "",
    "src/a/tests.rs": "",
    "src/inline/deep.rs": "",
    "src/odd/name.rs": "mod near;",
    "src/odd/near.rs": "",
    "src/both/mod.rs": "mod x;",
    "src/both/x.rs": "",
    "src/undeclared.rs": "",
    "src/bin/tool.rs": "",
    "src/bin/big/main.rs": "mod part;",
    "src/bin/big/part.rs": "",
    "tests/all.rs": "mod common;",
    "tests/common/mod.rs": "mod deeper;",
    "tests/common/deeper.rs": "",
    "examples/e.rs": "",
    "build.rs": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("importer", "module", "place"),
    [
        ("src/lib.rs", "mod self::a", "src/a.rs"),
        ("src/lib.rs", "mod self::missing", None),
        ("src/lib.rs", "self::missing", "src/lib.rs"),
        ("src/a.rs", "self::b::c", "src/a/b/c.rs"),
        ("src/a/b/c.rs", "crate", "src/lib.rs"),
        ("src/a/b/c.rs", "crate::a::b::Name", "src/a/b.rs"),
        ("src/a/b/c.rs", "super", "src/a/b.rs"),
        ("src/a/b/c.rs", "super::super::super::both", "src/both/mod.rs"),
        ("src/a/b/c.rs", "super::super::super::super", None),
        ("src/a/tests.rs", "super", "src/a.rs"),
        ("src/lib.rs", "crate::inline::deep", "src/inline/deep.rs"),
        ("src/lib.rs", "crate::inline::other", "src/lib.rs"),
        ("src/inline/deep.rs", "super", "src/lib.rs"),
        ("src/lib.rs", "crate::given", "src/odd/name.rs"),
        ("src/odd/name.rs", "self::near", "src/odd/near.rs"),
        ("src/odd/near.rs", "crate::a", "src/a.rs"),
        ("src/both/x.rs", "super", "src/both/mod.rs"),
        ("src/undeclared.rs", "crate::a", "src/a.rs"),
        ("src/cli.rs", "crate", "src/main.rs"),
        ("src/cli.rs", "shop_core::a", "src/a.rs"),
        ("src/bin/tool.rs", "crate", "src/bin/tool.rs"),
        ("src/bin/big/part.rs", "crate", "src/bin/big/main.rs"),
        ("tests/all.rs", "shop_core::both::x", "src/both/x.rs"),
        ("tests/common/deeper.rs", "crate", "tests/all.rs"),
        ("tests/common/deeper.rs", "super", "tests/common/mod.rs"),
        ("examples/e.rs", "shop_core", "src/lib.rs"),
        ("src/a.rs", "std::fmt", None),
        ("src/a.rs", "serde_json", None),
        ("src/a.rs", "a", None),
        ("src/a.rs", "::shop_core", "src/lib.rs"),
        ("src/a/b/c.rs", "super.super.super.both", "src/both/mod.rs"),
        ("src/a/b/c.rs", "crate.a.b.Name", "src/a/b.rs"),
    ],
)
def test_places(importer: str, module: str, place: str | None) -> None:
    assert rust(ONE).place(module, importer) == place


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("std::fmt", ""),
        ("core", ""),
        ("crate::a", ""),
        ("mod self::gone", ""),
        ("serde_json::Value", "serde_json"),
        ("rand_core", "rand_core"),
        ("mod rand_core::x", "rand_core"),
        ("unknown::x", "unknown"),
        ("unknown.x", "unknown"),
        ("std.fmt", ""),
    ],
)
def test_third_party_packages(module: str, package: str) -> None:
    assert rust(ONE).package(module, "src/a.rs") == package


def test_names_in_plans() -> None:
    found = rust(ONE)
    assert found.anywhere("shop_core") == found.anywhere("shop-core") == ("src/lib.rs",)
    assert found.anywhere("shop_core.a.b") == ("src/a/b.rs",)
    assert found.anywhere("a.b") == ("src/a/b.rs",)
    assert found.anywhere("both") == ("src/both/mod.rs",)
    assert found.anywhere("nowhere") == ()
    assert found.candidates("shop_core.a.Name") == ("src/a.rs", "src/a/Name.rs", "src/a/Name/mod.rs")
    assert found.candidates("nowhere.Name") == ()
    assert found.submodule("src/a.rs", "b") == "src/a/b.rs"
    assert found.submodule("src/a.rs", "nowhere") is None


MANY = {
    "Cargo.toml": """
        [workspace]
        members = ["crates/*"]
        [workspace.package]
        edition = "2021"
        [workspace.dependencies]
        shared = { path = "crates/shared" }
        [patch.crates-io]
        forked = { path = "forks/forked" }
        """,
    "crates/app/Cargo.toml": """
        [package]
        name = "app"
        edition.workspace = true
        [dependencies]
        money = { path = "../money" }
        rates = { path = "../rates-impl", package = "rates-impl" }
        shared = { workspace = true }
        forked = "1"
        away = { path = "../../../away" }
        """,
    "crates/app/src/lib.rs": "mod money;",
    "crates/app/src/money.rs": "",
    "crates/money/Cargo.toml": '[package]\nname = "money"\n[lib]\nname = "cash"\npath = "lib.rs"\n',
    "crates/money/lib.rs": "mod coin;",
    "crates/money/coin.rs": "",
    "crates/rates-impl/Cargo.toml": '[package]\nname = "rates-impl"\n',
    "crates/rates-impl/src/lib.rs": "",
    "crates/shared/Cargo.toml": '[package]\nname = "shared"\nedition = "2018"\n',
    "crates/shared/src/lib.rs": "",
    "forks/forked/Cargo.toml": '[package]\nname = "forked"\n',
    "forks/forked/src/lib.rs": "",
}


@pytest.mark.parametrize(
    ("importer", "module", "place"),
    [
        ("crates/app/src/lib.rs", "cash::coin", "crates/money/coin.rs"),
        ("crates/app/src/lib.rs", "money", None),
        ("crates/app/src/lib.rs", "rates", "crates/rates-impl/src/lib.rs"),
        ("crates/app/src/lib.rs", "rates_impl", None),
        ("crates/app/src/lib.rs", "shared", "crates/shared/src/lib.rs"),
        ("crates/app/src/lib.rs", "forked", "forks/forked/src/lib.rs"),
        ("crates/app/src/lib.rs", "away", None),
        ("crates/shared/src/lib.rs", "cash", None),
        ("crates/money/coin.rs", "coin", "crates/money/coin.rs"),
        ("crates/money/coin.rs", "crate::coin", "crates/money/coin.rs"),
        ("crates/app/src/money.rs", "super", "crates/app/src/lib.rs"),
    ],
)
def test_workspaces(importer: str, module: str, place: str | None) -> None:
    assert rust(MANY).place(module, importer) == place


def test_modules_that_lead_in_circles_end() -> None:
    files = {
        "src/lib.rs": '#[path = "a.rs"] mod a;',
        "src/a.rs": '#[path = "lib.rs"] mod b;',
        "src/c.rs": '#[path="c.rs"] mod c;',
    }
    found = rust(files)
    for importer in files:
        for module in ("crate", "super::super::super", "mod self::a::b::a", "crate::c::c"):
            found.place(module, importer)
