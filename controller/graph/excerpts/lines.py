"""The lines that matter around a definition, by how they look: what decorates it, what documents it, its fields.

Looks are enough: what is shown is a hint to a reader, and nothing is decided by it.
"""

import re
from collections.abc import Collection, Iterator, Sequence

WIDEST = 100
"""Characters of one line; the rest is cut."""

_FIELDS = 12
_BODY = 400
"""Lines of a class that are looked at."""

_DECORATORS = 4
_COMMENT = re.compile(r"\s*(?:///?!?|/\*\*?|\*/?|#(?!\[|!\[|\s*include|\s*define))\s?(.*?)(?:\*/)?\s*$")
_QUOTES = re.compile(r"""\s*[rRbBuU]{0,2}('''|\"\"\"|'|\")(.*)$""")
_TRIPLE = re.compile(r"'''|\"\"\"")
_ASSIGNED = re.compile(r"[A-Za-z]\w*\s*(?::|=(?!=))")
_OWN = re.compile(r"\s*self\.([A-Za-z]\w*)\s*(?::[^=]+)?=(?!=)")
_NO_FIELD = re.compile(r"[})\]]|//|/?\*|#(?!\[)|@|(?:public|protected)\s*:|(?:private|return|if|for|while|else)\b")
_STRINGS = re.compile(r"""\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|//.*|/\*.*?\*/""")


def cut(text: str, widest: int = WIDEST) -> str:
    """Return the text within so many characters."""
    return text if len(text) <= widest else text[: widest - 1].rstrip() + "…"


def decorators(lines: Sequence[str], line: int) -> list[str]:
    """Return decorators, annotations or attributes that stand one a line right above a definition's line."""
    found: list[str] = []
    for text in reversed(lines[max(0, line - 1 - _DECORATORS) : line - 1]):
        bare = text.strip()
        if not bare.startswith(("@", "#[")):
            break
        found.append(cut(bare))
    return found[::-1]


def documented(lines: Sequence[str], line: int, family: str) -> str:
    """Return the first line of what documents a definition; empty where nothing does."""
    return cut(_docstring(lines, line) if family == "python" else _above(lines, line))


def _docstring(lines: Sequence[str], line: int) -> str:
    depth = 0
    for number in range(line - 1, min(len(lines), line + 40)):
        bare = _STRINGS.sub("", lines[number].partition(" #")[0])
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        if depth <= 0 and bare.rstrip().endswith(":"):
            following = (text for text in lines[number + 1 : number + 4] if text.strip())
            return _quoted(next(following, ""), lines[number + 1 : number + 5])
    return ""


def _quoted(text: str, more: Sequence[str]) -> str:
    match = _QUOTES.match(text)
    if not match:
        return ""
    first = match[2].partition(match[1])[0].strip()
    if first or len(match[1]) == 1:
        return first
    after = [each.strip() for each in more]
    at = after.index(text.strip()) + 1 if text.strip() in after else len(after)
    return after[at].partition(match[1])[0].strip() if at < len(after) else ""


def _above(lines: Sequence[str], line: int) -> str:
    """Find the first line that says something in the comment that ends above a definition and its attributes."""
    at = min(line, len(lines) + 1) - 2
    while at >= 0 and lines[at].strip().startswith(("@", "#[")):
        at -= 1
    found = ""
    while at >= 0 and (match := _COMMENT.fullmatch(lines[at])):
        found = match[1].strip() or found
        if lines[at].strip().startswith("/*"):
            break
        at -= 1
    return found


def fields(lines: Sequence[str], line: int, family: str, taken: Collection[int]) -> list[str]:
    """Return the fields of a class, as written; `taken` are lines of definitions that are shown by themselves."""
    found = _indented(lines, line) if family == "python" else _braced(lines, line, taken)
    return [cut(text) for _, text in zip(range(_FIELDS), found, strict=False)]


def _indented(lines: Sequence[str], line: int) -> Iterator[str]:
    """Yield what is assigned in the body of a class, or else what its `__init__` gives to self."""
    body = _body(lines, line)
    depth = min((len(text) - len(text.lstrip()) for text in body), default=0)
    own = [text.strip() for text in body if len(text) - len(text.lstrip()) == depth and _ASSIGNED.match(text.strip())]
    if own:
        yield from own
        return
    seen: set[str] = set()
    inside = False
    for text in body:
        if len(text) - len(text.lstrip()) == depth:
            inside = text.strip().startswith("def __init__")
        elif inside and (match := _OWN.match(text)) and match[1] not in seen:
            seen.add(match[1])
            yield text.strip()


def _body(lines: Sequence[str], line: int) -> list[str]:
    """Return the lines of an indented body, without blank ones, comments, and the lines of long strings."""
    start = lines[line - 1] if line <= len(lines) else ""
    outer, body, quote = len(start) - len(start.lstrip()), [], ""
    for text in lines[line : line + _BODY]:
        bare = text.strip()
        if quote:
            quote = "" if quote in bare else quote
            continue
        if not bare or bare.startswith("#"):
            continue
        if len(text) - len(text.lstrip()) <= outer and not bare.startswith(")"):
            break
        marks = _TRIPLE.findall(bare)
        quote = marks[0] if len(marks) % 2 else ""
        if not marks and not bare.startswith(")"):
            body.append(text)
    return body


def _braced(lines: Sequence[str], line: int, taken: Collection[int]) -> Iterator[str]:
    """Yield the lines that stand right inside the braces that open at a definition."""
    depth, opened = 0, False
    for number, text in enumerate(lines[line - 1 : line - 1 + _BODY], line):
        bare = _STRINGS.sub("", text).strip()
        if (
            opened
            and depth == 1
            and number not in taken
            and bare
            and not _NO_FIELD.match(bare)
            and bare[-1] not in "{("
        ):
            yield text.strip()
        depth += bare.count("{") - bare.count("}")
        opened = opened or "{" in bare
        if (opened and depth <= 0) or (not opened and bare.endswith(";")):
            return
