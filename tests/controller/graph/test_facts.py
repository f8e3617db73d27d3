import pytest

from controller.graph.facts import NOTHING, pack, unpack
from controller.graph.language import MAX_BLOB, facts, kind_of

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
