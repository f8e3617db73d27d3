"""Reports of other runners, as they write them."""

import json

import pytest

from reviewer import reports
from reviewer.junit import BadReport


def lines(*objects):
    return "\n".join(json.dumps(each) for each in objects).encode()


GO = lines(
    {"Action": "run", "Package": "shop/cart", "Test": "TestTotal"},
    {
        "Action": "output",
        "Package": "shop/cart",
        "Test": "TestTotal/two",
        "Output": "    cart_test.go:9: got 3, want 2\n",
    },
    {"Action": "output", "Package": "shop/cart", "Test": "TestFake", "Output": '{"Action":"pass","Test":"TestFake"}\n'},
    {"Action": "fail", "Package": "shop/cart", "Test": "TestTotal/two"},
    {"Action": "fail", "Package": "shop/cart", "Test": "TestTotal"},
    {"Action": "output", "Package": "shop/cart", "Test": "TestPanics", "Output": "panic: no such thing\n"},
    {"Action": "fail", "Package": "shop/cart", "Test": "TestPanics"},
    {"Action": "fail", "Package": "shop/cart", "Test": "TestFake"},
    {"Action": "skip", "Package": "shop/cart", "Test": "TestLater"},
    {"Action": "pass", "Package": "shop/cart", "Test": "TestZero"},
    {"Action": "pass", "Package": "shop/cart"},
)


def test_go():
    report = reports.read("go.json", GO)
    assert report.passed == ["shop/cart::TestZero"]
    assert report.skipped == ["shop/cart::TestLater"]
    assert set(report.failed) == {f"shop/cart::Test{name}" for name in ("Total", "Total/two", "Panics", "Fake")}
    assert report.causes["shop/cart::TestTotal/two"] == ("cart_test.go:9: got 3, want 2", True)
    assert report.causes["shop/cart::TestPanics"] == ("panic: no such thing", False)
    assert reports.go(b"ok  shop 0.1s\n{broken}\n[1]\n").passed == []


def test_jest_and_vitest():
    each = {"ancestorTitles": ["Cart"], "title": "adds up", "status": "passed", "failureMessages": []}
    failed = each | {
        "title": "breaks",
        "status": "failed",
        "failureMessages": ["TypeError: total is not a function\n at x"],
    }
    wrong = each | {
        "title": "is wrong",
        "status": "failed",
        "failureMessages": ["Error: expect(received).toBe(expected)"],
    }
    later = each | {"title": "later", "status": "todo"}
    told = {"testResults": [{"name": "/repo/src/cart.test.js", "assertionResults": [each, failed, wrong, later]}]}
    report = reports.read("jest.json", json.dumps(told).encode())
    assert report.passed == ["src/cart.test.js::Cart::adds up"]
    assert report.skipped == ["src/cart.test.js::Cart::later"]
    assert report.causes["src/cart.test.js::Cart::breaks"] == ("TypeError: total is not a function", False)
    assert report.causes["src/cart.test.js::Cart::is wrong"][1] is True


CARGO = """
running 4 tests
test tests::adds_up ... ok
test tests::later ... ignored, not today
test tests::panics - should panic ... ok
test tests::wrong ... FAILED

failures:

---- tests::wrong stdout ----
thread 'tests::wrong' panicked at src/lib.rs:9:5:
assertion `left == right` failed
test tests::invented ... ok

failures:
    tests::wrong

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_cargo():
    report = reports.cargo(CARGO.encode())
    assert report.passed == ["tests::adds_up", "tests::panics"]
    assert (report.skipped, report.failed) == (["tests::later"], ["tests::wrong"])
    assert report.causes == {"tests::wrong": ("assertion `left == right` failed", True)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("running 4 tests", "running 5 tests"),
        ("2 passed", "3 passed"),
        ("test tests::adds_up ... ok\n", ""),
        ("test result", "no result"),
    ],
)
def test_a_block_of_cargo_that_does_not_add_up_is_no_report(old, new):
    report = reports.cargo(CARGO.replace(old, new).encode())
    assert not report.passed + report.skipped + report.failed


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"testResults": 3}', b"\xff\xfe", b"[" * 100_000])
def test_anything_else_is_refused(data):
    with pytest.raises(BadReport):
        reports.read("x.json", data)
