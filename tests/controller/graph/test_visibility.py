"""Who may rely on a name, by the rules of its language."""

import pytest

from controller.graph.visibility import visible
from packets.graph import Node, NodeKind


@pytest.mark.parametrize(
    ("path", "name", "signature", "near", "far"),
    [
        ("a/x.py", "tax", "def tax()", True, True),
        ("a/x.py", "_tax", "def _tax()", False, False),
        ("a/x.py", "Money._add", "def _add(self)", False, False),
        ("a/x.py", "Money.__init__", "def __init__(self)", True, True),
        ("a/x.go", "Tax", "func Tax()", True, True),
        ("a/x.go", "tax", "func tax()", True, False),
        ("a/x.go", "Money.add", "func (m Money) add()", True, False),
        ("a/X.java", "X", "public class X", True, True),
        ("a/X.java", "X", "class X", True, False),
        ("a/X.java", "X.tax", "private int tax()", False, False),
        ("a/X.java", "X.tax", "public int tax()", True, True),
        ("a/x.rs", "tax", "pub fn tax()", True, True),
        ("a/x.rs", "tax", "fn tax()", False, False),
        ("a/mod.rs", "tax", "fn tax()", True, False),
        ("a/x.rs", "Tax.rate", "fn rate(&self)", True, True),
        ("a/x.c", "tax", "int tax(void)", True, True),
        ("a/x.c", "tax", "static int tax(void)", False, False),
        ("a/x.h", "tax", "static inline int tax(void)", True, True),
        ("a/x.ts", "tax", "function tax()", True, True),
        ("a/x.ts", "Money.add", "private add()", False, False),
        ("a/x.ts", "Money.#add", "#add()", False, False),
    ],
)
def test_who_sees_a_name(path: str, name: str, signature: str, near: bool, far: bool) -> None:  # noqa: FBT001
    node = Node(f"{path}::{name}", NodeKind.FUNCTION, name, path, 1, signature)
    assert (visible(node, "a/y"), visible(node, "b/y")) == (near, far)


def test_files_are_seen_and_what_is_outside_is_nobody_s() -> None:
    assert visible(Node("a.py", NodeKind.FILE, "a.py", "a.py", 1), "b.py")
    assert not visible(Node("ext:x", NodeKind.EXTERNAL, "x", "", 0), "b.py")
