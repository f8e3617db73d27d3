"""Cargo.toml: targets, dependencies, workspaces."""

from controller.graph.language import facts, kind_of
from controller.graph.languages.rust.manifest import Dependency, Manifest, parsed


def manifest(text: str) -> Manifest | None:
    settings = dict(facts(kind_of("a/Cargo.toml"), text.encode()).settings)
    return parsed(settings["manifest"]) if settings else None


def test_all_that_counts() -> None:
    found = manifest(
        """
        [package]
        name = "shop-core"
        edition.workspace = true
        build = "make.rs"
        [lib]
        name = "shop"
        path = "lib/all.rs"
        [[bin]]
        name = "x"
        path = "bin/x.rs"
        [dependencies]
        serde = "1"
        money = { path = "../money" }
        rates = { package = "shop-rates", path = "../rates" }
        shared.workspace = true
        [target.'cfg(unix)'.dev-dependencies]
        helper = { path = "../helper" }
        [workspace]
        members = ["*"]
        package.edition = "2021"
        [workspace.dependencies]
        shared = { path = "shared", package = "shop-shared" }
        [patch.crates-io]
        patched = { path = "forks/patched" }
        """
    )
    assert found == Manifest(
        name="shop-core",
        edition="",
        library="shop",
        library_path="lib/all.rs",
        roots=("bin/x.rs", "make.rs"),
        dependencies={
            "serde": Dependency(),
            "money": Dependency(path="../money"),
            "rates": Dependency("shop-rates", "../rates"),
            "shared": Dependency(workspace=True),
            "helper": Dependency(path="../helper"),
        },
        shared={"shared": Dependency("shop-shared", "shared")},
        shared_edition="2021",
        patched={"patched": "forks/patched"},
    )


def test_anything_else_says_nothing() -> None:
    for text in ("[", "\0", "a = " + "[" * 50_000, "x" * 2_000_000):
        assert manifest(text) is None
    for text in (
        "",
        "package = 1",
        "[package]\nname = 1\n[lib]\nname = []\n",
        "bin = 1\ndependencies = [1]",
        "[patch]\nx = 1",
    ):
        assert manifest(text) == Manifest(edition="2015", patched={}, dependencies={})
