"""What a repository is written in, how it is tested, and where its code lies: guesses for a starter plan."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from packets.protected import is_protected
from packets.scope import Scope, escape

Read = Callable[[str], str]
"""Gives a file's text, or an empty one."""


class Language(NamedTuple):
    """How a language is known, tested and housed. `marks`: files at the root; `image`: one with its tools."""

    name: str
    marks: tuple[str, ...]
    endings: tuple[str, ...]
    image: str = ""
    check: str = ""


LANGUAGES = (
    Language("Rust", ("Cargo.toml",), (".rs",), "rust:1-slim", "cargo test"),
    Language("Go", ("go.mod",), (".go",), "golang:1", "go test ./..."),
    Language("JavaScript", ("package.json",), (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts"), "node:lts-slim"),
    Language("Java", ("pom.xml",), (".java", ".kt"), "maven:3-eclipse-temurin-21", "mvn -q test"),
    Language("Java", ("build.gradle", "build.gradle.kts"), (".java", ".kt", ".groovy"), "gradle:jdk21", "gradle test"),
    Language("Ruby", ("Gemfile", "Rakefile"), (".rb",), "ruby:3", "bundle exec rake test"),
    Language("PHP", ("composer.json",), (".php",), "php:8-cli", "vendor/bin/phpunit"),
    Language("Elixir", ("mix.exs",), (".ex", ".exs"), "elixir:1", "mix test"),
    Language("C#", (), (".cs",), "mcr.microsoft.com/dotnet/sdk:9.0", "dotnet test"),
    Language("Swift", ("Package.swift",), (".swift",), "swift:6", "swift test"),
    Language("C++", ("CMakeLists.txt",), (".cpp", ".cc", ".cxx", ".c", ".h", ".hpp")),
    Language("C", (), (".c", ".h")),
    Language("Python", ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"), (".py",)),
)

_HOUSES = frozenset({"src", "lib", "app", "apps", "packages", "pkg", "internal", "cmd", "crates", "source"})
_TESTS = frozenset({"test", "tests", "spec", "specs", "__tests__", "testing", "e2e"})
ASIDE = frozenset({"docs", "doc", "examples", "example", "scripts", "tools", "vendor", "third_party", "node_modules"})


class Survey(NamedTuple):
    """What was found. `scope`: entries for a first module; `check` and `image` may be empty."""

    language: str
    scope: tuple[str, ...]
    check: str
    image: str


def survey(paths: Sequence[str], read: Read, plan: str) -> Survey:
    """Guess from the paths of a tree; `plan` is where the plan will lie, which no scope may hold."""
    language = _language(paths)
    sources = [path for path in paths if path.endswith(language.endings)] if language else []
    code = [path for path in sources if not _is_test(path)]
    scope = _scope(code, plan) or _scope(paths, plan) or _fresh(plan)
    tests = Counter(path.partition("/")[0] for path in sources if path.partition("/")[0] in _TESTS)
    if tests:
        folder = f"{tests.most_common(1)[0][0]}/"
        scope = scope if Scope.parse(scope).matches(f"{folder}x") or plan.startswith(folder) else (*scope, folder)
    check = _check(language, sources, set(paths), read)
    return Survey(language.name if language else "", scope, check, language.image if language else "")


def _language(paths: Sequence[str]) -> Language | None:
    """Take the language with most files; a mark at the root counts like many."""
    top = set(paths)
    endings = Counter(PurePosixPath(path).suffix for path in paths)
    weights = {
        number: sum(endings[ending] for ending in language.endings) + 50 * any(mark in top for mark in language.marks)
        for number, language in enumerate(LANGUAGES)
    }
    best = max(weights, key=lambda number: (weights[number], bool(LANGUAGES[number].check), number))
    return LANGUAGES[best] if weights[best] else None


def _is_test(path: str) -> bool:
    name = PurePosixPath(path).name
    return not _TESTS.isdisjoint(path.split("/")[:-1]) or bool(
        re.match(r"(test_|conftest)|.*([_.-](test|spec))\.", name)
    )


def _scope(paths: Iterable[str], plan: str) -> tuple[str, ...]:
    """Return the folder that holds most of the files, or, where all lie at the root, one of the files."""
    homes: Counter[str] = Counter()
    files: list[str] = []
    for path in paths:
        names = path.split("/")
        depth = 2 if names[0] in _HOUSES and len(names) > 2 else 1  # noqa: PLR2004 - house, home, file
        if len(names) == 1:
            files.append(path)
        elif not names[0].startswith(".") and names[0] not in ASIDE | _TESTS:
            homes["/".join(names[:depth])] += 1
    folders = [f"{escape(home)}/" for home, _ in sorted(homes.items(), key=lambda found: (-found[1], found[0]))]
    for entry in [*folders, *(escape(file) for file in sorted(files) if not is_protected(file))]:
        if _fits(entry, plan):
            return (entry,)
    return ()


def _fresh(plan: str) -> tuple[str, ...]:
    return next((entry,) for entry in ("src/", "lib/") if _fits(entry, plan))


def _fits(entry: str, plan: str) -> bool:
    try:
        return entry.isprintable() and not Scope.parse([entry]).matches(plan)
    except ValueError:
        return False


def _check(language: Language | None, sources: list[str], top: set[str], read: Read) -> str:
    """Guess the command that runs the tests."""
    if re.search(r"^test\s*:", read("Makefile") if "Makefile" in top else "", re.MULTILINE):
        return "make test"
    if language is None:
        return ""
    if language.name == "Python":
        if not any(map(_is_test, sources)):
            return "python3 -m compileall -q ."
        housed = "src/__init__.py" not in top and any(path.startswith("src/") for path in sources)
        return f"{'PYTHONPATH=src ' if housed else ''}python3 -m pytest -q"  # a checkout is not installed
    if language.name == "JavaScript":
        return "npm test" if re.search(r'"test"\s*:', read("package.json") if "package.json" in top else "") else ""
    if "gradlew" in top and language.check.startswith("gradle"):
        return "./gradlew test"
    return language.check
