"""Rust: test attributes, modules, tests within sources."""

import pytest

from reviewer.forms.rust import read_rust

CART = """
pub fn total(n: u32) -> u32 { n }

#[cfg(test)]
mod tests {
    use super::*;

    /// What a comment says: #[test] fn comment() {}
    #[test]
    fn adds_up() { assert_eq!(total(1), 1, "message"); }

    #[tokio::test(flavor = "current_thread")]
    #[ignore]
    async fn later() { assert!(total(2) > 1); }

    #[test]
    #[should_panic(expected = "no")]
    // between
    fn panics() { total(0); }

    #[rstest]
    #[case(1, 2)]
    #[case(2, 3)]
    fn rows(#[case] a: u32, #[case] b: u32) { assert_eq!(a + 1, b); total(a).checked_add(1).unwrap(); }

    fn helper() { assert!(total(1) == 1); }
}
"""


def read(source):
    return read_rust("src/cart.rs", source.encode())


def test_names_skips_and_rows():
    found = read(CART)
    assert {name: each.skipped.reason for name, each in found.scenarios.items()} == {
        "tests::adds_up": "",
        "tests::later": "#[ignore]",
        "tests::panics": '#[should_panic(expected = "no")]',
        "tests::rows": "",
    }
    assert len(found.scenarios["tests::rows"].cases) == 2
    assert len(found.scenarios["tests::rows"].strength.asserts) == 2
    assert list(found.support) == ["total", "tests::helper"]


def test_an_attribute_belongs_to_the_test_and_a_row_does_not():
    before = read(CART).scenarios
    assert read(CART.replace("#[ignore]", "")).scenarios["tests::later"].digest != before["tests::later"].digest
    more = read(CART.replace("#[case(2, 3)]", "#[case(2, 3)]\n    #[case(3, 4)]")).scenarios["tests::rows"]
    assert more.digest == before["tests::rows"].digest
    assert len(more.cases) == 3


@pytest.mark.parametrize(
    ("code", "verb", "subject", "values"),
    [
        ("assert_eq!(f(1), 3)", "assert_eq", "f (1)", ["3"]),
        ('assert_eq!("a", f(), "why {}", 1)', "assert_eq", "f ()", ['"a"']),
        ("assert!(f() > 1)", "assert", "f () > 1", []),
        ("f().unwrap()", "unwrap", "f().unwrap()", []),
    ],
)
def test_assertions_are_taken_apart(code, verb, subject, values):
    (found,) = read(f"#[test]\nfn a() {{ {code}; }}").scenarios.values()
    (part,) = found.strength.parts
    assert (part.verb, part.subject, [value for _, value in part.values]) == (verb, subject, values)


@pytest.mark.parametrize("code", ["assert!(true)", "assert_eq!(1, 1)", "f()"])
def test_what_cannot_fail_is_none(code):
    (found,) = read(f"#[test]\nfn a() {{ {code}; }}").scenarios.values()
    assert found.strength.asserts == ()
