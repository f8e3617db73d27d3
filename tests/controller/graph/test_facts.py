import time

import pytest

from controller.graph.facts import NOTHING, pack, unpack
from controller.graph.language import KINDS, MAX_BLOB, facts, kind_of

SOURCE = b"import a.b as c\nfrom .d import *\n__all__ = ['f']\ndef f(x: c.T): x.go(); c.h()\nclass K(c.B): pass\n"


def test_facts_survive_being_written() -> None:
    found = facts("python", SOURCE)
    assert found.references
    assert found.exports == ("f",)
    assert unpack(*pack(found)) == found
    assert unpack(*pack(NOTHING)) == NOTHING


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1,2,3,4,5]", "null", '[[["a"]],[],[],null,0]', "[[],[],[],null]"])
def test_what_was_not_written_by_us_is_refused(text: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        unpack(text)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.py", "python"),
        ("a/b.pyi", "python"),
        ("a.pyc", "file"),
        (".py", "file"),
        ("x.py/README", "file"),
        ("py", "file"),
    ],
)
def test_kinds(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_other_files_and_giants_stay_at_file_level() -> None:
    assert facts("file", SOURCE) is NOTHING
    assert facts("python", SOURCE + b"#" * MAX_BLOB) is NOTHING


@pytest.mark.parametrize("kind", sorted(kind.name for kind in KINDS))
def test_bracket_in_bracket_without_end_is_no_source(kind):
    before = time.process_time()
    for hostile in (b"class A { void f() { " + b".x(.x(" * 10_000, b"a.x(b.x(" * 8_000, b"[" * 60_000 + b"]" * 60_000):
        facts(kind, hostile)
    assert time.process_time() - before < 5  # minutes, where a grammar tries to make something of it


def test_brackets_that_close_again_are_read():
    assert facts("java", b"class A { void f() { x(); } }" * 2000).definitions
