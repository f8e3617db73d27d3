"""Tests that are detached from what they test, without a change of the tests themselves."""

import pytest

from reviewer.compare import compare_tests
from reviewer.shadowing import shadows

BASE = """import os
from app.m import f


def test_f():
    assert f(1) == 2


def test_g(tmp_path):
    x = 1
    assert f(x)
"""


def found(after, before=BASE, unchanged=("test_f", "test_g")):
    return {each.name: each.how for each in shadows(before.encode(), after.encode(), unchanged)}


@pytest.mark.parametrize(
    ("after", "name"),
    [
        (BASE.replace("from app.m import f", "def f(x):\n    return x + 1"), "f"),
        (BASE + "\n\nf = lambda x: x + 1\n", "f"),
        (BASE + "\n\nclass f:\n    pass\n", "f"),
        (BASE + "\n\nif True:\n    def f(x): ...\n", "f"),
        (BASE + "\n\nf, y = 1, 2\n", "f"),
        (BASE + "\n\n@pytest.fixture(autouse=True)\ndef calm(monkeypatch): ...\n", "calm"),
        (BASE + "\n\ndef setup_function(): ...\n", "setup_function"),
        (BASE + "\n\n@pytest.fixture\ndef tmp_path(): ...\n", "tmp_path"),
    ],
)
def test_what_takes_the_place_of_the_subject_is_named(after, name):
    assert found(after)[name]


@pytest.mark.parametrize(
    "after",
    [
        BASE,
        BASE.replace("import os\n", "import os\nimport sys\n"),
        BASE + "\n\nx = 5\n",  # a test's own x is another one
        BASE + "\n\ndef helper(): ...\n\n\ndef test_h():\n    assert helper()\n",
        BASE + "\n\nclass TestMore:\n    def setup_other(self): ...\n    def f(self): ...\n",
        BASE + "\n\n@pytest.fixture\ndef other(): ...\n",
        BASE.replace("from app.m import f", "from app.m import (\n    f,\n    g,\n)"),
    ],
)
def test_what_leaves_the_tests_alone_is_nothing(after):
    assert found(after) == {}


def test_another_home_of_what_is_imported_is_told_without_a_verdict():
    assert found(BASE.replace("app.m", "app.n")) == {"f": ""}


def test_a_test_that_changed_itself_is_judged_elsewhere():
    assert found(BASE + "\n\nf = 1\n", unchanged=()) == {}


def test_the_comparison_of_tests_says_so():
    blobs = {"a": BASE.encode(), "b": (BASE + "\n\nf = lambda x: 2\n").encode()}
    diff = compare_tests({"tests/test_m.py": "a"}, {"tests/test_m.py": "b"}, lambda ids: [(i, blobs[i]) for i in ids])
    assert [(each.name, bool(each.weakened)) for each in diff.support] == [("f", True)]
    assert diff.altered == []


def test_saying_what_a_test_returns_changes_nothing():
    blobs = {"a": BASE.encode(), "b": BASE.replace("def test_f():", "def test_f() -> None:").encode()}
    diff = compare_tests({"tests/test_m.py": "a"}, {"tests/test_m.py": "b"}, lambda ids: [(i, blobs[i]) for i in ids])
    assert (diff.altered, diff.support) == ([], [])
