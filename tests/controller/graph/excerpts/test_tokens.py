from itertools import pairwise

import pytest

from controller.graph.excerpts.tokens import tokens


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("", 0),
        ("def add(self, other: Money) -> Money", 11),
        ("    return total", 3),
        ("2024", 2),
        ("CouponStackingPolicy", 4),
        ("größer", 5),
        ("x" * 80, 13),
        ("=" * 41, 14),
        ("a\n\n\nb", 3),
    ],
)
def test_a_text_counts_about_as_tokenizers_count_it(text: str, counted: int) -> None:
    assert tokens(text) == counted


def test_more_text_is_never_fewer_tokens() -> None:
    text = "class Money(Value):  # größer als 12345 <=> snake_case_and_CamelCase\n\n\tcents: int = 0\n"
    counts = [tokens(text[:end]) for end in range(len(text))]
    assert all(later >= before - 1 for before, later in pairwise(counts))
    assert counts[-1] > 20


def test_a_hostile_text_is_counted_quickly() -> None:
    for piece in ("a", " ", "\n", "_", "1", "é", " \n", "{ "):
        assert tokens(piece * 200_000) >= 1
