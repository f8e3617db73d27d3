"""Facts of single files, read back as the edges they make."""

import random
import string
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from controller.graph.facts import FileFacts, Import
from controller.graph.languages.script.extract import extract, grammar

Arrows = Callable[[Mapping[str, str]], Any]
KINDS = ("javascript", "typescript", "tsx")


def of(source: str, kind: str = "typescript") -> FileFacts:
    return extract(kind, source.encode())


def defined(source: str, kind: str = "typescript") -> set[str]:
    return {f"{each.kind} {each.qual}" for each in of(source, kind).definitions}


DEFINITIONS = {
    "function f() {}": {"function f"},
    "export async function* f<T>() {}": {"function f"},
    "const f = () => 1; let g = function () {}; var h = 3": {"function f", "function g", "variable h"},
    "const { a, b: c } = x; const [d] = y": {"variable a", "variable c", "variable d"},
    "class A { m() {} static s() {} #p = 1; f = () => 1; get g() { return 1 } ['x' + 1]() {} 'quoted'() {} }": {
        "class A", "method A.m", "method A.s", "variable A.#p", "method A.f", "method A.g",
    },
    "const A = class B { m() {} }": {"class A", "method A.m"},
    "const api = { get() {}, post: () => 1, put: function () {}, x: 1, deep: { no() {} } }": {
        "variable api", "method api.get", "method api.post", "method api.put",
    },
    "call({ get() {} }); call(class { m() {} })": set(),
    "function outer() { function inner() {} const x = 1; const f = () => 2; class K { m() {} } }": {
        "function outer", "function outer.inner", "class outer.K", "method outer.K.m",
    },
    "{ const x = 1; function f() {} }": {"function f"},
    "export default () => 1": {"function default"},
    "export default class { m() {} }": {"class default", "method default.m"},
    "export default { data() {}, name: 'x' }": {"variable default", "method default.data"},
    "export default class A {}": {"class A"},
}  # fmt: skip
TYPED = {
    "interface I { a: string; b(x: number): void; c?: { d: string } }": {
        "class I", "variable I.a", "method I.b", "variable I.c",
    },
    "type T = { a: string } | null; enum E { A = 1, B }": {
        "class T", "variable T.a", "class E", "variable E.A", "variable E.B",
    },
    "abstract class A { abstract m(): void; private readonly x: X = 1; constructor(public y: Y) {} }": {
        "class A", "method A.m", "variable A.x", "method A.constructor", "variable A.y",
    },
    "namespace N { export const x = 1; export function f() {} }": {"class N", "variable N.x", "function N.f"},
    "declare function f(): void; declare module 'm' { export function g(): void }": {"function f", "function g"},
    "declare global { interface Window { a: 1 } }": {"class Window", "variable Window.a"},
}  # fmt: skip
COMMON_JS = {
    "exports.f = function () {}; module.exports.g = () => 1; exports.n = 1": {"function f", "function g", "variable n"},
    "module.exports = { a() {}, b: function () {}, c }": {"variable exports", "method exports.a", "method exports.b"},
    "function F() {} F.prototype.m = function () {}; F.s = () => 1; F.prototype = { n: function () {} }": {
        "function F", "method F.m", "method F.s", "method F.n",
    },
    "var app = exports = module.exports = {}; app.use = function use() {}": {
        "variable app", "method app.use",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", DEFINITIONS)
def test_definitions(kind: str, source: str) -> None:
    assert defined(source, kind) == DEFINITIONS[source]


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("source", TYPED)
def test_typed_definitions(kind: str, source: str) -> None:
    assert defined(source, kind) == TYPED[source]


@pytest.mark.parametrize("source", COMMON_JS)
def test_members_given_from_outside(source: str) -> None:
    assert defined(source, "javascript") == COMMON_JS[source]


def test_signatures_say_the_head() -> None:
    source = (
        "@dec()\nexport class A<T>\n  extends B {\n  m(a: X,\n    b = 1): Y { }\n}\nexport const f = (a: X) => {\n}\n"
    )
    found = {each.qual: (each.line, each.signature) for each in of(source).definitions}
    assert found == {
        "A": (2, "class A<T> extends B"), "A.m": (4, "m(a: X, b = 1): Y"), "f": (7, "f = (a: X) =>"),
    }  # fmt: skip


IMPORTS = {
    "import a, { b, c as d, default as e } from 'm'": [("a", "default"), ("b", "b"), ("d", "c"), ("e", "default")],
    "import * as n from 'm'": [("n", "")],
    "import 'm'": [("", "")],
    "const a = require('m')": [("a", "default")],
    "const { b, c: d, e = 1 } = require('m')": [("b", "b"), ("d", "c"), ("e", "e")],
    "var b = require('m').b": [("b", "b")],
    "function f() { require('m')() }": [("", "")],
    "const n = await import('m'); const { b } = await import('m')": [("n", ""), ("b", "b")],
    "lazy(() => import('m'))": [("", "")],
    "import(`m`); require(name); import(name)": [],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", IMPORTS)
def test_imports(kind: str, source: str) -> None:
    found = [(each.bound, each.symbol) for each in of(source, kind).imports if each.module == "m"]
    assert found == IMPORTS[source]


def test_type_imports() -> None:
    source = "import type { A } from 'm'; import { type B } from 'm'; import c = require('m'); let x: import('m').D"
    found = [(each.bound, each.symbol) for each in of(source).imports]
    assert found == [("A", "A"), ("B", "B"), ("c", "default"), ("", "")]


EXPORTS = {
    "export function f() {} export class A {} export const x = 1, { y } = z": {"f": "f", "A": "A", "x": "x", "y": "y"},
    "function f() {} export { f as g, f as default }": {"g": "f", "default": "f"},
    "export default f": {"default": "f"},
    "export default function f() {}": {"default": "f"},
    "export default () => 1": {"default": "default"},
    "function f() { } f()": {},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", EXPORTS)
def test_exports_are_other_names_for_what_the_file_has(kind: str, source: str) -> None:
    rows = [each for each in of(source, kind).imports if each.scope == "<export>" and not each.denotes]
    assert {each.bound: each.symbol for each in rows} == EXPORTS[source]


def test_what_a_namespace_exports_the_file_does_not() -> None:
    found = of("namespace N { export const x = 1 } declare module 'm' { export const y = 1 }").imports
    assert [each.bound for each in found if each.scope == "<export>"] == []


def test_what_comes_from_elsewhere_is_exported_from_there() -> None:
    found = of("export { a as b } from 'm'; export * from 'm'; export * as n from 'm'", "javascript").imports
    assert found[:3] == tuple(
        Import("<export>", bound, "m", symbol, "m", 1) for bound, symbol in (("b", "a"), ("*", "*"), ("n", ""))
    )


LINKED = {
    "lib.ts": (
        "export class Money { cents = 0; currency: Currency; plus(o: Money): Money { return this }\n"
        "  static of(n: number): Money { return new Money() } async load(): Promise<Money> { return this } }\n"
        "export class Currency { name() {} }\nexport function zero(): Money { return new Money() }\n"
        "export const one = zero()\nexport interface Named { name(): string }\nexport enum Side { Left, Right }\n"
        "export namespace Deep { export class Inner { go() {} } }\n"
        "export const api = { send(m: Money) {} }\nexport default function plain() {}\n"
    ),
}  # fmt: skip
USES = {
    "export function f(m: Money) { m.plus(m) }": {"f -> Money", "f -> Money.plus"},
    "export function f(m: Money | null) { m!.plus(m)?.cents }": {"f -> Money", "f -> Money.plus", "f -> Money.cents"},
    "export const f = (m: Money) => m.currency.name()": {"f -> Money", "f -> Currency.name"},
    "export function f() { const m = new Money(); m.plus(m) }": {"f -> Money", "f -> Money.plus"},
    "export function f() { let m = new Money(); m = other(); m.plus(m) }": {"f -> Money"},
    "export function f() { const m = zero(); m.plus(m) }": {"f -> zero", "f -> Money.plus"},
    "export async function f(x: Money) { const m = await x.load(); m.plus(m) }": {
        "f -> Money", "f -> Money.load", "f -> Money.plus",
    },
    "export function f() { zero().plus(one).currency.name() }": {
        "f -> zero", "f -> Money.plus", "f -> one", "f -> Currency.name",
    },
    "one.plus(one)": {"a.ts -> one", "a.ts -> Money.plus"},
    "export function f(Money: string) { Money.plus() }": set(),
    "export function f() { const zero = 1; { zero() } }": set(),
    "export function f() { { const zero = 1 } zero() }": {"f -> zero"},
    "export function f() { if (1) { var zero = 1 } zero() }": set(),
    "export function f() { try {} catch (zero) { zero() } for (const one of []) one() }": set(),
    "export function f({ zero, x: one }, [plain], ...api) { zero(one, plain, api) }": set(),
    "export function f<Money>(m: Money) { m.plus() }": set(),
    "export const x = { zero() { zero() } }": {"x.zero -> zero"},
    "export class A extends Money { m() { super.plus(this); this.plus(this); this.m() } }": {
        "A => Money", "A.m -> Money.plus",
    },
    "export class A { constructor(private m: Money) { m.plus() } f() { this.m.plus(this.m) } }": {
        "A.m -> Money", "A.constructor -> Money.plus", "A.f -> Money.plus", "A.f -> A.m",
    },
    "export class A { m = new Money(); f = () => { this.m.plus(1) } }": {"A.m -> Money", "A.f -> Money.plus"},
    "export class A { constructor(m: Money) { this.m = m } f() { this.m.plus(1) } }": {
        "A.constructor -> Money", "A.f -> Money.plus",
    },
    "export class A { m: Money; f() { on(function () { this.m.plus(1) }) } }": {"A.m -> Money"},
    "export class A implements Named { name() { return '' } }": {"A => Named"},
    "export interface B extends Named {} export function f(b: B) { b.name() }": {
        "B => Named", "f -> B", "f -> Named.name",
    },
    "export type T = Array<Money> | typeof one": {"T -> Money", "T -> one"},
    "export const f = (s: Side) => s === Side.Left ? Side : 1": {"f -> Side", "f -> Side.Left"},
    "export function f() { new Deep.Inner().go(); Money.of(1).plus(one) }": {
        "f -> Deep.Inner", "f -> Deep.Inner.go", "f -> Money.of", "f -> Money.plus", "f -> one",
    },
    "export function f() { api.send(zero<string>()) }": {"f -> api.send", "f -> zero"},
    "export function f() { plain`x${zero}`; plain(); ({ one }) }": {"f -> plain", "f -> zero", "f -> one"},
    "export function f() { return all.zero() }": {"f -> zero"},
    "@plain class A { @zero() m() {} }": {"A -> plain", "A -> zero"},
    "zero: for (;;) { break zero } export const x = { one: 1 }; x.plain; x['api']": {"a.ts -> x"},
}  # fmt: skip


@pytest.mark.parametrize("source", USES)
def test_uses(arrows: Arrows, source: str) -> None:
    head = "import plain, { Money, Currency, zero, one, Named, Side, Deep, api } from './lib'\n"
    graph = arrows({**LINKED, "a.ts": f"{head}import * as all from './lib'\n{source}"}).graph
    found = {
        " ".join((_leaf(edge.source), "=>" if edge.kind == "inherits" else "->", _leaf(edge.target)))
        for edge in graph.edges
        if edge.source.startswith("a.ts") and edge.kind not in ("imports", "defines") and edge.resolved
    }
    assert found == USES[source]


def _leaf(node_id: str) -> str:
    return node_id.rpartition("::")[2]


def test_components_are_called_and_elements_are_the_browser_s(arrows: Arrows) -> None:
    files = {
        "ui.tsx": (
            "export const Box = () => <div/>\nexport const Menu = { Item: () => <Box>x</Box> }\nexport const div = 1\n"
        ),
        "app.jsx": (
            "import { Box, Menu, div } from './ui'\nexport const App = () => <div><Box a={1}/><Menu.Item/><b/></div>\n"
        ),
    }
    assert arrows(files).of("calls", "uses") == {
        "ui.tsx::Menu.Item -> ui.tsx::Box", "app.jsx::App -> ui.tsx::Box", "app.jsx::App -> ui.tsx::Menu.Item",
    }  # fmt: skip


def test_only_what_is_exported_is_seen_and_stars_bring_all_but_the_default(arrows: Arrows) -> None:
    files = {
        "deep/index.js": "export * from './a'\nexport { hidden as shown } from './b'\nexport default 1\n",
        "deep/a.js": "export function open() {}\nexport const _low = 1\nfunction closed() {}\nexport default closed\n",
        "deep/b.js": "export const hidden = () => 1\n",
        "use.js": (
            "import d, { open, _low, closed, shown, hidden } from './deep'\n"
            "export const f = () => [open(), _low, closed(), shown(), hidden()]\n"
        ),
    }
    assert arrows(files).of("calls", "uses") == {
        "use.js::f -> deep/a.js::open", "use.js::f -> deep/a.js::_low", "use.js::f -> deep/b.js::hidden",
    }  # fmt: skip


def test_require_finds_the_function_the_object_and_the_namespace(arrows: Arrows) -> None:
    files = {
        "one.js": (
            "function one() {}\none.more = function () {}\nmodule.exports = one\nmodule.exports.extra = helper\n"
            "function helper() {}\n"
        ),
        "two.js": "exports.go = function () {}\n",
        "three.js": "const k = () => 1\nmodule.exports = { k, run() { k() } }\n",
        "use.js": (
            "const one = require('./one'), two = require('./two')\nconst { k, run } = require('./three')\n"
            "function f() { one(); one.more(); one.extra(); two.go(); k(); run() }\n"
        ),
    }
    assert arrows(files).of("calls") == {
        "use.js::f -> one.js::one", "use.js::f -> one.js::one.more", "use.js::f -> one.js::helper",
        "use.js::f -> two.js::go", "use.js::f -> three.js::k", "use.js::f -> three.js::exports.run",
        "three.js::exports.run -> three.js::k",
    }  # fmt: skip


def test_a_syntax_error_leaves_the_rest() -> None:
    found = of("function good() {}\nlet = = 3;\nclass Also { m() {} }\n")
    assert found.error_line == 2
    assert {"good", "Also"} <= {each.qual for each in found.definitions}


def test_what_is_minified_stays_at_file_level() -> None:
    line = ";".join(f"function f{i}(){{return f{i - 1}()}}" for i in range(2000))
    assert of(line).definitions == ()
    assert len(of(line.replace(";", "\n")).definitions) == 2000


DEEP = {
    "(": 20_000, "{": 20_000, "[": 20_000, "a?b:": 20_000, "a=>": 20_000, "a+": 20_000, "`${": 10_000, "<a>": 10_000,
    "f<": 10_000, "class A{": 10_000, "function f(){": 10_000, "({a:": 10_000, "namespace N{": 5_000, "a,": 50_000,
    "@a ": 20_000, "/*": 50_000, "a/*": 20_000, "import {": 10_000, "import('a',": 10_000, "module.exports=": 10_000,
    "export default ": 10_000, "let {a:": 10_000, "type T=[": 10_000, "const a=b();": 10_000, "exports.a=b.c;": 10_000,
    "x.y.prototype.z=function(){": 5_000, "\0": 50_000, "\\u{": 20_000, "a.b.": 20_000, "a.b().": 10_000,
}  # fmt: skip


@pytest.mark.parametrize("piece", DEEP, ids=repr)
def test_hostile_files_are_read_in_time(piece: str) -> None:
    begun = time.process_time()
    for kind in ("javascript", "tsx"):
        extract(kind, f"{piece * DEEP[piece]}a".encode())
    assert time.process_time() - begun < 6


def test_types_of_types_end() -> None:
    chain = "".join(f"let a{i} = a{i + 1}.b.c.d();\n" for i in range(3000))
    begun = time.process_time()
    found = of(f"let a0: a1; {chain} function f(x: y, y: z, z: x) {{ x.a(y); {chain} a0.b() }}", "tsx")
    assert time.process_time() - begun < 6
    assert len(found.definitions) == 3001


PIECES = (b"", b"{", b"}", b"(", b"`", b"\xff", b"'", b"=>", b"<", b"export ")
SEEDS = [text for group in (DEFINITIONS, TYPED, COMMON_JS, IMPORTS, EXPORTS, USES) for text in group]


@pytest.mark.parametrize("seed", range(8))
def test_no_bytes_raise(seed: int) -> None:
    """Sources are cut, joined, repeated and spoiled; every answer is of the file's own making."""
    dice = random.Random(seed)
    for _ in range(60):
        source = bytearray("\n".join(dice.sample(SEEDS, 6)).encode())
        for _ in range(dice.randint(1, 30)):
            at = dice.randrange(len(source))
            piece = dice.choice((*PIECES, bytes(source[:9]), dice.choice(string.ascii_letters).encode()))
            source[at : at + dice.randint(0, 5)] = piece
        for kind in KINDS:
            found = extract(kind, bytes(source))
            quals = {each.qual for each in found.definitions}
            assert len(quals) == len(found.definitions)
            assert all(not each.source or each.source in quals for each in found.references)


@pytest.mark.parametrize("kind", [*KINDS, "package-json", "tsconfig", "pnpm-workspace"])
def test_versions_name_the_grammar(kind: str) -> None:
    assert grammar(kind)
    assert extract(kind, b"\xff\xfe{[") is not None
