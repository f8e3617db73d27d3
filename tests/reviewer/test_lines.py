from reviewer.lines import changed_lines


def test_stretches_of_new_and_changed_lines():
    old = b"a\nb\nc\nd\n"
    assert changed_lines(old, old) == ()
    assert changed_lines(b"", old) == ((1, 4),)
    assert changed_lines(old, b"a\nB\nc\nd\ne\n") == ((2, 2), (5, 5))
    assert changed_lines(old, b"a\nd\n") == ()


def test_long_differences_are_one_stretch():
    old = b"".join(b"%d\n" % n for n in range(20_000))
    new = b"".join(b"%d\n" % (n if n in {0, 19_999} else -n) for n in range(20_000))
    assert changed_lines(old, new) == ((2, 19_999),)
