"""Which reader reads which file, and that no file can hurt one."""

import time

import pytest

from reviewer.titles import read_titles

KINDS = ("a.test.js", "a.test.ts", "a.test.tsx", "a_test.go", "tests/a.rs", "ATest.java", "ATest.kt")
HOSTILE = {
    "deep": b"(" * 20_000,
    "deep blocks": b"describe('a', () => {" * 2_000,
    "deep chain": b"expect(a)" + b".x(" * 10_000,
    "closed again": b"(" * 300 + b")" * 300 + b"\n" + b"{" * 400 + b"}" * 400,
    "rubble": bytes(range(256)) * 400,
    "no UTF-8": b"it('\xff\xfe', () => { expect(a).toBe(1) });\n",
    "long line": b"it('a', () => { expect(a).toBe(" + b"1+" * 20_000 + b"1) });",
    "many": b"it('a', () => { expect(a()).toBe(1) });\n" * 1_000,
    "many attributes": b"#[test]\n" * 5_000 + b"fn a() {}",
    "quotes": b"'\"`" * 8_000,
    "too big": b"it('a', () => { expect(a()).toBe(1) });\n" * 40_000,
    "empty": b"",
}


@pytest.mark.parametrize("path", KINDS)
def test_no_source_raises_or_hangs(path):
    for name, source in HOSTILE.items():
        began = time.process_time()
        read_titles(path, source)
        assert time.process_time() - began < 3, name  # well below one on a machine of one's own


@pytest.mark.parametrize("path", ["a_test.rb", "a", "test.c"])
def test_what_no_reader_knows_is_none(path):
    assert read_titles(path, b"it 'x' do end") is None


def test_kotlin_is_read_by_its_form_and_says_so():
    source = b"class T {\n  @Test\n  fun addsUp() { assertEquals(3, f()) }\n  @Disabled @Test fun later() { f() }\n}\n"
    found = read_titles("T.kt", source).scenarios
    assert list(found) == ["addsUp", "later"]
    assert [each.exact for each in found.values()] == [False, False]
    assert found["later"].skipped.reason
    assert found["addsUp"].strength.asserts
