"""Java: JUnit 5 and 4."""

import pytest

from reviewer.forms.java import read_java

CART = """
class CartTest {
  int limit = 1;
  // @Test void comment() {}
  String text = "@Test void text() {}";

  @Test
  @DisplayName("adds up")
  void addsUp() { assertEquals(3, total(1, 2)); assertThat(x).isEqualTo(4); }

  @Nested
  class WithCoupons {
    @ParameterizedTest @ValueSource(strings = {"a", "b"})
    void takes(String s) { assertTrue(total(s)); }

    @Disabled("x") @Test
    public void later() throws Exception { assertTrue(x()); }
  }

  @ParameterizedTest @CsvSource({"1,2", "3,4"})
  void pairs(int a, int b) { assumeTrue(win); assertEquals(a, b); }

  @Test(expected = IllegalStateException.class)
  public void old() { total(0, 0); }

  void helper() { assertEquals(1, f()); }
}

@Disabled
class OldTest { @Test void gone() { assertTrue(f()); } }
class LegacyTest extends TestCase { public void testLegacy() { assertTrue(f()); } }
"""


def read(source):
    return read_java("src/test/java/CartTest.java", source.encode())


def test_names_skips_rows_and_titles():
    found = read(CART)
    assert {name: each.skipped.reason for name, each in found.scenarios.items()} == {
        "CartTest::addsUp": "",
        "CartTest::WithCoupons::takes": "",
        "CartTest::WithCoupons::later": '@Disabled("x")',
        "CartTest::pairs": "assumeTrue(win)",
        "CartTest::old": "",
        "OldTest::gone": "@Disabled",
        "LegacyTest::testLegacy": "",
    }
    assert found.scenarios["CartTest::addsUp"].title == "adds up"
    assert [row for row, _ in found.scenarios["CartTest::WithCoupons::takes"].cases] == ["a", "b"]
    assert [row for row, _ in found.scenarios["CartTest::pairs"].cases] == ["1,2", "3,4"]
    assert len(found.scenarios["CartTest::old"].strength.asserts) == 1
    assert list(found.support) == ["CartTest::limit", "CartTest::text", "CartTest::helper"]


@pytest.mark.parametrize(
    ("code", "verb", "values"),
    [
        ("assertEquals(3, f())", "assertEquals", [("", "3")]),
        ("assertEquals(0.3, f(), 0.01)", "assertEquals", [("", "0.3"), ("delta", "0.01")]),
        ("assertThrows(X.class, () -> f())", "assertThrows", [("raises", "X.class")]),
        ('assertThat(f()).as("x").isEqualTo("a")', "isEqualTo", [("", '"a"')]),
        ("verify(mock).close()", "close", []),
    ],
)
def test_assertions_are_taken_apart(code, verb, values):
    (found,) = read(f"class A {{ @Test void a() {{ {code}; }} }}").scenarios.values()
    (part,) = found.strength.parts
    assert (part.verb, list(part.values)) == (verb, values)


@pytest.mark.parametrize("code", ["assertTrue(true)", "assertEquals(1, 1)", "assertThat(f())", "f()"])
def test_what_cannot_fail_is_none(code):
    (found,) = read(f"class A {{ @Test void a() {{ {code}; }} }}").scenarios.values()
    assert found.strength.asserts == ()
