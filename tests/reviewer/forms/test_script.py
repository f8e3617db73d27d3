"""JavaScript and TypeScript: what is a test, how it is skipped, what it asserts."""

import pytest

from reviewer.forms.script import read_script

CART = """
import { total } from './cart';
const LIMIT = 3;
function check(a) { expect(a).toBe(1); }
// it('is a comment', () => {});
const text = "it('is a text', () => {})";
describe('Cart', () => {
  it('adds up', () => {
    expect(total([1, 2])).toBe(3); // three
  });
  describe("with coupons", () => {
    test(`takes "two"`, async () => { await expect(a).resolves.toBe(1) });
  });
  it.skip("later", () => {});
  xit('never', () => { expect(f()).toBe(1) });
  it.todo('some day');
  it('without a body');
  it('sometimes', function () { if (win) this.skip(); expect(x).toBe(1) });
  it.each([[1, 'a'], [2, 'b']])('row %i is %s', (n, s) => { expect(n).toBe(s) });
  it.each([{ n: 1 }, { n: x }])('object $n', ({ n }) => { expect(n).toBe(f()) });
});
xdescribe('old', () => { it('thing', () => { expect(f()).toBe(1) }) });
"""


def read(source, path="cart.test.ts"):
    return read_script(path, source.encode())


def test_titles_with_those_around_them():
    found = read(CART)
    assert {name: bool(each.skipped.reason) for name, each in found.scenarios.items()} == {
        "Cart::adds up": False,
        'Cart::with coupons::takes "two"': False,
        "Cart::later": True,
        "Cart::never": True,
        "Cart::some day": True,
        "Cart::without a body": True,
        "Cart::sometimes": True,
        "Cart::row %i is %s": False,
        "Cart::object $n": False,
        "old::thing": True,
    }
    assert found.scenarios["Cart::sometimes"].skipped.conditional
    assert found.scenarios["Cart::adds up"].line == 8
    assert list(found.support) == ["LIMIT", "check", "text"]
    assert found.support["check"][2].asserts == ("expect(a).toBe(1)",)


def test_rows_have_the_titles_that_they_get():
    found = read(CART).scenarios
    assert [name for name, _ in found["Cart::row %i is %s"].cases] == ["row 1 is a", "row 2 is b"]
    assert [name for name, _ in found["Cart::object $n"].cases] == ["object 1", ""]
    assert found["Cart::row %i is %s"].row_id("row 1 is a") == "cart.test.ts::Cart::row 1 is a"


@pytest.mark.parametrize(
    "same",
    [
        CART.replace("; // three", ""),
        CART.replace("[1, 2]", "[\n  1,\n  2,\n]"),
        CART.replace("'adds up'", '"adds up"'),
        CART.replace("expect(total([1, 2]))", "(expect(total([1, 2])))"),
    ],
)
def test_a_formatter_changes_nothing(same):
    assert same != CART
    assert read(same).scenarios["Cart::adds up"].digest == read(CART).scenarios["Cart::adds up"].digest


def test_a_test_beside_another_leaves_it_alone_and_another_meaning_does_not():
    before = read(CART).scenarios
    more = read(CART.replace("  it.todo(", "  it('is new', () => { expect(f()).toBe(n) });\n  it.todo(")).scenarios
    assert set(more) - set(before) == {"Cart::is new"}
    assert all(more[name].digest == before[name].digest for name in before)
    other = read(CART.replace("toBe(3)", "toBe(4)")).scenarios
    assert [name for name in before if other[name].digest != before[name].digest] == ["Cart::adds up"]
    row = read(CART.replace("[2, 'b']", "[2, 'b'], [3, 'c']")).scenarios["Cart::row %i is %s"]
    assert row.digest == before["Cart::row %i is %s"].digest


@pytest.mark.parametrize(
    "form", ["it.only('a', F)", "fit('a', F)", "test.only('a', F)", "describe.only('x', () => { it('a', F) })"]
)
def test_only_hides_the_others(form):
    body = "() => { expect(f()).toBe(1) }"
    found = read(form.replace("F", body) + f"\nit('b', {body});\n").scenarios
    assert {each.bare: "only" in each.skipped.reason for each in found.values()} == {"a": False, "b": True}


@pytest.mark.parametrize(
    ("code", "verb", "values"),
    [
        ("expect(f(1)).toBe(3)", "toBe", [("", "3")]),
        ("await expect(p).rejects.toThrow('no')", "toThrow", [("match", "'no'")]),
        ("expect(x).not.toEqual({a: [1, 'b']})", "not.toEqual", [("", "{a: [1, 'b']}")]),
        ("expect(x).toBeCloseTo(0.3, 5)", "toBeCloseTo", [("", "0.3"), ("digits", "5")]),
        ("assert.equal(f(), -1)", "equal", [("", "-1")]),
        ("x.should.equal(4)", "equal", [("", "4")]),
        ("expect(x).to.be.true", "true", []),
        ("assert(f())", "truthy", []),
        ("t.is(f(), 1)", "is", [("", "1")]),
    ],
)
def test_assertions_are_taken_apart(code, verb, values):
    (scenario,) = read(f"it('a', async () => {{ {code}; }});").scenarios.values()
    (part,) = scenario.strength.parts
    assert (part.verb, list(part.values)) == (verb, values)
    assert part.subject


@pytest.mark.parametrize(
    "code", ["expect(true).toBe(true)", "assert.equal(1, 1)", "assert(true)", "expect(f())", "f()"]
)
def test_what_cannot_fail_is_none(code):
    (scenario,) = read(f"it('a', () => {{ {code}; }});").scenarios.values()
    assert scenario.strength.asserts == ()


def test_equal_titles_are_told_apart_and_broken_syntax_is_read_as_far_as_it_goes():
    assert list(read("it('a', () => { f() });\nit('a', () => { g() });\n").scenarios) == ["a", "a #2"]
    broken = read("it('a', () => { f( });\nit('b', () => { expect(f()).toBe(1) });\n").scenarios
    assert "b" in broken
    assert not all(each.exact for each in broken.values())


def test_jsx_and_tsx():
    source = "it('shows', () => { render(<Cart n={1} />); expect(screen).toBe(1) });"
    for path in ("a.test.jsx", "a.test.tsx"):
        assert list(read(source, path).scenarios) == ["shows"]
