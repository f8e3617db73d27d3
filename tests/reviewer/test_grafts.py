from reviewer.grafts import graft

BASE = (
    b"pub fn total() -> u32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn old() {}\n}\n\npub fn last() {}\n"
)
HEAD = b"""pub fn total() -> u32 { 2 }

#[cfg(test)]
#[allow(unused)]
mod tests {
    #[test]
    fn new() { assert_eq!(super::total(), 2); }
}

#[cfg(not(test))]
mod product {}
"""


def test_the_sources_of_the_base_with_the_tests_of_the_result():
    made = graft(BASE, HEAD).decode()
    assert "{ 1 }" in made
    assert "{ 2 }" not in made
    assert "fn new()" in made
    assert "fn old()" not in made
    assert "pub fn last()" in made
    assert "#[allow(unused)]" in made
    assert "mod product" not in made


def test_a_new_file_gives_its_tests_only_and_what_cannot_be_read_stays():
    assert graft(b"", HEAD).strip().startswith(b"#[cfg(test)]")
    assert graft(BASE, b"pub fn total( {") == BASE
    assert graft(BASE, b"pub fn total() {}").count(b"mod tests") == 0
