"""What C and C++ look like before a parser sees them: which of the two a header is, and macros that no grammar reads.

Bytes are blanked, never moved, so that places stay true.
"""

import re

_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_CPP = re.compile(
    rb"^[ \t]*(?:template[ \t]*<|namespace[ \t]+[\w:]+\s*\{|namespace\s*\{|inline[ \t]+namespace\b|enum[ \t]+class\b"
    rb"|using[ \t]+(?:namespace[ \t]+)?\w+(?:::|\s*[=;])|(?:public|private|protected)[ \t]*(?:\w+[ \t]*)?:(?!:)"
    rb"|class[ \t]+\w[\w \t]*(?:[:{;]|$)|(?:explicit|virtual|constexpr|friend)[ \t])"
    rb"|\b\w+::~?\w|\boperator[ \t]*[-+*/=<>!\[(]|^#[ \t]*include[ \t]*<[a-z_]+>",
    re.MULTILINE,
)
_IN_CPP = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def)?[ \t]+(?:defined[ \t]*\(?[ \t]*)?__cplusplus\b[^\n]*\n"
    rb"(?:(?![ \t]*#[ \t]*if)[^\n]*\n){0,400}?[ \t]*#[ \t]*endif",
    re.MULTILINE,
)
_LINKAGE = re.compile(rb"extern\s+\"C\"\s*\{|^[ \t]*\}[ \t]*;?", re.MULTILINE)
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)


def is_cpp(source: bytes) -> bool:
    """Tell whether a header needs C++, by what stands outside of comments."""
    return bool(_CPP.search(_COMMENT.sub(b" ", source)))


def plain(source: bytes) -> bytes:
    """Blank what misleads a parser unnoticed: `class EXPORT Name {`, `extern "C" {` between directives of its own."""
    source = _DECORATED.sub(_blank_first, source)
    return _IN_CPP.sub(_without_linkage, source) if b"__cplusplus" in source else source


def _without_linkage(found: "re.Match[bytes]") -> bytes:
    text = found[0]
    inside = _DIRECTIVE.sub(b"", _COMMENT_ONLY.sub(b"", text))
    if _LINKAGE.sub(b"", inside).strip():
        return text
    return _LINKAGE.sub(lambda each: _blank(each[0]), text)


_COMMENT_ONLY = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)

_MACRO = rb"[A-Z][A-Z0-9_]{2,}"
_CALLED = rb"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))"
_DECORATED = re.compile(
    rb"\b(?:class|struct|union)[ \t]+(" + _MACRO + _CALLED + rb"?)(?=\s+[A-Za-z_]\w*(?:::\w+)*\s*(?:final\s*)?[:{])"
)
_ALONE = re.compile(rb"^[ \t]*(" + _MACRO + _CALLED + rb"?)[ \t]*$(?=\n)", re.MULTILINE)
_PREFIX = re.compile(
    rb"^[ \t]*(?:(?:extern|static|inline)[ \t]+)*("
    + _MACRO
    + rb"(?:\([^()\n]*\))?)(?=[ \t]+(?:\w+[ \t*&]+)+\(?\w+\)?[ \t]*\()",
    re.MULTILINE,
)
_BETWEEN = re.compile(
    rb"^[ \t]*[a-z]\w*(?:[ \t]+\w+)*[ \t*&]+(" + _MACRO + rb")(?=[ \t]+[a-z_]\w*[ \t]*\()", re.MULTILINE
)
_SUFFIX = re.compile(rb"\)[ \t\n]*(" + _MACRO + _CALLED + rb"?)(?=\s*(?:[;{]|:(?!:)))")
_ATTACHED = re.compile(rb"\b(" + _MACRO + _CALLED + rb")(?=\s*[;={])")
_NAME_BEFORE = re.compile(rb"(?:\b([A-Za-z_]\w*)|\])\s+\Z")
_WORDS = frozenset((b"return", b"else", b"do", b"throw", b"case", b"goto", b"co_return", b"co_yield"))
_HEADED = re.compile(rb"(?:,|\{|=|\||&|\(|\+|\\)[ \t]*\Z")


def without_macros(source: bytes) -> bytes:
    """Blank macros in capitals where no grammar takes them: between `class` and its name, alone, around a prototype."""
    for pattern in (_PREFIX, _BETWEEN, _SUFFIX):
        source = pattern.sub(_blank_first, source)
    source = _ATTACHED.sub(lambda found: _blank(found[0]) if _follows_name(source, found.start()) else found[0], source)
    return _ALONE.sub(lambda found: found[0] if _goes_on(source, found.start()) else _blank(found[0]), source)


def _follows_name(source: bytes, at: int) -> bool:
    """Tell whether a name that is declared stands before: `int value GUARDED_BY(lock);`."""
    before = _NAME_BEFORE.search(source, max(0, at - 100), at)
    return before is not None and before[1] not in _WORDS


def _goes_on(source: bytes, at: int) -> bool:
    """Tell whether the line before is an expression or a list that is not at its end."""
    before = source[max(0, at - 200) : at].rstrip()
    return bool(_HEADED.search(before))


def _blank_first(found: "re.Match[bytes]") -> bytes:
    start, end = found.start(1) - found.start(), found.end(1) - found.start()
    return found[0][:start] + _blank(found[1]) + found[0][end:]


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", text)


_NESTED = 20
"""Branches inside branches that are looked at."""

_BRANCH = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)


def first_branches(source: bytes) -> bytes:
    """Leave but the first of some branches where they do not balance their braces.

    A statement that begins in two branches and goes on behind them is no syntax until one of them is gone.
    """
    opened: list[list[int]] = []
    blanks: list[tuple[int, int]] = []
    for found in _BRANCH.finditer(source):
        word = found[1]
        if word.startswith(b"if"):
            opened.append([found.start(), found.end()])
        elif opened and word in (b"elif", b"else"):
            opened[-1] += [found.start(), found.end()]
        elif opened:
            marks = [*opened.pop(), found.start(), found.end()]
            parts = list(zip(marks[1:-1:2], marks[2::2], strict=True))
            if len(opened) < _NESTED and any(_braces(source[start:end]) for start, end in parts):
                blanks += [(marks[0], parts[0][0]), (parts[0][1], found.end())]
    text = bytearray(source)
    for start, end in blanks:
        text[start:end] = _blank(source[start:end])
    return bytes(text)


def _braces(text: bytes) -> int:
    bare = _COMMENT.sub(b"", text)
    return bare.count(b"{") - bare.count(b"}")
