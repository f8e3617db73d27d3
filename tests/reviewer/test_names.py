import pytest

from reviewer.names import means, meant_id, nearest
from reviewer.reported import ran_as
from reviewer.scenarios import read_tests
from reviewer.titles import read_titles


def python(source="def test_seasonal_coupon():\n    assert f()\n", path="tests/test_a.py"):
    (found,) = read_tests(path, source.encode()).scenarios.values()
    return found


def title(text):
    (found,) = read_titles("a.test.ts", f"it('{text}', () => {{}})".encode()).scenarios.values()
    return found


@pytest.mark.parametrize(
    "name",
    [
        "seasonal_coupon",
        "test_seasonal_coupon",
        "tests/test_a.py::test_seasonal_coupon",
        "tests/test_a.py::*",
    ],
)
def test_a_name_means_a_test(name):
    assert means(name, python())


@pytest.mark.parametrize("name", ["seasonal", "coupon", "Seasonal_Coupon", "seasonal-coupon", "tests/test_b.py::*", ""])
def test_and_no_other(name):
    assert not means(name, python())


def test_rows_and_methods():
    rows = python("class TestA:\n    @pytest.mark.parametrize('x', ['plus_loyalty'])\n    def test_b(self, x): pass\n")
    for name in ("plus_loyalty", "test_b[plus_loyalty]", "b", "TestA::test_b"):
        assert means(name, rows), name


@pytest.mark.parametrize("text", ["seasonal coupon", "Seasonal: coupon!", "SEASONAL  coupon"])
def test_a_title_gives_a_name(text):
    assert means("seasonal_coupon", title(text))
    assert not means("seasonal", title(text))


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("a", "t.py::test_a"),
        ("test_a", "t.py::TestX::test_a[1]"),
        ("1", "t.py::test_a[1]"),
        ("t.py::TestX::test_a", "t.py::TestX::test_a"),
        ("adds_up", "cart.test.ts::Adds up"),
    ],
)
def test_ids_of_reports_are_meant_the_same_way(name, identifier):
    assert meant_id(name, identifier)
    assert not meant_id("other", identifier)


def test_what_ran_is_found_from_the_runner_s_own_root():
    assert ran_as(python(), "tests/test_a.py::test_seasonal_coupon[1]")
    assert ran_as(python(), "test_a.py::test_seasonal_coupon")
    assert not ran_as(python(), "other/test_a.py::test_seasonal_coupon")
    assert not ran_as(python(), "test_a.py::TestX::test_seasonal_coupon")
    assert ran_as(title("adds up"), "src/a.test.ts::Cart > adds up")
    assert not ran_as(title("adds up"), "src/a.test.ts::Cart > subtracts")


def test_the_nearest_are_named():
    known = ["t.py::test_seasonal_cupon", "t.py::test_other"]
    assert nearest("seasonal_coupon", known) == ["t.py::test_seasonal_cupon"]


def other(path, source):
    from reviewer.titles import read_titles

    return read_titles(path, source.encode()).scenarios


GO = other(
    "cart/cart_test.go", 'package cart\nfunc TestAddsUp(t *testing.T) { t.Run("two items", func(t *testing.T) {}) }'
)
RUST = other("src/cart.rs", "#[cfg(test)]\nmod tests { #[test] fn adds_up() {} }")
JAVA = other(
    "CartTest.java", 'class CartTest { @Nested class In { @Test @DisplayName("sums well") void addsUp() {} } }'
)
TITLES = other("src/a.test.ts", "describe('Cart', () => { it('adds up', f); it.each([1])('row %i', (n) => {}) })")


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        (GO["TestAddsUp"], ["adds_up", "TestAddsUp", "cart/cart_test.go::TestAddsUp"]),
        (GO["TestAddsUp/two_items"], ["two_items", "TestAddsUp/two_items"]),
        (RUST["tests::adds_up"], ["adds_up", "tests::adds_up", "src/cart.rs::tests::adds_up"]),
        (JAVA["CartTest::In::addsUp"], ["adds_up", "addsUp", "sums_well", "CartTest::In::addsUp"]),
        (TITLES["Cart::adds up"], ["adds_up", "adds up", "cart_adds_up", "src/a.test.ts::Cart::adds up"]),
    ],
    ids=["go", "go subtest", "rust", "java", "titles"],
)
def test_names_in_plans_for_other_languages(scenario, names):
    for name in names:
        assert means(name, scenario), name
        if name != "sums_well":  # a display name is not in the id
            assert meant_id(name, scenario.id), name
    assert not means("other", scenario)
    assert not meant_id("other", scenario.id)


@pytest.mark.parametrize(
    ("scenario", "row", "ran", "others"),
    [
        (
            python(),
            "",
            ["tests.test_a::test_seasonal_coupon", "test_a::test_seasonal_coupon"],
            ["test_b::test_seasonal_coupon"],
        ),
        (
            GO["TestAddsUp"],
            "",
            ["shop/cart::TestAddsUp"],
            ["shop/other::TestAddsUp", "shop/cart::TestAddsUp/two_items"],
        ),
        (GO["TestAddsUp/two_items"], "", ["shop/cart::TestAddsUp/two_items"], ["shop/cart::TestAddsUp"]),
        (
            RUST["tests::adds_up"],
            "",
            ["tests::adds_up", "shop::cart::tests::adds_up"],
            ["tests::adds_up_twice", "adds_up"],
        ),
        (
            JAVA["CartTest::In::addsUp"],
            "",
            ["shop.CartTest$In::addsUp", "shop.CartTest$In::addsUp()", "shop.CartTest.In::sums well"],
            ["shop.CartTest$Out::addsUp", "shop.CartTest$In::other"],
        ),
        (
            TITLES["Cart::adds up"],
            "",
            [
                "src/a.test.ts::Cart > adds up",
                "Cart::adds up",
                "Cart adds up::Cart adds up",
                "/repo/src/a.test.ts::Cart::adds up",
            ],
            ["src/b.test.ts::Cart > adds up", "src/a.test.ts::Cart > adds up twice", "src/a.test.ts::Basket > adds up"],
        ),
        (TITLES["Cart::row %i"], "", ["src/a.test.ts::Cart > row 1"], ["src/a.test.ts::Cart > column 1"]),
        (TITLES["Cart::row %i"], "row 1", ["src/a.test.ts::Cart > row 1"], ["src/a.test.ts::Cart > row 2"]),
    ],
)
def test_what_every_runner_calls_a_test(scenario, row, ran, others):
    for reported in ran:
        assert ran_as(scenario, reported, row), reported
    for reported in others:
        assert not ran_as(scenario, reported, row), reported
