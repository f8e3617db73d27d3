"""Third-party packages that come in, and whether a manifest names them."""

from collections.abc import Callable

import pytest

from controller.graph.packages import _guarded, _names
from packets.graph import GraphReport

Between = Callable[..., GraphReport]

PYTHON = {"pyproject.toml": '[project]\nname = "shop"\ndependencies = ["requests>=2"]\n', "app.py": "import os\n"}


def told(report: GraphReport) -> list[tuple[str, int, str, tuple[str, ...]]]:
    return [(each.package, each.line, each.listed_in, each.manifests) for each in report.packages]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import json\nfrom pathlib import Path\n", []),
        ("import requests\n", [("requests", 1, "pyproject.toml", ())]),
        ("\nfrom requests.adapters import HTTPAdapter\nimport requests\n", [("requests", 2, "pyproject.toml", ())]),
        ("import httpx\n", [("httpx", 1, "", ("pyproject.toml",))]),
        ("try:\n    import httpx\nexcept ImportError:\n    httpx = None\n", [("httpx", 2, "", ())]),
        ("def f():\n    import httpx\n", [("httpx", 2, "", ("pyproject.toml",))]),
        ("from .gone import x\n", []),
    ],
)
def test_a_package_is_new_where_nothing_imported_it(
    between: Between, text: str, found: list[tuple[str, int, str, tuple[str, ...]]]
) -> None:
    assert told(between(PYTHON, {"app.py": text})) == found


def test_what_somebody_imports_already_is_not_new(between: Between) -> None:
    base = {**PYTHON, "other.py": "import httpx.api\n"}
    assert told(between(base, {"app.py": "import httpx\n"})) == []


def test_without_a_manifest_nobody_can_say(between: Between) -> None:
    assert told(between({"app.py": ""}, {"app.py": "import httpx\n"})) == [("httpx", 1, "", ())]


def test_what_the_plan_expects_is_no_news(between: Between) -> None:
    head = {"app.py": "import httpx\n\ndef f(): httpx.get()\n"}
    report = between(PYTHON, head, "app.py -> httpx")
    assert [each.met for each in report.expected] == [True]
    assert told(report) == []


def test_the_nearest_manifest_comes_first_and_one_of_the_change_counts(between: Between) -> None:
    base = {"pyproject.toml": "", "svc/requirements.txt": "flask\n", "svc/app.py": "", "lib/setup.py": ""}
    (use,) = between(base, {"svc/app.py": "import httpx\n"}).packages
    assert use.manifests == ("svc/requirements.txt", "pyproject.toml", "lib/setup.py")
    (use,) = between(base, {"svc/app.py": "import httpx\n", "svc/requirements.txt": "flask\nhttpx\n"}).packages
    assert (use.listed_in, use.manifests) == ("svc/requirements.txt", ())


GO, CRATE = "module m\n", '[package]\nname = "m"\n'


@pytest.mark.parametrize(
    ("manifest", "said", "source", "found"),
    [
        ("package.json", '{"dependencies": {"react": "1"}}', ("a.ts", "import x from 'react';\n"), "react"),
        ("package.json", "{}", ("a.ts", "import x from '@org/lib/deep';\n"), "@org/lib missing"),
        ("package.json", "{}", ("a.ts", "import fs from 'node:fs';\n"), ""),
        (
            "go.mod", f"{GO}\nrequire github.com/x/y v1.0.0\n",
            ("a.go", 'package a\n\nimport "github.com/x/y/z"\n'), "github.com/x/y",
        ),
        ("go.mod", GO, ("a.go", 'package a\n\nimport "github.com/x/y/z"\n'), "github.com/x/y missing"),
        ("go.mod", GO, ("a.go", 'package a\n\nimport "net/http"\n'), ""),
        ("Cargo.toml", CRATE + "[dependencies]\nserde-json = 1\n", ("src/lib.rs", "use serde_json::V\n"), "serde_json"),
        ("Cargo.toml", CRATE, ("src/lib.rs", "use rand::Rng;\n"), "rand missing"),
        ("Cargo.toml", CRATE, ("src/lib.rs", "use std::fmt;\n"), ""),
    ],
)  # fmt: skip
def test_in_other_languages(between: Between, manifest: str, said: str, source: tuple[str, str], found: str) -> None:
    path, text = source
    uses = between({manifest: said, path: ""}, {path: text}).packages
    package, _, missing = found.partition(" ")
    wanted = [(package, "" if missing else manifest, (manifest,) if missing else ())] if package else []
    assert [(use.package, use.listed_in, use.manifests) for use in uses] == wanted


def test_java_and_c_do_not_say_the_name_of_a_package_so_nothing_is_missing(between: Between) -> None:
    base = {"pom.xml": "<project/>", "CMakeLists.txt": "", "A.java": "", "a.c": ""}
    head = {"A.java": "import com.google.gson.Gson;\nclass A {}\n", "a.c": "#include <curl/curl.h>\n"}
    assert all(use.manifests == () for use in between(base, head).packages)


@pytest.mark.parametrize(
    ("package", "written"),
    [
        ("yaml", "PyYAML==6"), ("PIL", "pillow"), ("dateutil", "python-dateutil"), ("jwt", "PyJWT[crypto]"),
        ("google", '"google-cloud-storage~=2"'), ("psycopg2", "psycopg2-binary"), ("ruamel", "ruamel.yaml"),
        ("flask_sqlalchemy", "Flask-SQLAlchemy"), ("dns", "dnspython"), ("attr", "attrs"), ("_pytest", "pytest"),
    ],
)  # fmt: skip
def test_a_distribution_may_be_called_otherwise_than_its_import(package: str, written: str) -> None:
    assert _names("python", package, written)
    assert not _names("python", package, "some-other # thing\n")


@pytest.mark.parametrize(
    ("text", "line", "guarded"),
    [
        ("import x\n", 1, False),
        ("try:\n    import x\nexcept ImportError:\n    import y\n", 2, True),
        ("try:\n    import x\nexcept ImportError:\n    import y\n", 4, True),
        ("if t.TYPE_CHECKING:\n    import x\n", 2, True),
        ("try:\n    if a:\n        import x\nexcept E: pass\n", 3, True),
        ("try:\n    pass\nfinally:\n    pass\n\ndef f():\n    import x\n", 7, False),
        ("", 3, False),
    ],
)
def test_an_import_that_may_fail(text: str, line: int, guarded: bool) -> None:  # noqa: FBT001
    assert _guarded(text, line) is guarded
