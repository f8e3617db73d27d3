"""Where modules lead: relative paths, aliases, workspaces, packages, what is built, what is not there."""

from collections.abc import Mapping

import pytest

from controller.graph.language import Files, kind_of
from controller.graph.languages.script.ecosystem import Script, ecosystem
from controller.graph.languages.script.extract import extract


def script(files: Mapping[str, str]) -> Script:
    """Read the settings of the files."""
    settings = {path: dict(extract(kind_of(path), text.encode()).settings) for path, text in files.items()}
    return ecosystem(Files(files.keys(), {path: said for path, said in settings.items() if said}))


PLAIN = dict.fromkeys(
    (
        "src/a.ts", "src/a.test.ts", "src/b/index.ts", "src/c.tsx", "src/d.js", "src/d.ts", "src/e.d.ts", "src/f.mts",
        "src/g.vue", "src/h.json", "src/i.css", "src/index.ts", "src/j.js", "src/j.d.ts", "src/k/index.js", "src/k.ts",
        "src/deep/x.ts", "index.js",
    ),
    "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("module", "importer", "place"),
    [
        ("./a", "src/c.tsx", "src/a.ts"),
        ("./a.ts", "src/c.tsx", "src/a.ts"),
        ("./a.js", "src/c.tsx", "src/a.ts"),
        ("./a.test", "src/c.tsx", "src/a.test.ts"),
        ("./c.js", "src/a.ts", "src/c.tsx"),
        ("./c.jsx", "src/a.ts", "src/c.tsx"),
        ("./f.mjs", "src/a.ts", "src/f.mts"),
        ("./e", "src/a.ts", "src/e.d.ts"),
        ("./b", "src/a.ts", "src/b/index.ts"),
        ("./b/", "src/a.ts", "src/b/index.ts"),
        ("./k", "src/a.ts", "src/k.ts"),
        (".", "src/a.ts", "src/index.ts"),
        ("..", "src/deep/x.ts", "src/index.ts"),
        ("../..", "src/deep/x.ts", "index.js"),
        ("./d", "src/a.ts", "src/d.ts"),
        ("./d", "src/j.js", "src/d.js"),
        ("./j", "src/a.ts", "src/j.js"),
        ("./g.vue", "src/a.ts", "src/g.vue"),
        ("./h.json", "src/a.ts", "src/h.json"),
        ("./i.css", "src/a.ts", "src/i.css"),
        ("./i.css?inline", "src/a.ts", "src/i.css"),
        ("!raw-loader!./i.css", "src/a.ts", "src/i.css"),
        ("./none", "src/a.ts", None),
        ("../../../etc", "src/a.ts", None),
        ("src/a", "src/b/index.ts", None),
        ("node:fs", "src/a.ts", None),
        ("", "src/a.ts", None),
        ("/src/a.ts", "src/b/index.ts", "src/a.ts"),
        ("@/a", "src/b/index.ts", "src/a.ts"),
    ],
)
def test_paths(module: str, importer: str, place: str | None) -> None:
    assert script(PLAIN).place(module, importer) == place


ALIASED = {
    "tsconfig.base.json": '{"compilerOptions": {"paths": {"@lib/*": ["libs/*/src", "libs/*"], "one": ["libs/x.ts"]}}}',
    "apps/web/tsconfig.json": """{
        // the rest is in the base, which says "//" in a string
        "extends": "../../tsconfig.base", /* and in a comment */
        "include": ["src/**/*", "a // b"],
    }""",
    "apps/shop/tsconfig.json": """
        {"extends": ["./missing.json", "@cfg/ts/strict.json"], "compilerOptions": {"baseUrl": "./src"}}""",
    "apps/shop/src/util/money.ts": "",
    "apps/shop/src/main.ts": "",
    "apps/loop/tsconfig.json": '{"extends": "./tsconfig.json", "compilerOptions": {"paths": {"me": ["./me.ts"]}}}',
    "apps/loop/me.ts": "",
    "apps/vite/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
    "apps/vite/tsconfig.app.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
    "apps/vite/src/x.ts": "",
    "cfg/package.json": '{"name": "@cfg/ts"}',
    "cfg/strict.json": '{"compilerOptions": {"paths": {"strict": ["./strict.ts"]}}}',
    "package.json": '{"workspaces": {"packages": ["cfg"]}}',
    "libs/x.ts": "",
    "libs/y/src/index.ts": "",
    "apps/web/src/page.ts": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "importer", "place"),
    [
        ("@lib/x", "apps/web/src/page.ts", "libs/x.ts"),
        ("@lib/y", "apps/web/src/page.ts", "libs/y/src/index.ts"),
        ("@lib/none", "apps/web/src/page.ts", None),
        ("one", "apps/web/src/page.ts", "libs/x.ts"),
        ("one", "apps/shop/src/main.ts", "libs/x.ts"),
        ("util/money", "apps/shop/src/main.ts", "apps/shop/src/util/money.ts"),
        ("util/money", "apps/web/src/page.ts", None),
        ("me", "apps/loop/me.ts", "apps/loop/me.ts"),
        ("@/x", "apps/vite/src/x.ts", "apps/vite/src/x.ts"),
    ],
)
def test_aliases(module: str, importer: str, place: str | None) -> None:
    assert script(ALIASED).place(module, importer) == place


WORKSPACE = {
    "package.json": '{"name": "root", "workspaces": ["packages/*", "!packages/n", "tools/**", "**/examples/**/down2"]}',
    "packages/main/package.json": '{"name": "main", "main": "./lib/start.js"}',
    "packages/main/lib/start.js": "",
    "packages/main/lib/other.js": "",
    "packages/built/package.json": '{"name": "@s/built", "module": "dist/built.esm.js", "types": "dist/index.d.ts"}',
    "packages/built/src/index.ts": "",
    "packages/built/src/extra/deep.ts": "",
    "packages/mapped/package.json": """{"name": "mapped", "exports": {
        ".": {"types": "./dist/index.d.mts", "import": {"default": "./dist/index.mjs"}},
        "./feature/*": "./dist/features/*.js", "./old/": "./lib/old/", "./closed": null, "./*.css": "./style/*.css"
    }, "imports": {"#in/*": "./src/in/*.ts", "#dep": {"node": "main", "default": "./src/dep.ts"}}}""",
    "packages/mapped/src/index.mts": "",
    "packages/mapped/src/features/one.ts": "",
    "packages/mapped/lib/old/two.js": "",
    "packages/mapped/style/x.css": "",
    "packages/mapped/src/in/side.ts": "",
    "packages/mapped/src/dep.ts": "",
    "packages/bare/package.json": '{"name": "bare"}',
    "packages/bare/src/main.ts": "",
    "packages/sugar/package.json": '{"name": "sugar", "exports": "./dist/sugar.js"}',
    "packages/sugar/src/sugar.ts": "",
    "tools/deep/down/package.json": '{"name": "down", "main": "down"}',
    "tools/deep/down/down.cjs": "",
    "x/examples/y/z/down2/package.json": '{"name": "down2"}',
    "x/examples/y/z/down2/index.js": "",
    "examples/fake/package.json": '{"name": "react", "main": "x.js", "dependencies": {"near": "file:../near"}}',
    "examples/fake/x.js": "",
    "examples/near/package.json": '{"name": "near", "main": "near.js"}',
    "examples/near/near.js": "",
    "app.ts": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "importer", "place"),
    [
        ("main", "app.ts", "packages/main/lib/start.js"),
        ("main/lib/other", "app.ts", "packages/main/lib/other.js"),
        ("@s/built", "app.ts", "packages/built/src/index.ts"),
        ("@s/built/extra/deep", "app.ts", "packages/built/src/extra/deep.ts"),
        ("@s/built/dist/extra/deep.js", "app.ts", "packages/built/src/extra/deep.ts"),
        ("mapped", "app.ts", "packages/mapped/src/index.mts"),
        ("mapped/feature/one", "app.ts", "packages/mapped/src/features/one.ts"),
        ("mapped/old/two.js", "app.ts", "packages/mapped/lib/old/two.js"),
        ("mapped/x.css", "app.ts", "packages/mapped/style/x.css"),
        ("mapped/closed", "app.ts", None),
        ("#in/side", "packages/mapped/src/index.mts", "packages/mapped/src/in/side.ts"),
        ("#dep", "packages/mapped/src/index.mts", "packages/main/lib/start.js"),
        ("#in/side", "app.ts", None),
        ("bare", "app.ts", "packages/bare/src/main.ts"),
        ("sugar", "app.ts", "packages/sugar/src/sugar.ts"),
        ("down", "app.ts", "tools/deep/down/down.cjs"),
        ("down2", "app.ts", "x/examples/y/z/down2/index.js"),
        ("react", "app.ts", None),
        ("react", "examples/fake/x.js", "examples/fake/x.js"),
        ("near", "examples/fake/x.js", "examples/near/near.js"),
        ("near", "app.ts", None),
        ("@s/none", "app.ts", None),
    ],
)
def test_packages(module: str, importer: str, place: str | None) -> None:
    assert script(WORKSPACE).place(module, importer) == place


@pytest.mark.parametrize(
    "text", ["packages:\n  - 'libs/*'\n  # - no/*\n", 'packages: ["libs/*", x]\n', "a: 1\npackages:\n- libs/*\n"]
)
def test_pnpm(text: str) -> None:
    files = {
        "pnpm-workspace.yaml": text,
        "libs/one/package.json": '{"name": "one"}',
        "libs/one/index.ts": "",
        "no/x": "",
    }
    assert script(files).place("one", "app.ts") == "libs/one/index.ts"


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("react", "react"), ("react-dom/client", "react-dom"), ("@scope/pkg", "@scope/pkg"), ("npm:zod@3/v4", "zod"),
        ("@scope/pkg/sub/x.js", "@scope/pkg"), ("fs", ""), ("fs/promises", ""), ("node:test", ""), ("#in/x", ""),
        ("@/x", ""), ("~/x", ""), ("./x", ""), ("https://a.b/c.js", ""), ("virtual:x", ""), ("", ""),
        ("jsr:@a/b", "@a/b"),
    ],
)  # fmt: skip
def test_third_party(module: str, package: str) -> None:
    assert script(PLAIN).package(module, "src/a.ts") == package


def test_names_of_a_plan() -> None:
    found = script({**PLAIN, "lib/money.service.ts": "", "app/b.ts": ""})
    assert found.anywhere("src.a") == ("src/a.ts",)
    assert found.anywhere("b") == ("app/b.ts", "src/b/index.ts")
    assert found.anywhere("src.b") == ("src/b/index.ts",)
    assert found.anywhere("money.service") == ("lib/money.service.ts",)
    assert found.anywhere("nothing") == ()
    assert found.folder("src/b/index.ts") == "src/b"
    assert found.folder("src/a.ts") is None
    assert "src/new.ts" in found.candidates("src.new.Thing")
    assert found.candidates("other.new.Thing") == ()


DEEP = '{"import": ' * 500 + '"./x.js"' + "}" * 500
BROKEN = (
    "", "[]", "null", "{", "[" * 100_000, "/*" * 50_000, '{"exports": {".": {}}}', f'{{"exports": {DEEP}}}',
    '{"name": 1, "exports": [], "workspaces": 3, "dependencies": []}', f'{{"workspaces": ["{"**/*/" * 50}x"]}}',
)  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:20])
def test_broken_settings_say_nothing(text: str) -> None:
    files = {"package.json": text, "tsconfig.json": text, "pnpm-workspace.yaml": text, "a/" * 30 + "package.json": "{}"}
    assert script({**files, "x.ts": ""}).place("lib", "x.ts") is None
