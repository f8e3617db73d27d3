"""Repositories in JavaScript, TypeScript and TSX whose change meets an expected delta, misses it, and exceeds it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import pytest

from packets.graph import GraphReport

Report = Callable[..., GraphReport]


class Repository(NamedTuple):
    """A repository, the module that changes it, and the changes. `uses` are sources that exceed, each by itself."""

    base: Mapping[str, str]
    scope: tuple[str, ...]
    known: Mapping[str, list[str]]
    good: Mapping[str, str]
    met: tuple[str, ...]
    same: Mapping[str, str]
    missed: tuple[str, ...]
    other: str
    uses: tuple[str, ...]
    gone: Mapping[str, str]
    users: tuple[str, ...]


JAVASCRIPT = Repository(
    base={
        "package.json": '{"name": "shop", "main": "lib/index.js"}',
        "docs/money.md": "# Money\n",
        "lib/index.js": "exports.money = require('./money');\nexports.engine = require('./pricing/engine');\n",
        "lib/money.js": (
            "class Money {\n  plus(other) { return this }\n  cents() { return 0 }\n}\n"
            "function zero() { return new Money() }\nmodule.exports = { Money, zero };\n"
        ),
        "lib/tax/index.js": "exports.rate = function () { return 19 };\nexports.Tax = class Tax {};\n",
        "lib/pricing/engine.js": (
            "const { Money } = require('../money');\n\nfunction Engine() {}\n"
            "Engine.prototype.run = function (price) { return new Money().plus(price) };\nmodule.exports = Engine;\n"
        ),
        "app/checkout.js": (
            "const Engine = require('../lib/pricing/engine');\n\n"
            "exports.total = function () { return new Engine().run(1) };\n"
        ),
    },
    scope=("lib/pricing/", "docs/"),
    known={"Money": ["lib/money.js"], "Tax": ["lib/tax/"], "App": ["app/"]},
    good={
        "lib/pricing/policy.js": (
            "const { zero } = require('../money');\n\nclass Policy { guard(price) { return zero() } }\n"
            "exports.Policy = Policy;\n"
        ),
        "lib/pricing/engine.js": (
            "const { Policy } = require('./policy');\n\nfunction Engine() {}\n"
            "Engine.prototype.run = function (price) { return new Policy().guard(price) };\nmodule.exports = Engine;\n"
        ),
        "docs/policy.md": "# P\n",
    },
    met=(
        "Engine -> Policy", "Engine.run -> Policy.guard", "lib/pricing/engine.js -> lib/pricing/policy.js",
        "not Engine -> Money", "Policy -> zero", "add Policy", "add Policy.guard", "add lib.pricing.policy.Policy",
        "add lib/pricing/policy.js", "add docs/policy.md",
    ),
    same={"lib/pricing/engine.js": "// the same\n"},
    missed=("Engine -> Policy", "add Policy", "not Engine -> Money", "remove Engine.run", "Engine -> Money"),
    other="lib/pricing/other.js",
    uses=(
        "const { rate } = require('../tax');\nrate();",
        "const tax = require('../tax/index.js');\ntax.rate();",
        "require('../tax').rate();",
        "import { Tax } from '../tax/index.js';\nnew Tax();",
        "export async function later() { const { rate } = await import('../tax/index.js'); return rate() }",
        "export * from '../tax/index.js';",
    ),
    gone={"lib/pricing/engine.js": "function Engine() {}\nmodule.exports = Engine;\n"},
    users=("lib/pricing/engine.js::Engine.run", "app/checkout.js:3"),
)  # fmt: skip

TYPESCRIPT = Repository(
    base={
        "package.json": '{"name": "shop", "workspaces": ["packages/*"]}',
        "tsconfig.json": '{ // c\n  "compilerOptions": {"paths": {"~tax": ["./packages/tax/src/index.ts"],}}\n}\n',
        "docs/money.md": "# Money\n",
        "packages/money/package.json": '{"name": "@shop/money", "main": "dist/index.js", "types": "dist/index.d.ts"}',
        "packages/money/src/index.ts": "export * from './money.js';\n",
        "packages/money/src/money.ts": (
            "export class Money {\n  plus(other: Money): Money { return this }\n  cents(): number { return 0 }\n}\n"
        ),
        "packages/tax/package.json": '{"name": "@shop/tax", "exports": {".": "./dist/index.js", "./*": "./dist/*.js"}}',
        "packages/tax/src/index.ts": "export const rate = (): number => 19;\n",
        "packages/tax/src/table.ts": "export interface Table { rows: number[] }\nexport default class Book {}\n",
        "packages/pricing/package.json": '{"name": "@shop/pricing", "main": "dist/index.js"}',
        "packages/pricing/src/index.ts": (
            "import type { Money } from '@shop/money';\n\nexport class Engine {\n"
            "  run(money: Money): Money { return money.plus(money) }\n}\n"
        ),
        "app/checkout.ts": (
            "import { Engine } from '@shop/pricing';\nimport { Money } from '@shop/money';\n\n"
            "export class Checkout {\n  constructor(private readonly engine: Engine) {}\n"
            "  total(money: Money) { return this.engine.run(money).cents() }\n}\n"
        ),
    },
    scope=("packages/pricing/", "docs/"),
    known={"Money": ["packages/money/"], "Tax": ["packages/tax/"], "App": ["app/"]},
    good={
        "packages/pricing/src/policy.ts": (
            "import { Money } from '@shop/money'\n\n"
            "export interface Policy { limit: Money; guard(money: Money): boolean }\n"
        ),
        "packages/pricing/src/index.ts": (
            "import type { Policy } from './policy'\n\nexport class Engine {\n"
            "  private policy: Policy\n  run(money: number) { return this.policy.guard(this.policy.limit) }\n}\n"
        ),
        "docs/policy.md": "# P\n",
    },
    met=(
        "Engine -> Policy", "Engine.run -> Policy.guard", "Engine.run -> Policy.limit",
        "packages/pricing/src/index.ts -> packages/pricing/src/policy.ts", "Policy -> Money", "add Policy",
        "add Policy.guard", "add Policy.limit", "add Engine.policy", "add pricing.src.policy.Policy",
        "not Engine -> Money", "add packages/pricing/src/policy.ts", "add docs/policy.md",
    ),
    same={"packages/pricing/src/index.ts": "// the same\n"},
    missed=("Engine -> Policy", "add Policy", "not Engine -> Money", "remove Engine.run", "Engine.run -> Money.plus"),
    other="packages/pricing/src/other.ts",
    uses=(
        "import { rate } from '@shop/tax';\nexport const now = rate();",
        "import { rate } from '~tax';\nexport const now = rate();",
        "import * as tax from '../../tax/src/index.js';\nexport const now = tax.rate();",
        "import type { Table } from '@shop/tax/table';\nexport class Other implements Table { rows = [] }",
        "import Book from '@shop/tax/table';\nexport class Other extends Book {}",
        "import tax = require('@shop/tax');\nexport const now = tax.rate();",
        "export { rate as now } from '@shop/tax';",
    ),
    gone={"packages/pricing/src/index.ts": "export class Engine {}\n"},
    users=("packages/pricing/src/index.ts::Engine.run", "app/checkout.ts:6"),
)  # fmt: skip

TSX = Repository(
    base={
        "tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}',
        "docs/money.md": "# Money\n",
        "src/money/Price.tsx": "export function Price(props: { cents: number }) { return <b>{props.cents}</b> }\n",
        "src/tax/index.tsx": (
            "import { memo } from 'react'\nexport const Rate = memo(() => <i>19</i>)\nexport const useTax = () => 19\n"
            "export const Tax = { Line: () => <Rate /> }\n"
        ),
        "src/pricing/Engine.tsx": (
            "import { Price } from 'money/Price'\n\nexport const Engine = () => <Price cents={1} />\n"
            "export type Options = { wide: boolean }\n"
        ),
        "src/App.tsx": (
            "import { Engine, type Options } from './pricing/Engine'\n\nexport default function App() {\n"
            "  const options: Options = { wide: true }\n  return <main><Engine {...options} /></main>\n}\n"
        ),
    },
    scope=("src/pricing/", "docs/"),
    known={"Money": ["src/money/"], "Tax": ["src/tax/"], "App": ["src/App.tsx"]},
    good={
        "src/pricing/Policy.tsx": (
            "import { forwardRef } from 'react'\nimport { Price } from 'money/Price'\n\n"
            "export const Policy = forwardRef((props, ref) => <Price cents={2} />)\n"
            "export function usePolicy() { return { guard: () => true } }\n"
        ),
        "src/pricing/Engine.tsx": (
            "import { Policy, usePolicy } from './Policy'\n\n"
            "export const Engine = () => { usePolicy(); return <Policy>{1}</Policy> }\n"
            "export type Options = { wide: boolean }\n"
        ),
        "docs/policy.md": "# P\n",
    },
    met=(
        "Engine -> Policy", "Engine -> usePolicy", "src/pricing/Engine.tsx -> src/pricing/Policy.tsx",
        "Policy -> Price", "add Policy", "add pricing.Policy.usePolicy", "not Engine -> Price",
        "add src/pricing/Policy.tsx", "add docs/policy.md",
    ),
    same={"src/pricing/Engine.tsx": "// the same\n"},
    missed=("Engine -> Policy", "add usePolicy", "not Engine -> Price", "remove Options", "App -> Engine"),
    other="src/pricing/Other.tsx",
    uses=(
        "import { Rate } from 'tax'\nexport const Other = () => <Rate />",
        "import { Tax } from '../tax'\nexport const Other = () => <Tax.Line />",
        "import { useTax as use } from '../tax/index'\nexport function Other() { return <p>{use()}</p> }",
        "import { lazy } from 'react'\nexport const Other = lazy(() => import('../tax'))",
    ),
    gone={"src/pricing/Engine.tsx": "export const Engine = () => null\n"},
    users=("src/pricing/Engine.tsx::Options", "src/App.tsx:1", "src/App.tsx:4"),
)  # fmt: skip

REPOSITORIES = {"javascript": JAVASCRIPT, "typescript": TYPESCRIPT, "tsx": TSX}


@pytest.fixture(params=REPOSITORIES)
def repository(request: pytest.FixtureRequest) -> Repository:
    return REPOSITORIES[request.param]


def _change(report: Report, repository: Repository) -> Report:
    return partial(report, repository.base, scope=repository.scope, uses=("Money",), known=repository.known)


def test_met(report: Report, repository: Repository) -> None:
    found = _change(report, repository)(repository.good, *repository.met)
    lines = [(line, True, "") for line in repository.met]
    assert [(each.text, each.met, each.reason) for each in found.expected] == lines
    assert found.undeclared == ()
    assert all(each.evidence for each in found.expected)


def test_missed(report: Report, repository: Repository) -> None:
    same = {path: repository.base[path] + more for path, more in repository.same.items()}
    found = _change(report, repository)(same, *repository.missed).expected
    assert [each.text for each in found if each.met] == []


@pytest.mark.parametrize(("name", "use"), [(name, use) for name in REPOSITORIES for use in REPOSITORIES[name].uses])
def test_exceeded(report: Report, name: str, use: str) -> None:
    repository = REPOSITORIES[name]
    found = _change(report, repository)({repository.other: f"{use}\n"})
    assert [(each.target_module, each.path) for each in found.undeclared] == [("Tax", repository.other)]


def test_removed_surface_names_its_users(report: Report, repository: Repository) -> None:
    symbol, *users = repository.users
    used = {each.symbol: each.users for each in _change(report, repository)(repository.gone).surface_in_use}
    assert used[symbol] == tuple(users)
