"""Tests before and after."""

from reviewer.compare import compare_tests


def compared(old, new):
    """Compare two sets of files; contents are their own blob ids."""
    return compare_tests(old, new, lambda blobs: ((blob, blob.encode()) for blob in blobs))


A = "def test_a():\n    assert f(1)\n    assert f(2)\n"
B = "def test_b():\n    assert g()\n"


def test_added_removed_changed():
    diff = compared({"test_x.py": A + B}, {"test_x.py": A.replace("f(1)", "f(3)") + "def test_c():\n    assert h()\n"})
    delta = diff.delta()
    assert delta.scenarios_added == ("test_x.py::test_c",)
    assert delta.scenarios_removed == ("test_x.py::test_b",)
    assert delta.scenarios_changed == ("test_x.py::test_a",)
    assert delta.scenarios_weakened == ()


def test_a_moved_file_keeps_its_scenarios():
    diff = compared({"tests/test_x.py": A + B}, {"tests/new/test_y.py": B + A})
    assert diff.delta() == type(diff.delta())()
    assert [now.id for _, now in diff.moved] == ["tests/new/test_y.py::test_a", "tests/new/test_y.py::test_b"]


def test_a_moved_and_weakened_test_is_weakened():
    diff = compared({"test_x.py": A}, {"test_y.py": A.replace("    assert f(2)\n", "")})
    assert diff.delta().scenarios_weakened == ("test_y.py::test_a",)
    assert diff.lost == []


def test_a_test_moved_out_of_collection_is_lost():
    assert [gone.id for gone in compared({"test_x.py": A}, {"tests/x_old.py": A}).lost] == ["test_x.py::test_a"]
    assert [gone.id for gone in compared({"test_x.py": A}, {"tests/test_x.py.bak": A}).lost] == ["test_x.py::test_a"]


def test_another_name_is_another_test():
    diff = compared({"test_x.py": A}, {"test_x.py": A.replace("test_a", "test_z")})
    assert diff.delta().scenarios_removed == ("test_x.py::test_a",)
    assert diff.delta().scenarios_added == ("test_x.py::test_z",)


def test_a_method_may_move_to_another_class():
    old = "class TestA:\n    def test_m(self):\n        assert f()\n"
    diff = compared({"test_x.py": old}, {"test_x.py": old.replace("TestA", "TestB")})
    assert (diff.lost, len(diff.moved)) == ([], 1)


def test_rows():
    few = "@pytest.mark.parametrize('x', ['a', 'b'])\ndef test_r(x):\n    assert x\n"
    more = compared({"test_x.py": few}, {"test_x.py": few.replace("'b'", "'b', 'c'")})
    assert more.delta().scenarios_added == ("test_x.py::test_r[c]",)
    assert more.altered == []
    less = compared({"test_x.py": few}, {"test_x.py": few.replace(", 'b'", "")})
    assert less.delta().scenarios_removed == ("test_x.py::test_r[b]",)
    ids = few.replace("['a', 'b']", "[pytest.param(1, id='a')]")
    other = compared({"test_x.py": ids}, {"test_x.py": ids.replace("(1,", "(2,")})
    assert (other.lost, other.delta().scenarios_changed) == ([], ("test_x.py::test_r",))


def test_support_that_asserts_less():
    old = "LIMIT = 5\n\n\ndef expect_total(x):\n    assert x == LIMIT\n\n\n" + A
    diff = compared({"test_x.py": old}, {"test_x.py": old.replace("assert x == LIMIT", "pass").replace("= 5", "= 6")})
    assert [(s.name, bool(s.weakened)) for s in diff.support] == [("LIMIT", False), ("expect_total", True)]
    assert diff.altered == []


def test_files_that_are_not_read():
    diff = compared({"cart_test.c": "x", "tests/data.json": "1"}, {"tests/data.json": "2"})
    assert [gone.id for gone in diff.lost] == ["cart_test.c"]
    assert [s.path for s in diff.support] == ["tests/data.json"]


def test_titles_are_compared_too():
    old = "it('adds', () => { expect(a).toBe(1); expect(b).toBe(2) });\nit('gone', () => {});\n"
    diff = compared({"a.test.ts": old}, {"a.test.ts": "it('adds', () => {\n expect(a).toBe(1)\n });\n"})
    assert diff.delta().scenarios_removed == ("a.test.ts::gone",)
    assert diff.delta().scenarios_changed == ("a.test.ts::adds",)
