"""What is guessed of a repository, and that the plan made of it always passes its own check."""

import itertools

import pytest

from controller.plan.starter import starter
from controller.plan.survey import survey
from packets.scope import Scope

PYTHON = ["pyproject.toml", "src/shop/__init__.py", "src/shop/cart.py", "tests/test_cart.py", "docs/conf.py"]


@pytest.mark.parametrize(
    ("paths", "files", "language", "scope", "check"),
    [
        (PYTHON, {}, "Python", ("src/shop/", "tests/"), "PYTHONPATH=src python3 -m pytest -q"),
        (["src/__init__.py", "src/test_a.py"], {}, "Python", ("src/",), "python3 -m pytest -q"),
        (["a.py", "b.py"], {}, "Python", ("a.py",), "python3 -m compileall -q ."),
        (["conftest.py", "setup.py", "shop/x.py"], {}, "Python", ("shop/",), "python3 -m pytest -q"),
        (
            ["package.json", "src/a.ts", "src/b.ts", "test/a.test.ts"],
            {"package.json": '{"scripts": {"test": "vitest"}}'},
            "JavaScript",
            ("src/", "test/"),
            "npm test",
        ),
        (["package.json", "index.js"], {"package.json": "{}"}, "JavaScript", ("index.js",), ""),
        (["go.mod", "internal/x/a.go", "internal/x/a_test.go", "main.go"], {}, "Go", ("internal/x/",), "go test ./..."),
        (["Cargo.toml", "Cargo.lock", "src/lib.rs"], {}, "Rust", ("src/",), "cargo test"),
        (["build.gradle", "gradlew", "src/main/java/A.java"], {}, "Java", ("src/main/",), "./gradlew test"),
        (["Makefile", "src/a.c", "src/a.h"], {"Makefile": "all:\n\ntest: all\n\t./t\n"}, "C", ("src/",), "make test"),
        (["README.md"], {}, "", ("README.md",), ""),
        ([], {}, "", ("src/",), ""),
        (["uv.lock", "conftest.py"], {}, "Python", ("src/",), "python3 -m pytest -q"),
    ],
)
def test_guesses(paths, files, language, scope, check):
    found = survey(paths, lambda name: files.get(name, ""), "plan.yaml")
    assert (found.language, found.scope, found.check) == (language, scope, check)


def test_the_plan_is_in_no_scope():
    found = survey(PYTHON, lambda _: "", "src/shop/plan.yaml")
    assert not Scope.parse(found.scope).matches("src/shop/plan.yaml")


ODD = [
    [],
    ["README.md"],
    PYTHON,
    ["we*ird/a.py", "tests/test_x.py"],
    ["a b/ü.py"],
    ["漢字/x.go", "go.mod"],
    ['quo"te/x.rb', "Gemfile"],
    ["back\\slash/x.py"],
    ["tab\there/x.py"],
    ["new\nline.py"],
    ["caf\udce9/x.py"],
    ["- dash/x.py"],
    ["#hash/x.py"],
    ["123/x.py"],
    ["integration/x.py"],
    [": {[/x.py"],
    ["plan.yaml"],
    ["x" * 200 + "/a.py"],
    [".github/x.py", ".hidden/y.py"],
]


FOLDERS = ["shop", "my shop!", "123", "true", "漢字", "", "1.5", "x" * 90, "-._-", "null", "1e5", "a: b"]


@pytest.mark.parametrize(
    ("paths", "folder"), list(zip(ODD, itertools.cycle(FOLDERS), strict=False)), ids=range(len(ODD))
)
def test_every_starter_passes_the_check(desk, paths, folder):
    found = survey(paths, lambda _: "", "plan.yaml")
    text = starter(found, folder, ".grace/plan.schema.json")
    assert desk.errors(text) == []
    loaded = desk.load(text)
    (module,) = loaded.plan.modules()
    assert module.write_scope == found.scope
    assert text.startswith("# yaml-language-server: $schema=.grace/plan.schema.json\n")
