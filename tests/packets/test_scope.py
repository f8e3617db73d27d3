"""Scopes against an oracle of another make: regular expressions, and every path of a small world."""

import re
import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packets.forbidden import path_fault
from packets.scope import MAX_ENTRY, Scope, escape, parse_entry

NAMES = ["a", "b", "ab", "ba", "x", ".git", ".gita", ".grace"]
WORLD = [
    "/".join(names) for depth in (1, 2, 3, 4) for names in product(NAMES if depth < 4 else NAMES[:3], repeat=depth)
]

parts = st.sampled_from(
    ["a", "b", "ab", "*", "?", "a*", "*b", "?b", "*a*", ".*", ".gi?", ".git*", "*.git", "**", ".g*"]
)
entries = st.builds(
    lambda names, slash: "/".join(names) + slash,
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)


def oracle(entry):
    """Translate to a regular expression, with nothing of ours but the grammar."""
    folder = entry.endswith("/")
    names = entry.rstrip("/").split("/")
    if folder or names[-1] == "**":
        names = [*names[: len(names) - (names[-1] == "**")], "**", "*"]
    pattern = ""
    for i, name in enumerate(names):
        last = i == len(names) - 1
        if name == "**":
            pattern += "(?:[^/]+/)*"
        else:
            pattern += "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in name) + "/" * (
                not last
            )
    return re.compile(pattern, re.DOTALL)


def parsed(*texts):
    try:
        return Scope.parse(texts)
    except ValueError:
        return None


@settings(max_examples=80, deadline=None)
@given(entries)
def test_matches_as_the_oracle_does(entry):
    scope, wanted = parsed(entry), oracle(entry)
    for path in WORLD:
        expected = bool(wanted.fullmatch(path)) and path_fault(path) is None
        assert (scope is not None and scope.matches(path)) == expected, path


@settings(max_examples=250, deadline=None)
@given(entries, entries)
def test_overlap_is_exact(one, other):
    a, b = parsed(one), parsed(other)
    if a is None or b is None:
        return
    witness = a.overlaps(b)
    assert (witness is None) == (b.overlaps(a) is None)
    if witness is None:
        assert not [path for path in WORLD if a.matches(path) and b.matches(path)]
    elif not (a.matches(witness) and b.matches(witness)):  # then it is a file here and a folder there
        assert (a.names(witness), b.names(witness)).count(True) == 1
        assert path_fault(witness) is None


@settings(max_examples=80, deadline=None)
@given(entries)
def test_every_scope_overlaps_itself(entry):
    scope = parsed(entry)
    if scope is None:
        assert not [path for path in WORLD if oracle(entry).fullmatch(path) and path_fault(path) is None]
    else:
        assert scope.matches(scope.overlaps(scope))


@settings(max_examples=60, deadline=None)
@given(entries)
def test_all_that_matches_lies_in_a_writable_folder(entry):
    scope = parsed(entry)
    if scope is None:
        return
    folders = scope.write_folders()
    for path in filter(scope.matches, WORLD):
        home = path.rpartition("/")[0]
        assert any(
            home == folder or (deep and (folder == "" or home.startswith(f"{folder}/"))) for folder, deep in folders
        ), path


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ("x", "x/y", "x"),
        ("x/y", "x", "x"),
        ("x", "x/", "x"),
        ("x", "x/*.py", "x"),
        ("x", "**/y", None),
        ("src/*", "src/a/", None),
        ("README.md", "docs/README.md", None),
        ("*.", ".*", ".x."),
        (".git*", ".gi*t", ".gitt"),
        ("**/.grace/x", "*/.grace/*", "x/.grace/x"),
        ("app/[id].tsx", "app/i.tsx", None),
        ("app/[id].tsx", "app/*.tsx", "app/[id].tsx"),
        (r"a\*b", "a*b", "a*b"),
        (r"a\*b", "axb", None),
        ("a/**/b", "a/b", "a/b"),
        ("a/**", "a", "a"),
    ],
)
def test_overlaps_by_hand(one, other, path):
    assert Scope.parse([one]).overlaps(Scope.parse([other])) == path


@pytest.mark.parametrize(
    ("entry", "path", "expected"),
    [
        ("app/[id].tsx", "app/[id].tsx", True),
        ("app/[id].tsx", "app/i.tsx", False),
        ("README.md", "docs/README.md", False),
        ("docs", "docs/a.md", False),
        ("docs/", "docs/a/b.md", True),
        ("docs/", "docs", False),
        ("**", ".git/config", False),
        ("**", "a/.GIT/config", False),
        ("**", "a/../b", False),
        ("**", "/etc/passwd", False),
        ("**", "a//b", False),
        ("**", ".grace/x", False),
        ("**", "a/.grace/x", True),
        ("*", "caf\udce9", True),
        ("?", "\U0001f389", True),
        ("*", "a\nb", True),
        (r"\?", "?", True),
        (r"\\", "\\", True),
        (" a ", " a ", True),
        (":(glob)x", ":(glob)x", True),
        ("-dash", "-dash", True),
    ],
)
def test_matches_by_hand(entry, path, expected):
    assert Scope.parse([entry]).matches(path) is expected


@pytest.mark.parametrize(
    "entry",
    [
        *("", "/", "//", "/abs", "C:/x", "C:\\x", "..", "../x", "a/..", "a/../b", ".", "./a", "a/./b", "a//b", "a\0b"),
        *(".git", ".git/", ".GIT/config", "a/.git/hooks/x", ".git.", ".git /x", "git~1", "GIT~1/x", ".git::$INDEX/x"),
        *(".g\u200cit/config", r"\.git/x", r".gi\t", ".git:*", ".grace", ".grace/x", ".GRACE/"),
        *("a**", "**a", "***", "a/b**/c", "a\\", "a\\/b", "x" * (MAX_ENTRY + 1)),
    ],
)
def test_refused(entry):
    with pytest.raises(ValueError):
        Scope.parse(["fine.py", entry])


@pytest.mark.parametrize(("entry", "said"), [("./src/", "src/"), ("a//b", "a/b"), ("/", "**")])
def test_a_refusal_says_what_to_write(entry, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Scope.parse([entry])


@pytest.mark.parametrize(
    ("scope", "folders"),
    [
        (["a/b.py"], [("a", False)]),
        (["a/b/"], [("a/b", True)]),
        (["a/*.py"], [("a", False)]),
        (["a/**/x.py"], [("a", True)]),
        (["a/*/x.py"], [("a", True)]),
        (["x.py"], [("", False)]),
        (["**"], [("", True)]),
        (["a/", "a/b/", "a/c.py", "ab/c.py"], [("a", True), ("ab", False)]),
        (["**", "a/b/"], [("", True)]),
        (["x.py", "a/b/"], [("", False), ("a/b", True)]),
        ([r"a\*/b"], [("a*", False)]),
    ],
)
def test_write_folders(scope, folders):
    assert Scope.parse(scope).write_folders() == tuple(folders)


def test_names_only_what_is_written_out():
    scope = Scope.parse(["conftest.py", r"a\*.py", "tests/", "b?.py"])
    assert scope.names("conftest.py")
    assert scope.names("a*.py")
    assert not scope.names("tests/conftest.py")
    assert not scope.names("b?.py")


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8))
def test_an_escaped_name_is_literally_that_file(name):
    if path_fault(name) is None:
        assert Scope.parse([f"d/{escape(name)}"]).names(f"d/{name}")


def test_no_pattern_takes_long():
    many = "*a" * 60
    start = time.perf_counter()
    assert Scope.parse([many + "b"]).matches("a" * 3000) is False
    assert parse_entry("/".join(["**", "a"] * 30)).literal is False
    assert Scope.parse([f"{many}*"]).overlaps(Scope.parse(["*b" * 60])) is not None
    assert Scope.parse([f"{many}c"]).overlaps(Scope.parse([f"{many}d"])) is None
    assert time.perf_counter() - start < 2
