"""Definitions of real sources beside those of Universal Ctags; each sort of difference is named here."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.graph.language import facts, kind_of

PACKAGES = {"typescript": "rxjs@7.8.1", "tsx": "react-aria-components@1.5.0", "javascript": "express@4.21.2"}
FOLDERS = {"typescript": "rxjs/src", "tsx": "react-aria-components/src", "javascript": "express/lib"}


class Tag(NamedTuple):
    """A definition by file and name, with the kind that ctags or we give it."""

    path: str
    name: str
    kind: str
    line: int


def _missing(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true and no {what}", pytrace=False)
    pytest.skip(f"NO {what.upper()}, NOT TESTED")


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages from npm, each in a folder of its name."""
    if not shutil.which("npm"):
        pytest.skip("NO NPM, NOT TESTED: definitions are not compared with those of Universal Ctags")
    folder = tmp_path_factory.mktemp("npm")
    done = subprocess.run(["npm", "pack", "--silent", *PACKAGES.values()], cwd=folder, capture_output=True, check=False)
    if done.returncode:
        _missing(f"npm registry ({done.stderr.decode()[-200:].strip()})")
    for name in PACKAGES.values():
        package, _, version = name.partition("@")
        with tarfile.open(folder / f"{package}-{version}.tgz") as archive:
            inside = [each for each in archive.getmembers() if each.name.startswith(("package/src/", "package/lib/"))]
            archive.extractall(folder / f"{package}.out", inside, filter="data")
        (folder / f"{package}.out" / "package").rename(folder / package)
    return folder


def theirs(folder: Path, files: list[str]) -> Iterator[Tag]:
    program = shutil.which("ctags-universal") or shutil.which("ctags") or ""
    if (
        not program
        or b"Universal" not in subprocess.run([program, "--version"], capture_output=True, check=False).stdout
    ):
        _missing("Universal Ctags")
    command = [program, "-f", "-", "--output-format=json", "--fields=+nK", "--map-TypeScript=+.tsx", "-L", "-"]
    done = subprocess.run(command, cwd=folder, input="\n".join(files), capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag["_type"] == "tag":
            yield Tag(tag["path"], tag["name"], tag["kind"], tag["line"])


def ours(folder: Path, files: list[str]) -> Iterator[Tag]:
    for path in files:
        for each in facts(kind_of(path), (folder / path).read_bytes()).definitions:
            yield Tag(path, each.qual.rpartition(".")[2], each.kind, each.line)


def _local(tag: Tag, text: str) -> bool:
    """Tell a local: ctags lists some variables of functions, we list none."""
    return tag.kind in ("constant", "variable") and not re.match(r"(export |declare )*(const|let|var)\b", text)


def _nameless(tag: Tag, text: str) -> bool:
    """Tell what has no name of its own: anonymous functions, `new (…): T` in an interface, `x[name] = …`."""
    return tag.name.startswith("Anonymous") or (tag.kind == "method" and tag.name == "new") or f"{tag.name}[" in text


def _required(tag: Tag, text: str) -> bool:
    """Tell an import: `var x = require('y')` binds a name of another file."""
    return tag.kind == "variable" and "require(" in text


def _inside(tag: Tag, text: str) -> bool:
    """Tell keys of objects inside functions, and objects that are filled there, which ctags takes for classes."""
    return tag.kind in ("property", "class") and text[:1] == " "


def _expression(tag: Tag, text: str) -> bool:
    """Tell a function expression: its name is seen inside it only."""
    return tag.kind == "function" and re.match(r"\s*(export |default |async )*function\b", text) is None


def _misread(tag: Tag, text: str) -> bool:
    """Tell the name behind a comment that ctags takes for the constant's: `const X = /*#__PURE__*/ make(…)`."""
    return "/*#__PURE__*/" in text and not re.search(rf"\b{tag.name}\s*[:=]", text)


EXPLAINED = (_local, _nameless, _required, _inside, _expression, _misread)
KNOWN: dict[str, set[str]] = {
    "typescript": {
        "internal/AnyCatcher.ts:6 constant symbol",  # declare const anyCatcherSymbol: unique symbol
        "internal/util/argsArgArrayOrObject.ts:2 constant prototype",  # const { prototype: objectProto } = Object
        "internal/util/argsArgArrayOrObject.ts:2 constant keys",
        "internal/util/errorContext.ts:3 variable error",  # let context: { error: any } | null
    },
    "tsx": set(),
    "javascript": set(),
}
SAME = {
    ("class", "class"), ("interface", "class"), ("alias", "class"), ("enum", "class"), ("function", "function"),
    ("generator", "function"), ("method", "method"), ("property", "variable"), ("property", "method"),
    ("enumerator", "variable"), ("constant", "variable"), ("variable", "variable"), ("constant", "function"),
    ("variable", "function"), ("function", "method"), ("class", "function"), ("class", "method"), ("variable", "class"),
    ("constant", "class"),
}  # fmt: skip
"""Kinds of ctags and of ours: a constant may be an arrow function; a function that has members is a class to ctags."""

AT_LEAST = {"typescript": 780, "tsx": 1040, "javascript": 120}
CTAGS_MISSES = {"typescript": 0.1, "tsx": 0.03, "javascript": 0.15}
"""The share of ours that ctags does not list: static, generic and private methods, patterns, what a call makes."""


@pytest.mark.parametrize("language", PACKAGES)
def test_definitions_are_those_of_ctags(sources: Path, language: str) -> None:
    folder = sources / FOLDERS[language]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*") if kind_of(path.name) == language)
    lines = {path: (folder / path).read_text().split("\n") for path in files}
    mine = {(tag.path, tag.name): tag for tag in reversed([*ours(folder, files)])}
    known = {(tag.path, tag.name): tag for tag in sorted(theirs(folder, files), key=lambda tag: -tag.line)}
    assert len(mine.keys() & known.keys()) >= AT_LEAST[language]
    missed = [
        f"{tag.path}:{tag.line} {tag.kind} {tag.name}"
        for key, tag in known.items()
        if key not in mine and not any(said(tag, lines[tag.path][tag.line - 1]) for said in EXPLAINED)
    ]
    assert set(missed) == KNOWN[language]
    both = [(known[key], mine[key]) for key in mine.keys() & known.keys()]
    pairs = {(their.kind, our.kind) for their, our in both if their.line == our.line}
    assert pairs - SAME == set()
    alone = [tag for key, tag in mine.items() if key not in known]
    assert len(alone) <= CTAGS_MISSES[language] * len(mine)
    invented = [tag for tag in alone if tag.name not in lines[tag.path][tag.line - 1]]
    assert invented == []
