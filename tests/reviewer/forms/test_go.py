"""Go: functions of the testing package, literal subtests, tables."""

import pytest

from reviewer.forms.go import read_go

CART = """package cart

var limit = 3

func TestTotal(t *testing.T) {
	tests := []struct{ name string; n int }{{"one item", 1}, {name: "two", n: 2}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Total(tt.n); got != 3 { t.Errorf("got %d }", got) }
		})
	}
	t.Run("plain case", func(t *testing.T) { assert.Equal(t, 4, Total(4)) })
}

// func TestComment(t *testing.T) {}
func TestLater(t *testing.T) { t.Skip("x") }
func TestShort(t *testing.T) { if testing.Short() { t.Skip() }; m := map[string]struct{ a int }{"k": {1}}; _ = m }
func FuzzTotal(f *testing.F) { f.Add(1) }
func ExampleTotal() { fmt.Println(Total(1)) }
func BenchmarkTotal(b *testing.B) {}
func Testify() {}
func helper(t *testing.T) { t.Fatal("no") }
"""


def read(source):
    return read_go("cart/cart_test.go", source.encode())


def test_names_skips_and_tables():
    found = read(CART)
    assert {name: each.skipped.reason for name, each in found.scenarios.items()} == {
        "TestTotal": "",
        "TestTotal/plain_case": "",
        "TestLater": 't.Skip("x")',
        "TestShort": "t.Skip()",
        "FuzzTotal": "",
        "ExampleTotal": "",
        "BenchmarkTotal": "",
    }
    assert not found.scenarios["TestLater"].skipped.conditional
    assert found.scenarios["TestShort"].skipped.conditional
    assert [row for row, _ in found.scenarios["TestTotal"].cases] == ["one_item", "two"]
    assert [row for row, _ in found.scenarios["TestShort"].cases] == ["k"]
    assert found.scenarios["TestTotal"].row_id("two") == "cart/cart_test.go::TestTotal/two"
    assert list(found.support) == ["limit", "Testify", "helper"]


@pytest.mark.parametrize(
    ("code", "verb", "values"),
    [
        ("if got := f(); got != 3 { t.Errorf() }", "==", ["3"]),
        ("if f() { t.Fatal() }", "truthy", []),
        ('assert.Equal(t, "a", f())', "Equal", ['"a"']),
        ("require.NoError(t, f())", "NoError", []),
    ],
)
def test_assertions_are_taken_apart(code, verb, values):
    found = read(f"package a\nfunc TestA(t *testing.T) {{\n{code}\n}}\n").scenarios["TestA"]
    (part,) = found.strength.parts
    assert (part.verb, [value for _, value in part.values]) == (verb, values)


def test_a_subtest_is_no_part_of_the_test_around_it_and_a_row_is_none_of_its_digest():
    before = read(CART).scenarios
    other = read(CART.replace("Total(4)", "Total(5)")).scenarios
    assert [name for name in before if before[name].digest != other[name].digest] == ["TestTotal/plain_case"]
    more = read(CART.replace('{name: "two", n: 2}', '{name: "two", n: 2}, {"three", 3}')).scenarios["TestTotal"]
    assert more.digest == before["TestTotal"].digest
    assert len(more.cases) == 3
