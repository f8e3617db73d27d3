"""Scenarios of test files in other languages, read by their form: a start that names the test, and its brackets.

Not a parser: enough to see that a test is gone, skipped or asserts less. Whether it says something else is only a hint
here, since a regular expression literal or a macro can hide a bracket.
"""

import hashlib
import re
from typing import NamedTuple

from reviewer.assertions import NO_SKIP, Skip, Strength
from reviewer.scenarios import Scenario, TestFile


class _Form(NamedTuple):
    """`start` names the test (group `name`) and ends before the bracket that holds its body; `skip` is in the start."""

    start: re.Pattern[str]
    asserting: re.Pattern[str]
    skip: re.Pattern[str]
    body_skip: re.Pattern[str]


_NEVER = re.compile(r"(?!)")
_SCRIPT = _Form(
    re.compile(
        r"(?<![\w.$])(?:[xf]?it|[xf]?test|xspecify|specify)(?:\.\w+)*(?=\()\(\s*"
        r"(?P<quote>['\"`])(?P<name>(?:\\.|(?!(?P=quote)).)+)(?P=quote)"
    ),
    re.compile(r"\b(?:expect|assert)\w*\b\s*[.(]|\.should\b|\bt\.(?:is|not|deepEqual|true|false|throws)\("),
    re.compile(r"^x|\.(?:skip|todo|failing|fails|skipIf)\b"),
    re.compile(r"\b(?:this|ctx|context|t)\.skip\("),
)
_GO = _Form(
    re.compile(r"(?m)^func\s+(?P<name>(?:Test|Fuzz|Example)\w*)\s*(?=\()"),
    re.compile(r"\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.\w+\("),
    _NEVER,
    re.compile(r"\b\w+\.(?:Skip|Skipf|SkipNow)\("),
)
_RUST = _Form(
    re.compile(r"#\[(?:\w+::)*test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(?P<name>\w+)\s*(?=\()"),
    re.compile(r"\b(?:assert|debug_assert)\w*!|\bpanic!|\.unwrap\(\)|\.expect\("),
    re.compile(r"#\[(?:ignore|should_panic)"),
    _NEVER,
)
_JAVA = _Form(
    re.compile(r"(?:@\w+(?:\([^()]*\))?\s+)*@(?:Test|ParameterizedTest|RepeatedTest)\b(?:\([^()]*\))?\s+"
               r"(?:@\w+(?:\([^()]*\))?\s+)*(?:[\w<>\[\],.?]+\s+)*(?P<name>\w+|`[^`]+`)\s*(?=\()"),
    re.compile(r"\b(?:assert|verify|expect)\w*\s*\(|\.should\w*\("),
    re.compile(r"@(?:Disabled|Ignore)|enabled\s*=\s*false"),
    re.compile(r"\bassume\w*\("),
)  # fmt: skip
_FORMS = {
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"), _SCRIPT),
    "go": _GO,
    "rs": _RUST,
    **dict.fromkeys(("java", "kt", "kts", "scala", "groovy"), _JAVA),
}
_SPACE = re.compile(r"\s+|,(?=\s*[)\]}])|;")
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[(){}\[\]]", re.DOTALL
)
_OPEN, _CLOSE = "([{", ")]}"


def read_titles(path: str, source: bytes) -> TestFile | None:
    """Read one file; None where the language is not known or no test is found in it."""
    form = _FORMS.get(path.rpartition(".")[2].lower())
    if form is None:
        return None
    text = source.decode("utf-8", "replace")
    found = TestFile()
    for match in form.start.finditer(text):
        name = match["name"].strip("`") if form is not _SCRIPT else re.sub(r"\\(.)", r"\1", match["name"])
        number = 1
        while (key := name if number == 1 else f"{name} #{number}") in found.scenarios:
            number += 1
        found.scenarios[key] = _scenario(path, key, text, match, form)
    return found if found.scenarios else None


def _scenario(path: str, name: str, text: str, match: re.Match[str], form: _Form) -> Scenario:
    # A script's test is one call, whose bracket stands within the start; elsewhere the body follows the parameters.
    inside = form is _SCRIPT
    body = _without_comments(text[match.end() : _end(text, match.end(), inside=inside)])
    asserts = tuple(sorted(line.strip() for line in body.splitlines() if form.asserting.search(line)))
    skip = NO_SKIP
    if found := form.skip.search(match[0]):
        skip = Skip(found[0], "skipIf" in found[0])
    elif found := form.body_skip.search(body):
        skip = Skip(found[0], conditional=True)
    mark = hashlib.sha256(_SPACE.sub("", body).encode()).hexdigest()
    line = text.count("\n", 0, match.start("name")) + 1
    return Scenario(path, name, line, digest=mark, wording=mark, strength=Strength(asserts), skipped=skip)


def _end(text: str, start: int, *, inside: bool) -> int:
    """Return where the brackets are closed again: those around `start`, or the first `{…}` after it."""
    depth = int(inside)
    for token in _TOKEN.finditer(text, start):
        char = token[0]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            if depth <= 0 and (inside or char == "}"):
                return token.end()
    return len(text)


def _without_comments(text: str) -> str:
    return _TOKEN.sub(lambda m: "" if m[0].startswith(("//", "/*")) else m[0], text)
