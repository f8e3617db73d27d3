"""Languages without a grammar here (Kotlin, Scala, Groovy): tests by their form, a start and its brackets.

Not a parser: enough to see that a test is gone, skipped or asserts less. Whether it says something else is only a hint,
since a literal or a macro can hide a bracket.
"""

import hashlib
import re

from reviewer.assertions import NO_SKIP, Skip, Strength
from reviewer.scenarios import Scenario, TestFile

_START = re.compile(
    r"(?:@\w+(?:\([^()]*\))?\s+)*@(?:Test|ParameterizedTest|RepeatedTest)\b(?:\([^()]*\))?\s+"
    r"(?:@\w+(?:\([^()]*\))?\s+)*(?:[\w<>\[\],.?]+\s+)*(?P<name>\w+|`[^`]+`)\s*(?=\()"
)
_ASSERTING = re.compile(r"\b(?:assert|verify|expect)\w*\s*\(|\.should\w*\(")
_SKIP = re.compile(r"@(?:Disabled|Ignore)|enabled\s*=\s*false")
_BODY_SKIP = re.compile(r"\bassume\w*\(")
_SPACE = re.compile(r"\s+|,(?=\s*[)\]}])|;")
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[(){}\[\]]", re.DOTALL
)
_OPEN, _CLOSE = "([{", ")]}"
_MOST = 1 << 20


def read_text(path: str, source: bytes) -> TestFile | None:
    """Read one file; None where no test is found in it."""
    if len(source) > _MOST:
        return None
    text = source.decode("utf-8", "replace")
    found = TestFile()
    for match in _START.finditer(text):
        name, number = match["name"].strip("`"), 1
        while (key := name if number == 1 else f"{name} #{number}") in found.scenarios:
            number += 1
        found.scenarios[key] = _scenario(path, key, text, match)
    return found if found.scenarios else None


def _scenario(path: str, name: str, text: str, match: re.Match[str]) -> Scenario:
    body = _without_comments(text[match.end() : _end(text, match.end())])
    asserts = tuple(sorted(line.strip() for line in body.splitlines() if _ASSERTING.search(line)))
    skip = NO_SKIP
    if found := _SKIP.search(match[0]):
        skip = Skip(found[0])
    elif found := _BODY_SKIP.search(body):
        skip = Skip(found[0], conditional=True)
    mark = hashlib.sha256(_SPACE.sub("", body).encode()).hexdigest()
    line = text.count("\n", 0, match.start("name")) + 1
    return Scenario(path, name, line, mark, mark, Strength(asserts), skip, exact=False)


def _end(text: str, start: int) -> int:
    """Return where the first `{…}` after `start` is closed again."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        char = token[0]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if depth <= 0 and char == "}":
                return token.end()
    return len(text)


def _without_comments(text: str) -> str:
    return _TOKEN.sub(lambda m: "" if m[0].startswith(("//", "/*")) else m[0], text)
