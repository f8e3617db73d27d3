"""Text from foreign code is made inert before it is shown or stored: no escapes, no bidi, no invisible characters."""

import re
import unicodedata

# Cc controls (ANSI escapes begin with one), Cf formats (bidi overrides, zero width, tags), Cs lone surrogates,
# Co private use, Zl and Zp line separators that terminals and YAML take for a line's end.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_LIMIT = 2000
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m|\r(?=\n)")


def inert(text: str, *, limit: int = _LIMIT, lines: bool = False) -> str:
    r"""Return at most `limit` characters of `text`, hidden ones written out (`\x1b`).

    If `lines`, it is a program's output: newlines are kept, and colours are left out.
    """
    if lines:
        text = _COLOUR.sub("", text)
    if len(text) > limit:
        text = text[:limit] + "…"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(char, lines=lines) for char in text)


def _visible(char: str, *, lines: bool) -> str:
    if char == "\t" or (lines and char == "\n"):
        return char
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # noqa: PLR2004 - a byte that is no UTF-8, as surrogateescape keeps it
        return f"\\x{code - 0xDC00:02x}"
    if char in "\n\r":
        return {"\n": "\\n", "\r": "\\r"}[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004
