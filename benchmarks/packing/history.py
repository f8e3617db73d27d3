"""Real commits taken for modules of a plan, and what each of them came to use outside of its own files."""

import ast
import builtins
import re
import subprocess
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from controller.graph.excerpt import is_test
from controller.graph.model import Graph
from packets.graph import Edge, EdgeKind

_SOURCES = 5
_FILES = 10
_SUBJECT = 15
_COMMON = 3
"""A name that more files than this define says nothing about which of them is meant."""

_ROUTINE = re.compile(
    r"bump|release|version|changelog|merge|revert|pre-?commit|dependabot|typo|\bdocs?\b|\blint|\bci\b|format",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Commit:
    """One commit beside its first parent; `paths` are all that it touches, `sources` its Python files."""

    sha: str
    parent: str
    subject: str
    body: str
    paths: tuple[str, ...]
    sources: tuple[str, ...]


def ask(folder: Path, *args: str) -> str:
    """Return what git says; names that are no UTF-8 are dropped from it."""
    done = subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "ignore")


def commits(folder: Path, start: str) -> Iterator[Commit]:
    """Yield usable commits, the newest first: one to five sources, at most ten files, a message that says something."""
    form = "%x1e%H%x1f%P%x1f%s%x1f%b%x1f"
    log = ask(folder, "log", "--no-merges", "--no-renames", "--name-status", f"--format={form}", "-n", "8000", start)
    for record in log.split("\x1e")[1:]:
        sha, parents, subject, body, names = record.split("\x1f")
        rows = [row.split("\t") for row in names.strip().splitlines()]
        paths = tuple(row[-1] for row in rows)
        python = tuple(path for path in paths if path.endswith(".py"))
        own = [path for path in python if not is_test(path)]
        if not parents or not 1 <= len(own) <= _SOURCES or len(paths) > _FILES:
            continue
        if any(row[0] not in "AM" for row in rows) or len(subject) < _SUBJECT or _ROUTINE.search(subject):
            continue
        yield Commit(sha, parents.split()[0], subject, _message(body), paths, python)


def _message(body: str) -> str:
    lines = (line for line in body.splitlines() if not re.match(r"[\w-]+: .*<.*@.*>$", line))
    return "\n".join(lines).strip()


def words(source: str) -> set[str]:
    """Return the identifiers and other words of a text."""
    return set(_WORD.findall(source))


Needed = frozenset[tuple[str, frozenset[str]]]
"""(name, files that define it): a name and where it may be found."""


def linked(commit: Commit, base: Graph, edges: Iterable[Edge], known: set[str]) -> Needed:
    """Return what the commit's files come to use by grace's own edges: symbols outside that they did not mention."""
    found = set()
    for edge in edges:
        home, _, qual = edge.target.partition("::")
        leaf = qual.rpartition(".")[2]
        if edge.kind is EdgeKind.DEFINES or not edge.resolved or not qual or home in commit.paths:
            continue
        if leaf not in known and edge.target in base.nodes:
            found.add((leaf, frozenset((home,))))
    return frozenset(found)


def named(before: Mapping[str, str], after: Mapping[str, str], places: Mapping[str, set[str]]) -> Needed:
    """Return the same by the standard library's parser alone: new names that few files outside define."""
    known = {word for source in before.values() for word in words(source)}
    found = set()
    for source in after.values():
        for name in _used(source) - known - _BUILTIN:
            homes = places.get(name, set())
            if 0 < len(homes) <= _COMMON and not _dunder(name):
                found.add((name, frozenset(homes)))
    return frozenset(found)


def definitions(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return in which files each name is defined: classes, functions, methods, and assignments at the top."""
    places: dict[str, set[str]] = {}
    for path, source in sources.items():
        tree = _parsed(source)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                places.setdefault(node.name, set()).add(path)
        for node in tree.body if tree else ():
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            for target in targets:
                if isinstance(target, ast.Name):
                    places.setdefault(target.id, set()).add(path)
    return places


def _used(source: str) -> set[str]:
    """Return names that are read, taken as attributes or imported."""
    found: set[str] = set()
    bound: set[str] = set()
    tree = _parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Name):
            (found if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
    return found - bound


def _parsed(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return None


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
