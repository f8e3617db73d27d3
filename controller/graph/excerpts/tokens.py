"""What a token is to a budget: an estimate that needs no tokenizer.

Text is cut as the tokenizers of language models cut it before they merge bytes: a word with the blank or mark before
it, up to three digits, a run of punctuation, line breaks, blanks. A piece counts as one token, a long or foreign one as
more. `scripts/bench packets` holds the estimate against a real tokenizer.
"""

import re

_PIECE = re.compile(r"[^\r\n\w]?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?=\s|$)|\s+")
_HUMP = re.compile(r"[a-z][A-Z]")

_WORD = 8
"""Letters of a word that is one token; the rest counts by sixes, and every second hump of a CamelCase word counts."""

_FOREIGN = 0.8
"""Tokens a letter of a word that is not ASCII."""


def tokens(text: str) -> int:
    """Return about how many tokens a text is."""
    return round(sum(map(_piece, _PIECE.findall(text))) + 0.499)


def _piece(piece: str) -> float:
    length = len(piece)
    if piece[-1].isalpha():
        if not piece.isascii():
            return max(1.0, length * _FOREIGN)
        return 1 + max(0, length - _WORD) / 6 + len(_HUMP.findall(piece)) / 2
    if length > 2 and not piece.isspace() and not piece[-1].isdigit():  # noqa: PLR2004 - two marks are often one token
        return 1 + (length - 2) / 3
    return 1.0
