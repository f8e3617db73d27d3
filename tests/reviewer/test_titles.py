"""Tests of other languages, read by their form."""

import pytest

from reviewer.titles import read_titles

SCRIPT = """
describe('Cart', () => {
  it('adds up', () => {
    expect(total([1, 2])).toBe(3); // three
  });
  test(`takes "coupons" (two)`, async () => { expect(a)
    .toBe(1) });
  it.skip("later", () => {});
  xit('never', () => { expect(1).toBe(1) });
  it('sometimes', function () { if (win) this.skip(); expect(x).toBe(1) });
});
"""
GO = """
func TestTotal(t *testing.T) {
	if got := Total(1); got != 1 { t.Errorf("got %d }", got) }
}
func TestLater(t *testing.T) { t.Skip("x") }
func helper(t *testing.T) {}
"""
RUST = """
#[test]
fn adds_up() { assert_eq!(total(&[1]), 1); }
#[tokio::test]
#[ignore]
async fn later() { assert!(x()); }
fn helper() {}
"""
JAVA = """
class CartTest {
  @Test
  void addsUp() { assertEquals(3, total(1, 2)); }
  @Disabled("x") @Test
  public void later() throws Exception { assertTrue(x()); }
  void helper() {}
}
"""


@pytest.mark.parametrize(
    ("path", "source", "names", "skipped"),
    [
        (
            "cart.test.ts",
            SCRIPT,
            ["adds up", 'takes "coupons" (two)', "later", "never", "sometimes"],
            ["later", "never", "sometimes"],
        ),
        ("cart_test.go", GO, ["TestTotal", "TestLater"], ["TestLater"]),
        ("tests/cart.rs", RUST, ["adds_up", "later"], ["later"]),
        ("CartTest.java", JAVA, ["addsUp", "later"], ["later"]),
    ],
)
def test_names_and_skips(path, source, names, skipped):
    found = read_titles(path, source.encode()).scenarios
    assert list(found) == names
    assert [name for name, scenario in found.items() if scenario.skipped.reason] == skipped
    assert len(found[names[0]].strength.asserts) == 1


def test_layout_and_comments_change_nothing_and_an_expectation_does():
    before = read_titles("a.test.js", SCRIPT.encode()).scenarios["adds up"]
    tidy = SCRIPT.replace("; // three", "").replace("[1, 2]", "[\n  1,\n  2,\n]")
    assert read_titles("a.test.js", tidy.encode()).scenarios["adds up"].digest == before.digest
    other = SCRIPT.replace("toBe(3)", "toBe(4)")
    assert read_titles("a.test.js", other.encode()).scenarios["adds up"].digest != before.digest


def test_a_test_beside_another_leaves_it_alone():
    before = read_titles("a.test.js", SCRIPT.encode()).scenarios
    more = SCRIPT.replace("  it.skip(", "  it('is new', () => { expect(1).toBe(n) });\n  it.skip(")
    after = read_titles("a.test.js", more.encode()).scenarios
    assert set(after) - set(before) == {"is new"}
    assert all(after[name].digest == before[name].digest for name in before)


def test_equal_titles_are_told_apart():
    twice = "it('a', () => { expect(1) });\nit('a', () => { expect(2) });\n"
    assert list(read_titles("a.spec.js", twice.encode()).scenarios) == ["a", "a #2"]


@pytest.mark.parametrize(("path", "source"), [("a.test.ts", "const x = 1"), ("a_test.rb", "it 'x' do end"), ("a", "")])
def test_what_is_not_read_is_none(path, source):
    assert read_titles(path, source.encode()) is None
