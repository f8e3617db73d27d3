"""What is a test, how it is skipped, and which edits change what it means."""

import pytest

from reviewer.scenarios import read_tests

BODY = "def test_a():\n    assert f(1) == 2\n"


def read(source, path="test_a.py"):
    return read_tests(path, source.encode())


def one(source):
    (scenario,) = read(source).scenarios.values()
    return scenario


def test_functions_methods_and_what_stands_under_a_condition():
    found = read(
        "import sys\n"
        "def test_plain(): pass\n"
        "async def test_async(): pass\n"
        "def helper(): pass\n"
        "class TestA:\n    def setup_method(self): pass\n    def test_m(self): pass\n"
        "    class TestB:\n        def test_n(self): pass\n"
        "class Old(unittest.TestCase):\n    def testCamel(self): pass\n"
        "if sys.platform == 'linux':\n    def test_linux(): pass\n"
        "try:\n    import x\nexcept ImportError:\n    pass\nelse:\n    def test_else(): pass\n"
        "TOTAL = 5\n"
    )
    assert list(found.scenarios) == [
        "test_plain",
        "test_async",
        "TestA::test_m",
        "TestA::TestB::test_n",
        "Old::testCamel",
        "test_linux",
        "test_else",
    ]
    assert list(found.support) == ["helper", "TestA::setup_method", "TOTAL"]
    assert found.scenarios["TestA::TestB::test_n"].line == 9


def test_syntax_newer_than_ours_and_broken_syntax_are_read():
    newer = "def test_t():\n    x = t'{y}'\n    match x:\n        case 1: assert y\ntype A[T = int] = list[T]\n"
    assert list(read(newer).scenarios) == ["test_t"]
    assert "test_ok" in read("def broken(:\n\n\ndef test_ok():\n    assert f()\n").scenarios


@pytest.mark.parametrize(
    "same",
    [
        'def test_a():\n    """Say why."""\n    assert f(1) == 2\n',
        "def test_a():\n    # say why\n\n    assert f(1) == 2  # two\n",
        "def test_a():\n    assert (\n        f(\n            1,\n        )\n        == 2\n    )\n",
        "def test_a(): assert f(1) == 2\n",
    ],
)
def test_a_formatter_changes_nothing(same):
    assert one(same).digest == one(BODY).digest


@pytest.mark.parametrize(
    "other",
    [
        "def test_a():\n    assert f(1) == 3\n",
        "def test_a():\n    assert f(1) != 2\n",
        "def test_a(x):\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1), 2\n",
        "@mark\ndef test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    if x:\n        assert f(1) == 2\n",
    ],
)
def test_another_meaning_is_another_digest(other):
    assert one(other).digest != one(BODY).digest


def test_a_block_that_loses_a_statement_to_its_indentation_is_another():
    inside = "def test_a():\n    if x:\n        y()\n        assert f()\n"
    outside = "def test_a():\n    if x:\n        y()\n    assert f()\n"
    assert one(inside).digest != one(outside).digest


@pytest.mark.parametrize(
    "code",
    [
        "assert f()",
        "assert f() == 1, 'why'",
        "assert x == y",
        "assert x or y",
        "with pytest.raises(ValueError): f()",
        "self.assertEqual(f(), 1)",
        "np.testing.assert_allclose(f(), 1)",
        "mock.assert_called_once()",
        "check_total(f())",
        "for x in f(): assert x",
        "pytest.fail('no')",
    ],
)
def test_an_assertion_that_can_fail_counts(code):
    assert len(one(f"def test_a():\n    {code}\n").strength.asserts) == 1


@pytest.mark.parametrize(
    "code",
    [
        "assert True",
        "assert 1 == 1.0",
        "assert f() or True",
        "assert f() == f()",
        "assert (f() == 1, 'why')",
        "assert not False",
        "assert lambda: f()",
        "self.assertTrue(True)",
        "self.assertEqual(x, x)",
        "return\n    assert f()",
        "raise Done\n    assert f()",
        "pytest.skip('x')\n    assert f()",
        "if False:\n        assert f()",
        "while 0:\n        assert f()",
        "print(f())",
    ],
)
def test_one_that_cannot_does_not(code):
    assert one(f"def test_a():\n    {code}\n").strength.asserts == ()


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("try:\n        f()\n    except Exception:\n        pass", 1),
        ("try:\n        f()\n    except:\n        pass", 1),
        ("try:\n        f()\n    except (ValueError, BaseException) as e:\n        print(e)", 1),
        ("with contextlib.suppress(Exception): f()", 1),
        ("with pytest.raises(Exception): f()", 1),
        ("try:\n        f()\n    except Exception:\n        raise", 0),
        ("try:\n        f()\n    except ValueError:\n        pass", 0),
        ("with pytest.raises(KeyError): f()", 0),
    ],
)
def test_what_swallows_any_exception(code, count):
    assert one(f"def test_a():\n    {code}\n").strength.swallows == count


@pytest.mark.parametrize(
    ("source", "conditional"),
    [
        ("@pytest.mark.skip\ndef test_a(): f()\n", False),
        ("@unittest.skip('x')\ndef test_a(): f()\n", False),
        ("@pytest.mark.skipif(WIN, reason='x')\ndef test_a(): f()\n", True),
        ("@pytest.mark.xfail\ndef test_a(): f()\n", False),
        ("def test_a():\n    pytest.skip('x')\n", False),
        ("def test_a(self):\n    self.skipTest('x')\n", False),
        ("def test_a():\n    raise unittest.SkipTest\n", False),
        ("def test_a():\n    if WIN:\n        pytest.skip('x')\n    f()\n", True),
        ("def test_a():\n    x = pytest.importorskip('x')\n", True),
        ("pytestmark = pytest.mark.skip\ndef test_a(): f()\n", False),
        ("pytestmark = [pytest.mark.skipif(WIN, reason='x')]\ndef test_a(): f()\n", True),
        ("pytest.skip('x', allow_module_level=True)\ndef test_a(): f()\n", False),
        ("if WIN:\n    pytest.skip('x', allow_module_level=True)\ndef test_a(): f()\n", True),
        ("@pytest.mark.skip\nclass TestA:\n    def test_a(self): f()\n", False),
        ("class TestA:\n    __test__ = False\n    def test_a(self): f()\n", False),
        ("def test_a(): f()\ntest_a = None\n", False),
    ],
)
def test_every_way_to_skip_is_seen(source, conditional):
    assert one(source).skipped.reason
    assert one(source).skipped.conditional is conditional


def test_none_of_them_is_seen_where_there_is_none():
    assert not one("@pytest.mark.slow\ndef test_skip():\n    skipper = 1\n    assert f(skipper)\n").skipped.reason


@pytest.mark.parametrize(
    ("mark", "ids"),
    [
        ("'x', ['a', 2, None]", ["a", "2", "None"]),
        ("'x', [1, 2], ids=['one', 'two']", ["one", "two"]),
        ("'x,y', [pytest.param(1, 2, id='both'), (3, 4)]", ["both", ""]),
        ("argnames='x', argvalues=(1.5, True)", ["1.5", "True"]),
        ("'x', make()", []),
        ("'x', [1, 2], ids=make()", []),
    ],
)
def test_rows_of_a_literal_parametrize(mark, ids):
    scenario = one(f"@pytest.mark.parametrize({mark})\ndef test_a(x):\n    assert x\n")
    assert [name for name, _ in scenario.cases] == ids


def test_more_rows_are_the_same_test():
    few = "@pytest.mark.parametrize('x', [1, 2])\ndef test_a(x):\n    assert x\n"
    assert one(few).digest == one(few.replace("2]", "2, 3]")).digest
    assert one(few).digest != one(few.replace("'x',", "'y',")).digest


def test_deep_nesting_is_read_in_bounds():
    deep = "def test_a():\n    assert " + "(" * 3000 + "f()" + ")" * 3000 + "\n"
    assert list(read(deep + "def test_b():\n    assert f()\n").scenarios)
    assert read("def test_c():\n    x = " + "+".join(["1"] * 5000) + "\n    assert f()\n").scenarios
