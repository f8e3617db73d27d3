"""Whatever is edited, what was brought forward step by step is what a new start gives."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha1
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.graph.cache import Cache
from controller.graph.language import KINDS, facts, kind_of
from controller.graph.link import Linker
from controller.graph.model import Graph, delta
from controller.graph.store.change import changed
from controller.graph.store.graph import StoredGraph
from controller.graph.store.reading import Reading
from controller.graph.store.shelf import Chunks, place
from controller.graph.store.state import empty, pack, unpack
from controller.graph.store.stored import StoredLinker, StoredWorld

FAMILIES = {kind.family for kind in KINDS}


class Life:
    """One tree on its way through edits, with all that is kept of it in a dictionary."""

    def __init__(self, cache: Cache) -> None:
        self.kept: dict[bytes, str] = {}
        self.contents: dict[str, bytes] = {}
        self.files: dict[str, str] = {}
        self.reading = Reading(cache, self._blobs)
        self.world = StoredWorld(empty(self._chunks()), self.reading)
        self.linked = 0

    def _chunks(self) -> Chunks:
        return Chunks(lambda keys: {key: self.kept[key] for key in keys if key in self.kept})

    def _blobs(self, shas: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        return ((sha, self.contents[sha]) for sha in shas)

    def edit(self, edits: Mapping[str, str | None]) -> None:
        entries: dict[str, str | None] = {}
        for path, text in edits.items():
            if text is None and path not in self.files:
                continue
            entries[path] = None if text is None else self._blob(path, text)
            if text is None:
                del self.files[path]
            else:
                self.files[path] = text
        self.world, self.linked = changed(self.world.state, self.world, entries, self.reading)

    def _blob(self, path: str, text: str) -> str:
        sha = sha1(text.encode()).hexdigest()
        self.contents[sha] = text.encode()
        return sha if kind_of(path) != "file" else ""

    def reopen(self) -> None:
        """Go on as another process would: from what is kept."""
        chunks = self.world.state.chunks
        self.kept |= chunks.unkept()
        state, _ = unpack(pack(self.world.state, {}), self._chunks())
        self.world = StoredWorld(state, self.reading)

    def anew(self) -> Linker:
        return Linker({path: facts(kind_of(path), text.encode()) for path, text in sorted(self.files.items())})


def check(life: Life, before: Graph) -> Graph:
    """Hold what was brought forward against a new start."""
    fresh, stored = life.anew(), StoredLinker(life.world)
    graph, lazy = fresh.graph(), StoredGraph(life.world)
    for path in life.files:
        assert stored.link(path) == fresh.link(path), path
        assert stored.file_edges(path) == fresh.file_edges(path), path
    assert lazy.all == graph
    for node in graph.nodes:
        assert lazy.nodes[node] == graph.nodes[node]
        assert lazy.incoming.get(node) == graph.incoming.get(node), node
        assert lazy.outgoing.get(node) == graph.outgoing.get(node), node
        assert lazy.inside(node) == graph.inside(node)
    assert list(lazy.by_leaf) == sorted(graph.by_leaf)
    assert {leaf: lazy.by_leaf[leaf] for leaf in graph.by_leaf} == dict(graph.by_leaf)
    assert dict(lazy.by_path) == dict(graph.by_path)
    assert stored.families == fresh.families
    assert delta(before, lazy) == delta(before.all if isinstance(before, StoredGraph) else before, graph)
    return lazy


NAMES = ("a", "b", "A")
WRITTEN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "python": (
        ("a.py", "b.py", "p/__init__.py", "p/a.py", "p/b.py", "p/q/__init__.py", "p/q/a.py", "src/p/b.py", "n/a.py",
         "src/a/__init__.py", "pyproject.toml", "x/setup.py", "x/a.py", "x/b.py", "os.py", "a/b.pyi"),
        ("import {0}", "import p.{0}", "import p.q.{0} as {1}", "from p import {0}", "from . import {0}",
         "from .{0} import {1}", "from .{0} import {1} as {2}", "from p.{0} import *", "from .{0} import *",
         "from ..{0} import {1}", "from p.q import *", "import os, p", "from n.{0} import {1}", "from a.{0} import {1}",
         "__all__ = ['{0}', '{1}']", "def {0}({1}: {2}): {1}.{3}()", "class {0}({1}): pass",
         "class {0}(p.{1}):\n    def {2}(self): self.{3}()", "class {0}:\n    def {1}(self): super().{2}()",
         "{0}.{1}()", "p.{0}.{1}()", "{0}().{1}()", "{0} = {1}()", "x.{0}()", "def (", "{0} = p.{1}"),
    ),
    "script": (
        ("a.ts", "b.tsx", "c.js", "p/index.ts", "p/a.mjs", "p/q/index.js", "package.json", "tsconfig.json",
         "p/package.json", "data.json"),
        ("import {{{0}}} from './{1}'", "import {0} from './p'", "import * as {0} from './p/{1}'",
         "export * from './{0}'", "export {{{0} as {1}}} from './{2}'", "export {{{0}}}",
         "const {0} = require('./{1}')",
         "export function {0}({1}) {{ {2}.{3}() }}", "export class {0} extends {1} {{ {2}() {{ this.{3}() }} }}",
         "export default {0}", "import {{{0}}} from '@/{1}'", "import {{{0}}} from 'pkg/{1}'", "{0}.{1}()", "{0}()",
         "import d from './data.json'", "export const {0} = {1}"),
    ),
    "go": (
        ("main.go", "a/a.go", "a/b.go", "a/a_test.go", "b/b.go", "go.mod", "c/go.mod", "c/c.go"),
        ('import "m/{0}"', 'import {0} "m/{1}"', "func {0}() {{ {1}() }}", "func {0}(x {1}) {{ x.{2}() }}",
         "type {0} struct {{ {1} }}", "func ({0} {1}) {2}() {{ {0}.{3}() }}", "var {0} = {1}.{2}",
         "func f() {{ {0}.{1}() }}", "type {0} interface {{ {1}() }}"),
    ),
    "rust": (
        ("src/lib.rs", "src/main.rs", "src/a.rs", "src/b/mod.rs", "src/b/c.rs", "Cargo.toml", "k/Cargo.toml",
         "k/src/lib.rs"),
        ("mod {0};", "pub mod {0};", "use crate::{0};", "use crate::{0}::{1};", "use super::{0} as {1};",
         "pub use self::{0}::*;", "use k::{0};", "pub fn {0}() {{ {1}(); }}", "pub struct {0};",
         "impl {0} {{ pub fn {1}(&self) {{ self.{2}(); }} }}", "pub trait {0} {{ fn {1}(&self); }}",
         "fn f(x: {0}) {{ x.{1}(); {2}::{3}(); }}", "use k::*;"),
    ),
    "java": (
        ("src/p/A.java", "src/p/B.java", "src/p/q/C.java", "test/p/A.java", "src/D.java", "pom.xml"),
        ("import p.{0};", "import p.*;", "import static p.{0}.{1};", "import p.q.*;",
         "class {0} extends {1} {{ void {2}() {{ {3}(); }} }}", "class {0} {{ {1} {2}; void {3}() {{ {2}.{3}(); }} }}",
         "interface {0} {{ void {1}(); }}", "class {0} implements {1} {{ static void {2}() {{ {1}.{2}(); }} }}"),
    ),
    "c": (
        ("a.c", "a.h", "b.c", "b.h", "inc/a.h", "inc/c.hpp", "src/c.cpp", "src/d.cc"),
        ('#include "{0}.h"', "#include <inc/{0}.h>", '#include "../inc/c.hpp"', "void {0}(void);",
         "void {0}(void) {{ {1}(); }}", "struct {0} {{ int {1}; }};", "class {0} : public {1} {{ void {2}(); }};",
         "void {0}::{1}() {{ {2}(); }}", "namespace {0} {{ void {1}() {{ {2}(); }} }}", "using namespace {0};",
         "static int {0} = 1;", "typedef struct {0} {1};"),
    ),
}  # fmt: skip

SETTINGS = {
    "package.json": (
        '{"name": "pkg"}',
        '{"name": "a", "workspaces": ["p"]}',
        '{"name": "pkg", "main": "index.ts"}',
        "{",
    ),
    "tsconfig.json": ('{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["p/*"]}}}', "{}", '{"extends": "./x"}'),
    "go.mod": ("module m\n", "module n\n", "module m/c\n", "module m\nreplace m/a => ./b\n"),
    "Cargo.toml": ('[package]\nname = "k"\n', '[package]\nname = "a"\n', '[workspace]\nmembers = ["k"]\n'),
    "pom.xml": ("<project/>", ""),
    "pyproject.toml": ("", "[project]\n"),
}
HEADS = {"go": "package {0}\n", "java": "package p;\n"}


def content(draw: Any, family: str, path: str) -> str:
    if known := SETTINGS.get(path.rpartition("/")[2]):
        return str(draw(st.sampled_from(known)))
    lines = draw(st.lists(st.sampled_from(WRITTEN[family][1]), min_size=1, max_size=6))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=4, max_size=4))
    head = HEADS.get(family, "").format(draw(st.sampled_from(("a", "b", "main"))))
    return head + "".join(f"{line.format(*names[i % 4 :], *names)}\n" for i, line in enumerate(lines))


@st.composite
def history(draw: Any, family: str) -> list[dict[str, str | None]]:
    """Draw a tree that has most of the files, and edits of one or two of them each."""
    paths = WRITTEN[family][0]
    start: dict[str, str | None] = {path: content(draw, family, path) for path in paths if draw(st.integers(0, 5))}
    steps = [start]
    for _ in range(draw(st.integers(2, 6))):
        chosen = draw(st.lists(st.sampled_from(paths), min_size=1, max_size=2, unique=True))
        steps.append({path: content(draw, family, path) if draw(st.integers(0, 3)) else None for path in chosen})
    return steps


@pytest.fixture(scope="module")
def cache(tmp_path_factory: Any) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache") / "facts.db")


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_random_edits_give_what_a_new_start_gives(cache: Cache, family: str) -> None:
    @settings(max_examples=8, deadline=None, derandomize=True)
    @given(history(family), st.integers(0, 6))
    def replay(steps: list[dict[str, str | None]], reopened: int) -> None:
        life, graph = Life(cache), Graph({}, ())
        for number, step in enumerate(steps):
            life.edit(step)
            if number == reopened:
                life.reopen()
            graph = check(life, graph)

    replay()


def test_every_family_is_replayed() -> None:
    assert set(WRITTEN) >= FAMILIES


CHAIN = {
    "app/__init__.py": "from .money import Money as Cash\n",
    "app/money.py": "from .base import *\nclass Money(Base):\n    def add(self): pass\n",
    "app/base.py": "class Base:\n    def own(self): pass\n",
    "user.py": "from app import Cash\nCash().own()\nCash().add()\n",
    "other.py": "import app.later\nimport third.part\napp.later.go()\n",
    "far.py": "import user\n",
    "README": "",
}


@pytest.mark.parametrize(
    ("edits", "linked"),
    [
        ({"app/base.py": "class Base:\n    def own(self): return 1\n"}, {"app/base.py"}),
        ({"app/base.py": "class Base: pass\n"}, {"app/base.py", "user.py"}),
        ({"app/base.py": "class Other: pass\n"}, {"app/base.py", "app/money.py", "user.py"}),
        ({"app/base.py": "__all__ = ['x']\nclass Base:\n    def own(self): pass\n"},
         {"app/base.py", "app/money.py", "user.py"}),
        ({"app/base.py": None}, {"app/money.py", "user.py"}),
        ({"app/money.py": "class Money:\n    def add(self): pass\n"}, {"app/money.py", "user.py"}),
        ({"app/money.py": "from .base import *\nclass Money(Base):\n    def plus(self): pass\n"},
         {"app/money.py", "user.py"}),
        ({"app/__init__.py": "from .base import Base as Cash\n"}, {"app/__init__.py", "user.py"}),
        ({"app/__init__.py": ""}, {"app/__init__.py", "user.py"}),
        ({"app/later.py": "def go(): pass\n"}, {"app/later.py", "other.py"}),
        ({"third/part.py": "", "third/__init__.py": ""}, {"third/part.py", "third/__init__.py", "other.py"}),
        ({"user.py": None}, {"far.py"}),
        ({"README": "x"}, {"README"}),
        ({"NEWS": ""}, {"NEWS"}),
        ({"far.py": "import user, os\n"}, {"far.py"}),
    ],
)  # fmt: skip
def test_only_those_are_linked_again_whose_answers_changed(
    cache: Cache, edits: dict[str, str | None], linked: set[str]
) -> None:
    life = Life(cache)
    life.edit(CHAIN)
    before = check(life, Graph({}, ()))
    life.reopen()
    life.edit(edits)
    check(life, before)
    assert life.linked == len(linked)


def test_paths_that_share_a_number(cache: Cache) -> None:
    """Two paths with the same CRC are told apart by what they say, also when one of them stops to say it."""
    one, two = "plumless.py", "buckeroo.py"
    assert place(one) == place(two)
    life = Life(cache)
    life.edit({"a.py": "class A:\n    def go(self): pass\n", one: "import a\na.A.go()\n", two: "import a\na.A.go()\n"})
    graph = check(life, Graph({}, ()))
    life.edit({one: "class B:\n    def stop(self): pass\n"})
    graph = check(life, graph)
    life.edit({"a.py": "class A: pass\n"})
    graph = check(life, graph)
    life.edit({two: None, "c.py": "def f(x): x.stop()\n"})
    check(life, graph)
