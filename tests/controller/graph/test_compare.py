"""One module between two real trees: expected, claimed, undeclared, removed surface."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import Base, ExecutionPacket
from packets.plan import Plan

BASE: dict[str, str] = {
    "app/__init__.py": "",
    "app/money.py": "class Money:\n    def add(self): pass\ndef cents(): pass\nRATE = 1\n_private = 2\n",
    "app/tax.py": "def tax(): pass\n",
    "app/engine.py": "from app.money import Money\nclass Engine:\n    def run(self, m: Money): m.add()\n",
    "app/checkout.py": "from app.engine import Engine\nfrom app.money import cents\ndef total(): Engine().run(1)\n",
    "lib/free.py": "def free(): pass\n",
}
MAP = {"Pricing/Money": ["app/money.py"], "Pricing/Tax": ["app/tax.py"]}
ENGINE = {
    "id": "Pricing/Engine",
    "write_scope": ["app/engine.py", "app/policy.py"],
    "depends_on": ["Pricing/Money"],
}
NO_CLAIM = GraphDelta()
Compare = Callable[..., GraphReport]


def packet_of(plan: Plan, module_id: str, tree: str) -> ExecutionPacket:
    from controller.compose import AgentChoice, PacketDeltas

    module = plan.module(module_id)
    return ExecutionPacket(
        run_id="r", phase="p", wave=1, attempt=1, base=Base(commit="c", tree=tree), plan_digest="d",
        module_id=module.id, purpose=module.purpose, write_scope=module.write_scope,
        expected_deltas=PacketDeltas(graph=module.expected_deltas.graph),
        agent=AgentChoice(name="a", spec=plan.agents["a"]),
    )  # fmt: skip


@pytest.fixture
def compare(repo: Any, plan: Callable[..., Plan]) -> Compare:
    def made(
        head: Mapping[str, str | None],
        *expected: str,
        base: Mapping[str, str] = BASE,
        module: Mapping[str, Any] = ENGINE,
        others: tuple[Mapping[str, Any], ...] = (),
        claimed: GraphDelta = NO_CLAIM,
    ) -> GraphReport:
        entry = {**module, "expected_deltas": {"graph": list(expected)}}
        whole = plan([*others, entry], MAP)
        base_tree = repo.tree(base)
        head_tree = repo.tree({path: text for path, text in {**base, **head}.items() if text is not None})
        packet = packet_of(whole, entry["id"], base_tree)
        report: GraphReport = repo.knowledge.compare(whole, packet, base_tree, head_tree, claimed)
        return report

    return made


TWINS = "app/engine.py::twice (line 4), app/tax.py::twice (line 1)"
POLICY = "class Policy:\n    def guard(self): pass\n"
WITH_POLICY = (
    "from app.money import Money\nfrom app.policy import Policy\n"
    "class Engine:\n    def run(self, m: Money):\n        m.add()\n        Policy().guard()\n"
)


@pytest.mark.parametrize(
    "line",
    [
        "Engine -> Policy", "app/engine.py -> app/policy.py", "app.engine.Engine.run -> app.policy",
        "Engine.run -> Policy.guard", "Pricing/Engine -> Policy", "add Policy", "add app/policy.py",
        "add Policy.guard", "add app.policy.Policy",
    ],
)  # fmt: skip
def test_expected_and_there(compare: Compare, line: str) -> None:
    (found,) = compare({"app/policy.py": POLICY, "app/engine.py": WITH_POLICY}, line).expected
    assert (found.text, found.met) == (line, True)
    assert found.evidence
    assert found.evidence[0].startswith(("app/engine.py:", "app/policy.py:"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Engine -> Ghost", "no name Ghost in the result"),
        ("Engine -> tax", "nothing inside Engine uses anything inside tax"),
        ("Engine -> Money", "the base has this dependency already: nothing was added"),
        ("Engine -> Pricing/Money", "the base has this dependency already: nothing was added"),
        ("not Engine -> Money", "the dependency is still there"),
        ("not Engine -> tax", "the base has no such dependency: nothing was removed"),
        ("not Engine -> Nowhere", "no name Nowhere in the base"),
        ("add Money", "it is on the base already: nothing was added"),
        ("add Nowhere", "no name Nowhere in the result"),
        ("remove Money", "it is still there"),
        ("remove Nowhere", "no name Nowhere in the base"),
        ("nonsense", "cannot read 'nonsense': write `A -> B`, `not A -> B`, `add A` or `remove A`"),
    ],
)
def test_expected_and_not_there(compare: Compare, line: str, reason: str) -> None:
    (found,) = compare({}, line).expected
    assert (found.met, found.reason) == (False, reason)


def test_removed_as_expected(compare: Compare) -> None:
    head = {"app/engine.py": "class Engine:\n    def walk(self): pass\n"}
    lines = ["not Engine -> Money", "remove Engine.run", "not app/engine.py -> app/money.py", "add Engine.walk"]
    report = compare(head, *lines)
    assert [(found.text, found.met) for found in report.expected] == [(line, True) for line in lines]
    assert report.expected[0].evidence[0].startswith("app/engine.py:3 ")


def test_an_import_alone_is_no_use_by_the_class(compare: Compare) -> None:
    head = {"app/policy.py": POLICY, "app/engine.py": f"from app.policy import Policy\n{BASE['app/engine.py']}"}
    by_class, by_file = compare(head, "Engine -> Policy", "app/engine.py -> Policy").expected
    assert (by_class.met, by_file.met) == (False, True)


def test_a_call_by_name_counts_only_with_the_import(compare: Compare) -> None:
    call = "class Engine:\n    def run(self, p): p.guard()\n"
    (found,) = compare({"app/policy.py": POLICY, "app/engine.py": call}, "Engine -> Policy").expected
    assert (found.met, found.reason) == (False, "only a call by this name was found, with no import")
    head = {"app/policy.py": POLICY, "app/engine.py": f"from app.policy import Policy\n{call}"}
    (found,) = compare(head, "Engine -> Policy").expected
    assert (found.met, found.reason) == (True, "the file imports it, and a call matches by name")


def test_a_name_that_was_unique_stays_so_and_the_module_s_own_wins(compare: Compare) -> None:
    twins = {"app/policy.py": POLICY, "app/engine.py": WITH_POLICY, "tests/fakes.py": f"{POLICY}class Engine: pass\n"}
    (found,) = compare(twins, "Engine -> Policy").expected
    assert found.met
    both = {"app/policy.py": POLICY, "app/engine.py": WITH_POLICY + POLICY}
    (found,) = compare(both, "Engine -> Policy").expected
    assert not found.met
    both = "app/engine.py::Policy (line 7), app/policy.py::Policy (line 1)"
    assert found.reason == f"Policy is ambiguous: {both}; write one of them, or a dotted name"


@pytest.mark.parametrize(
    ("claimed", "met"),
    [
        (GraphDelta(nodes_added=("app/policy.py::Policy",)), True),
        (GraphDelta(nodes_added=("Policy",)), True),
        (GraphDelta(edges_added=("Engine -> Policy",)), True),
        (GraphDelta(edges_added=("app/engine.py -> app/policy.py",)), True),
        (GraphDelta(nodes_added=("app/ghost.py",)), False),
        (GraphDelta(nodes_added=("Money",)), False),
        (GraphDelta(nodes_removed=("Money",)), False),
        (GraphDelta(edges_added=("Engine -> tax",)), False),
        (GraphDelta(edges_added=("Engine -> Money",)), False),
        (GraphDelta(edges_added=("no arrow",)), False),
        (GraphDelta(edges_removed=("Engine -> Money",)), False),
        (GraphDelta(nodes_added=("",)), False),
        (GraphDelta(nodes_added=("../../etc\0\n> -> x",)), False),
    ],
)
def test_claims_are_held_against_the_trees(compare: Compare, claimed: GraphDelta, met: bool) -> None:  # noqa: FBT001
    report = compare({"app/policy.py": POLICY, "app/engine.py": WITH_POLICY}, claimed=claimed)
    assert [found.met for found in report.claimed] == [met]


def test_actual_is_sorted_and_says_all(compare: Compare) -> None:
    actual = compare({"app/policy.py": POLICY, "app/engine.py": WITH_POLICY}).actual
    assert actual.nodes_added == ("app/policy.py", "app/policy.py::Policy", "app/policy.py::Policy.guard")
    assert "app/engine.py::Engine.run -> app/policy.py::Policy.guard" in actual.edges_added
    assert actual.edges_added == tuple(sorted(actual.edges_added))


TAX = "from app.tax import tax\n"


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ({"app/engine.py": f"{TAX}{BASE['app/engine.py']}"}, "app/engine.py:1"),
        ({"app/engine.py": f"{BASE['app/engine.py']}        import app.tax\n"}, "app/engine.py:4"),
        ({"app/policy.py": f"\n\n{TAX}"}, "app/policy.py:3"),
        ({"app/policy.py": "from app import tax\n"}, "app/policy.py:1"),
        ({"app/policy.py": "from . import tax\n"}, "app/policy.py:1"),
        ({"app/policy.py": "from app.tax import *\n"}, "app/policy.py:1"),
        ({"app/policy.py": "from app.tax import nothing_there\n"}, "app/policy.py:1"),
    ],
)
def test_undeclared_dependencies_are_named(compare: Compare, head: dict[str, str], place: str) -> None:
    (use,) = compare(head).undeclared
    assert (use.target_module, f"{use.path}:{use.line}") == ("Pricing/Tax", place)


@pytest.mark.parametrize(
    "head",
    [
        {"app/policy.py": "from app.money import Money\n"},  # declared
        {"app/policy.py": "from lib.free import free\n"},  # in nobody's scope
        {"app/policy.py": "from app.engine import Engine\n"},  # its own
        {"app/policy.py": "import requests\n"},
        {"app/policy.py": "def f(x): x.tax()\n"},  # by name alone
        {"app/policy.py": "def f(tax): tax.tax()\n"},
        {"app/checkout.py": TAX},  # somebody else's file is the scope gate's business
    ],
)
def test_what_needs_no_declaration(compare: Compare, head: dict[str, str]) -> None:
    assert compare(head).undeclared == ()


def test_what_the_base_had_is_not_new(compare: Compare) -> None:
    old = {**BASE, "app/engine.py": f"{TAX}class Engine: pass\n"}
    assert compare({"app/engine.py": f"{TAX}class Engine:\n    def f(self): tax()\n"}, base=old).undeclared == ()
    (use,) = compare({"app/policy.py": TAX}, base=old).undeclared
    assert use.path == "app/policy.py", "another file of the module is a new place"


def test_a_facade_is_what_must_be_declared(compare: Compare) -> None:
    facade = {**BASE, "app/facade.py": TAX}
    use = {"app/policy.py": "from app.facade import tax\n"}
    (free,) = compare(use, base=facade).undeclared
    assert free.target_module == "Pricing/Tax", "a file of nobody hides no module"
    other = {"id": "Facade", "write_scope": ["app/facade.py"], "depends_on": ["Pricing/Tax"]}
    (owned,) = compare(use, base=facade, others=(other,)).undeclared
    assert owned.target_module == "Facade"
    declared = {**ENGINE, "depends_on": ["Pricing/Money", "Facade"]}
    assert compare(use, base=facade, others=(other,), module=declared).undeclared == ()


MONEY = {"id": "Money2", "write_scope": ["app/money.py", "app/money/"]}
REST = "class Money:\n    def add(self): pass\ndef cents(): pass\n"


@pytest.mark.parametrize(
    ("head", "gone"),
    [
        (
            {"app/money.py": "class Money:\n    def add(self): pass\nRATE = 1\n"},
            {"app/money.py::cents": ("app/checkout.py:2",)},
        ),
        ({"app/money.py": "class Money: pass\ndef cents(): pass\n"}, {"app/money.py::Money.add": ("app/engine.py:3",)}),
        (
            {"app/money.py": "def cents(): pass\n"},
            {
                "app/money.py::Money": ("app/engine.py:1", "app/engine.py:3"),
                "app/money.py::Money.add": ("app/engine.py:3",),
            },
        ),
        ({"app/money.py": REST}, {}),  # RATE went, nobody uses it
        ({"app/money.py": f"{REST}RATE = 1\n"}, {}),  # _private went
        ({"app/money.py": None, "app/money/__init__.py": REST}, {}),  # moved, and found where it was
        ({"app/money.py": "from app.tax import tax as cents\nclass Money:\n    def add(self): pass\n"}, {}),
        ({"app/money.py": "from app.tax import *\nclass Money:\n    def add(self): pass\ncents = 1\n"}, {}),
        ({"app/money.py": "class Base:\n    def add(self): pass\nclass Money(Base): pass\ndef cents(): pass\n"}, {}),
    ],
)  # fmt: skip
def test_surface_that_somebody_uses_may_not_go(
    compare: Compare, head: dict[str, str | None], gone: dict[str, tuple[str, ...]]
) -> None:
    report = compare(head, module=MONEY)
    assert {use.symbol: use.users for use in report.surface_in_use} == gone


def test_a_file_that_goes_is_surface(compare: Compare) -> None:
    gone = {use.symbol: use.users for use in compare({"app/money.py": None}, module=MONEY).surface_in_use}
    assert gone["app/money.py"] == ("app/checkout.py:2", "app/engine.py:1")
    assert gone["app/money.py::cents"] == ("app/checkout.py:2",)


def test_a_user_that_came_at_the_same_time_counts(compare: Compare) -> None:
    """Two modules side by side: one renames, the other one starts to use the old name."""
    head = {"app/money.py": REST.replace("cents", "pence"), "app/tax.py": "import app.money as m\n\nm.cents()\n"}
    (use,) = compare(head, module=MONEY, base={**BASE, "app/checkout.py": ""}).surface_in_use
    assert (use.symbol, use.users) == ("app/money.py::cents", ("app/tax.py:3",))


def test_notes_name_guesses_and_syntax_errors(compare: Compare) -> None:
    base = {**BASE, "app/tax.py": "class T:\n    def levy(self): pass\n"}
    report = compare({"app/policy.py": "def f(x):\n    x.levy()\n\ndef (:\n"}, base=base)
    assert report.notes == (
        "app/policy.py:4: syntax error; the graph holds what can be read of this file",
        "app/policy.py:2: a call that may be app/tax.py::T.levy of Pricing/Tax (matched by name alone)",
    )
    assert report.undeclared == ()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Engine -> Policy", ""),
        ("Engine -> Policy.guard", ""),
        ("Engine -> app/policy.py", ""),
        ("Engine -> app.policy.Policy", ""),
        ("add Engine.walk", ""),
        ("add app/earlier.py", ""),
        ("Engine -> Early", ""),
        ("Engine -> First/Early", ""),
        ("Engine -> app/gone.py", "no path app/gone.py"),
        ("Engine -> app.gone.Thing", "no dotted name app.gone.Thing"),
        ("add Money.subtract", "no dotted name Money.subtract"),
        ("Engine -> Last/Late", "the module Last/Late has no file"),
        (
            "Engine -> twice",
            f"twice is ambiguous: {TWINS}; write one of them, or a dotted name",
        ),
        ("not readable", ""),
    ],
)
def test_names_are_checked_before_anything_runs(repo: Any, plan: Callable[..., Plan], line: str, problem: str) -> None:
    files = {
        **BASE,
        "app/engine.py": BASE["app/engine.py"] + "def twice(): pass\n",
        "app/tax.py": "def twice(): pass\n",
    }
    whole = plan(
        [
            {"id": "First/Early", "write_scope": ["app/earlier.py"]},
            {**ENGINE, "depends_on": ["First/Early"], "expected_deltas": {"graph": ["add Policy", line]}},
            {"id": "Last/Late", "write_scope": ["app/late.py"], "depends_on": ["Pricing/Engine"]},
        ],
        MAP,
    )
    found = repo.knowledge.name_problems(repo.tree(files), whole)
    assert [each[:2] for each in found] == ([("Pricing/Engine", 1)] if problem else [])
    assert not problem or found[0].message.startswith(problem)
    assert all(each.severity == "error" for each in found)
