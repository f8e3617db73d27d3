import pytest

from reviewer.inert import inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 🎉", "plain é 漢 🎉"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x7f\x9b", "a\\x00b\\x7f\\x9b"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("line\u2028end\u2029", "line\\u2028end\\u2029"),
        ("caf\udce9", "caf\\xe9"),
        ("one\r\ntwo\ttab", "one\\r\\ntwo\ttab"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_hidden_is_written_out(text, shown):
    assert inert(text) == shown
    inert(text).encode()


def test_lines_may_stay_and_length_is_bounded():
    assert inert("a\nb\x07", lines=True) == "a\nb\\x07"
    assert inert("\x1b[1;32mgreen\x1b[0m\r\n\x1b[2J", lines=True) == "green\n\\x1b[2J"
    assert inert("x" * 5000) == "x" * 2000 + "…"
