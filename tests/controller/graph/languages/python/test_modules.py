import pytest

from controller.graph.languages.python.modules import ModuleIndex

LAYOUTS = [
    (["app/__init__.py", "app/money.py"], "main.py", "app.money", "app/money.py"),
    (["app/__init__.py", "app/money.py"], "main.py", "app", "app/__init__.py"),
    (["app/money.py"], "main.py", "app.money", "app/money.py"),
    (["app/money.py"], "main.py", "app", "app/"),
    (["src/app/__init__.py", "src/app/money.py", "tests/t.py"], "tests/t.py", "app.money", "src/app/money.py"),
    (["src/app/money.py", "tests/t.py"], "tests/t.py", "app.money", "src/app/money.py"),
    (["a/x.py", "a/x/__init__.py"], "main.py", "a.x", "a/x/__init__.py"),
    (["a/x.pyi"], "main.py", "a.x", "a/x.pyi"),
    (["a/x.py", "a/x.pyi"], "main.py", "a.x", "a/x.py"),
    # a package that lives somewhere deep, used from elsewhere
    (["libs/core/core/__init__.py", "libs/core/core/m.py"], "app/main.py", "core.m", "libs/core/core/m.py"),
    # projects side by side: the nearest one wins
    (
        ["one/pyproject.toml", "one/src/u/m.py", "two/pyproject.toml", "two/src/u/m.py"],
        "one/src/m.py",
        "u.m",
        "one/src/u/m.py",
    ),
    (
        ["one/pyproject.toml", "one/src/u/m.py", "two/pyproject.toml", "two/src/u/m.py"],
        "two/src/m.py",
        "u.m",
        "two/src/u/m.py",
    ),
    # scripts see their neighbours, packages do not
    (["tests/helpers.py", "tests/test_a.py"], "tests/test_a.py", "helpers", "tests/helpers.py"),
    (["app/__init__.py", "app/redis.py", "app/cache.py"], "app/cache.py", "redis", None),
    # a name of the standard library is the standard library's
    (["tests/json.py", "tests/t.py"], "tests/t.py", "json", None),
    (["json.py"], "main.py", "json", None),
    (["tests/json/__init__.py", "tests/t.py"], "app/main.py", "json", None),
    (["platform/__init__.py", "platform/x.py"], "main.py", "platform.x", "platform/x.py"),
    (["app/__init__.py"], "main.py", "app.missing", None),
    (["app/__init__.py"], "main.py", "requests", None),
    # a file is not its own third-party namesake
    (["celery.py"], "celery.py", "celery", None),
]


@pytest.mark.parametrize(("paths", "importer", "dotted", "place"), LAYOUTS)
def test_absolute_imports(paths: list[str], importer: str, dotted: str, place: str | None) -> None:
    assert ModuleIndex([*paths, importer]).find(dotted, importer) == place


def test_a_folder_that_is_imported_as_a_package_is_no_folder_of_scripts() -> None:
    paths = ["app/redis.py", "app/cache.py", "main.py"]
    assert ModuleIndex(paths).find("redis", "app/cache.py") == "app/redis.py"
    assert ModuleIndex(paths, {"app.cache"}).find("redis", "app/cache.py") is None


@pytest.mark.parametrize(
    ("module", "importer", "place"),
    [
        (".x", "a/b/m.py", "a/b/x.py"),
        (".", "a/b/m.py", "a/b/__init__.py"),
        ("..", "a/b/m.py", "a/"),
        ("..y", "a/b/m.py", "a/y.py"),
        ("..b.x", "a/b/m.py", "a/b/x.py"),
        (".x", "a/b/__init__.py", "a/b/x.py"),
        ("...z", "a/b/m.py", "z.py"),
        ("....z", "a/b/m.py", None),
        (".missing", "a/b/m.py", None),
    ],
)
def test_relative_imports(module: str, importer: str, place: str | None) -> None:
    index = ModuleIndex(["a/b/__init__.py", "a/b/m.py", "a/b/x.py", "a/y.py", "z.py"])
    assert index.relative(module, importer) == place


def test_anywhere_tries_every_root() -> None:
    index = ModuleIndex(["src/app/__init__.py", "lib/app/__init__.py"])
    assert index.anywhere("app") == ("lib/app/__init__.py", "src/app/__init__.py")
