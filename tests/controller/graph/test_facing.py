"""The three-way table: which rows there are, what their columns say, where they point to."""

from collections.abc import Callable

import pytest

from packets.deltas import GraphDelta
from packets.graph import GraphReport

Between = Callable[..., GraphReport]

BASE = {
    "app/__init__.py": "",
    "app/money.py": "class Money:\n    def add(self): pass\n\ndef cents(): pass\n",
    "app/engine.py": "from app.money import Money\n\nclass Engine:\n    def run(self): Money().add()\n",
    "app/tax.py": "def tax(): pass\n",
    "tests/test_engine.py": "from app.engine import Engine\n\ndef test_run(): Engine().run()\n",
}
POLICY = "class Policy:\n    def guard(self): pass\n    def open(self): pass\n"
HEAD = {
    "app/policy.py": POLICY,
    "app/engine.py": "from app.money import Money\nfrom app.policy import Policy\n\nclass Engine:\n"
    "    def run(self):\n        Money().add()\n        Policy().guard()\n",
}
EDGE, FILE_EDGE = "Engine -> Policy", "app/engine.py -> app/policy.py"
NEWS = [("add app/policy.py", "unannounced"), (FILE_EDGE, "unannounced")]


def rows(report: GraphReport) -> list[tuple[str, str]]:
    return [(each.fact, str(each.state)) for each in report.facts]


def columns(report: GraphReport) -> list[tuple[str, bool, bool, bool | None]]:
    return [(each.fact, each.expected, each.claimed, each.actual) for each in report.facts]


def test_what_nobody_said_stands_out_at_the_level_at_which_it_is_news(between: Between) -> None:
    report = between(BASE, HEAD)
    assert rows(report) == NEWS
    policy, edge = report.facts
    assert (policy.count, policy.at) == (4, "app/policy.py:1")
    assert (edge.at, edge.count) == ("app/engine.py:2", 4)
    assert report.facts_left == 0


def test_a_line_of_the_plan_is_a_row_and_covers_what_it_means(between: Between) -> None:
    report = between(BASE, HEAD, EDGE, "add Policy", "Engine -> tax")
    assert columns(report) == [
        (EDGE, True, False, True), ("add Policy", True, False, True), ("Engine -> tax", True, False, False),
    ]  # fmt: skip
    met, _, missing = report.facts
    assert (met.at, missing.note) == ("app/engine.py:7", "nothing inside Engine uses anything inside tax")
    assert [str(each.state) for each in report.facts] == ["as_expected", "as_expected", "missing"]


@pytest.mark.parametrize(
    "claim",
    [EDGE, "app.engine.Engine -> app.policy.Policy", "app/engine.py::Engine.run -> app/policy.py::Policy.guard"],
)
def test_a_claim_that_says_the_same_is_in_the_same_row(between: Between, claim: str) -> None:
    report = between(BASE, HEAD, EDGE, "add app/policy.py", claimed=GraphDelta(edges_added=(claim,)))
    assert columns(report) == [(EDGE, True, True, True), ("add app/policy.py", True, False, True)]


def test_a_claim_that_says_more_has_a_row_of_its_own(between: Between) -> None:
    claim = GraphDelta(edges_added=(FILE_EDGE,), nodes_added=("app/policy.py",))
    report = between(BASE, HEAD, EDGE, claimed=claim)
    assert columns(report) == [
        (EDGE, True, True, True), ("add app/policy.py", False, True, True), (FILE_EDGE, False, True, True),
    ]  # fmt: skip
    assert [str(each.state) for each in report.facts] == ["as_expected", "claimed", "claimed"]


def test_what_is_claimed_and_not_so(between: Between) -> None:
    claim = GraphDelta(edges_added=("Engine -> tax", "Engine -> tax"), nodes_removed=("Money",), nodes_added=("Polcy",))
    report = between(BASE, HEAD, "Engine -> tax", claimed=claim)
    first, *others = report.facts
    assert (first.fact, str(first.state), first.claimed) == ("Engine -> tax", "missing", True)
    assert [(each.fact, str(each.state)) for each in others] == [
        ("add Polcy", "untrue"),
        ("remove Money", "untrue"),
        *NEWS,
    ]
    assert others[0].note == "no name Polcy in the result; did you mean Policy (app/policy.py:1)?"
    assert others[1].note == "it is still there"


def test_a_rename_is_one_row_unless_both_sides_are_said(between: Between) -> None:
    head = {"app/money.py": None, "app/cash.py": BASE["app/money.py"], "app/engine.py": ""}
    report = between(BASE, head)
    assert rows(report)[0] == ("app/money.py is now app/cash.py", "unannounced")
    assert report.facts[0].note == "the same"
    said = between(BASE, head, "remove app/money.py", "add app/cash.py", "remove Engine")
    assert rows(said)[:3] == [
        ("remove app/money.py", "as_expected"), ("add app/cash.py", "as_expected"), ("remove Engine", "as_expected"),
    ]  # fmt: skip
    assert not any("is now" in fact for fact, _ in rows(said))


def test_dependencies_that_follow_a_rename_are_no_news(between: Between) -> None:
    head = {
        "app/money.py": None,
        "app/cash.py": BASE["app/money.py"],
        "app/engine.py": BASE["app/engine.py"].replace("app.money", "app.cash"),
    }
    assert rows(between(BASE, head)) == [("app/money.py is now app/cash.py", "unannounced")]


def test_what_is_finer_is_counted_and_not_shown(between: Between) -> None:
    more = BASE["app/engine.py"] + "    def stop(self):\n        Money().add()\n        self.run()\n"
    assert rows(between(BASE, {"app/engine.py": more})) == [("add app/engine.py::Engine.stop", "unannounced")]
    other = BASE["app/engine.py"].replace("import Money", "import Money, cents").replace("add()", "add(); cents()")
    assert rows(between(BASE, {"app/engine.py": other})) == [
        ("app/engine.py::Engine -> app/money.py::cents", "unannounced")
    ]


def test_what_goes_and_what_the_language_brings(between: Between) -> None:
    report = between(
        BASE, {"app/engine.py": "import os\nimport requests\n\nclass Engine:\n    def run(self): os.sep\n"}
    )
    assert rows(report) == [
        ("app/engine.py -> requests", "unannounced"), ("not app/engine.py -> app/money.py", "unannounced"),
    ]  # fmt: skip
    assert rows(between(BASE, {"app/engine.py": None, "tests/test_engine.py": None})) == [
        ("remove app/engine.py", "unannounced"), ("remove tests/test_engine.py", "unannounced"),
    ]  # fmt: skip


def test_a_new_folder_is_one_row(between: Between) -> None:
    report = between(BASE, {"lib/a/x.py": "", "lib/b.py": "", "lib/c.md": "", "docs/only.md": ""})
    assert [(each.fact, each.count) for each in report.facts] == [("add docs/only.md", 1), ("add lib/", 3)]


def test_a_table_too_long_says_what_is_left(between: Between) -> None:
    many = {f"app/m{n}.py": f"def f{n}(): pass\n" for n in range(450)}
    report = between(BASE, many)
    assert (len(report.facts), report.facts_left) == (400, 50)


def test_words_of_a_worker_are_harmless(between: Between) -> None:
    evil = "A\x1b[31m\u202e -> B"
    report = between(BASE, {}, claimed=GraphDelta(edges_added=(evil,)))
    assert report.facts[0].fact == "A\\x1b[31m\\u202e -> B"
    assert not {"\x1b", "\u202e"} & set(report.facts[0].note)
