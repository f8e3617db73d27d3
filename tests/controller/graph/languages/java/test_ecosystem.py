# ruff: noqa: E501 - sources and tables under test, a line each
"""Where Java's packages lie: many roots, many builds, clauses that disagree with their folder."""

import pytest

from controller.graph.language import Files
from controller.graph.languages.java.ecosystem import Java, ecosystem

SOURCES = {
    "core/src/main/java/com/shop/money/Money.java": "com.shop.money",
    "core/src/main/java/com/shop/money/Rate.java": "com.shop.money",
    "core/src/test/java/com/shop/money/MoneyTest.java": "com.shop.money",
    "app/src/main/java/com/shop/app/Main.java": "com.shop.app",
    "one/src/org/tool/Start.java": "org.tool",
    "two/src/org/tool/Start.java": "org.tool",
    "two/src/org/tool/Helper.java": "org.tool",
    "odd/place/Strange.java": "com.odd",
    "Script.java": "",
}
SETTINGS = {path: {"package": package} for path, package in SOURCES.items()}


@pytest.fixture
def java() -> Java:
    return ecosystem(Files(frozenset({*SOURCES, "pom.xml", "core/src/main/resources/a.json"}), SETTINGS))


def test_places_and_members(java: Java) -> None:
    app = "app/src/main/java/com/shop/app/Main.java"
    assert java.place("com.shop.money", app) == "com.shop.money/"
    assert java.members("com.shop.money/") == tuple(
        sorted(p for p, name in SOURCES.items() if name == "com.shop.money")
    )
    assert java.place("com.odd", app) == "com.odd/"
    assert java.place("com.google.common", app) is None
    assert java.submodule("com/", "shop") == "com.shop/"
    assert java.submodule("com/", "google") is None


@pytest.mark.parametrize(("root", "other"), [("one", "two"), ("two", "one")])
def test_the_nearest_of_two_roots_goes_first(java: Java, root: str, other: str) -> None:
    place = java.place("org.tool", f"{root}/src/org/tool/Start.java")
    assert place == f"{root}/src:org.tool/"
    starts = [path for path in java.members(place) if path.endswith("Start.java")]
    assert starts == [f"{root}/src/org/tool/Start.java", f"{other}/src/org/tool/Start.java"]


def test_tests_see_sources_but_not_the_other_way(java: Java) -> None:
    assert java.beside("core/src/test/java/com/shop/money/MoneyTest.java") == (
        "core/src/main/java/com/shop/money/Money.java", "core/src/main/java/com/shop/money/Rate.java",
    )  # fmt: skip
    assert java.beside("core/src/main/java/com/shop/money/Money.java") == (
        "core/src/main/java/com/shop/money/Rate.java",
    )
    assert java.beside("Script.java") == ()
    assert java.beside("pom.xml") == ()


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("java.util.function", ""), ("javax.swing.text", ""), ("javax.xml.parsers", ""), ("org.w3c.dom", ""),
        ("com.sun.net.httpserver", ""), ("javax.servlet.http", "javax.servlet"), ("javax.xml.bind", "javax.xml"),
        ("javax.inject", "javax.inject"), ("org.junit.jupiter.api", "org.junit"), ("lombok", "lombok"),
        ("com.google.common.collect", "com.google.common"), ("org.apache.commons.lang3.tuple", "org.apache.commons.lang3"),
    ],
)  # fmt: skip
def test_third_party_packages(java: Java, module: str, package: str) -> None:
    assert java.package(module, "Script.java") == package


def test_names_of_a_plan(java: Java) -> None:
    assert java.anywhere("com.shop.money") == ("com.shop.money/",)
    assert java.anywhere("shop.money") == ("com.shop.money/",)
    assert java.anywhere("money") == ("com.shop.money/",)
    assert java.anywhere("nowhere") == ()
    assert java.folder("com.shop.money/") == "core/src/main/java/com/shop/money"
    assert java.folder("Script.java") is None
    assert "core/src/main/java/com/shop/money/Coin.java" in java.candidates("com.shop.money.Coin")
    assert "app/src/main/java/com/shop/app/new/Coin.java" not in java.candidates("com.shop.money.Coin")
    assert java.candidates("org.other.Thing") == ("one/src/org/other/Thing.java", "one/src/org/other.java",
                                                  "two/src/org/other/Thing.java", "two/src/org/other.java")  # fmt: skip
    assert java.candidates("nowhere.Thing") == ()
