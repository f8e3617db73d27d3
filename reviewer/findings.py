"""How gates say what they found: every text is made inert on its way into a Finding."""

from collections.abc import Iterable, Iterator

from packets.verdict import Finding, Severity
from reviewer.inert import inert

MOST = 50
"""At most so many findings of one code; the rest is counted in one more."""


def error(code: str, message: str, *, path: str = "", line: int = 0, evidence: str = "", hint: str = "") -> Finding:
    """Return a finding that rejects."""
    return _finding(Severity.ERROR, code, message, path, line, evidence, hint)


def warning(code: str, message: str, *, path: str = "", line: int = 0, evidence: str = "", hint: str = "") -> Finding:
    """Return a finding that a person should read, and that rejects nothing."""
    return _finding(Severity.WARNING, code, message, path, line, evidence, hint)


def note(code: str, message: str, *, path: str = "", line: int = 0, evidence: str = "", hint: str = "") -> Finding:
    """Return a finding that is only written down."""
    return _finding(Severity.NOTE, code, message, path, line, evidence, hint)


def bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Pass on at most MOST findings of one code, then one that counts what was left out."""
    seen: dict[tuple[str, Severity], int] = {}
    for finding in findings:
        key = (finding.code, finding.severity)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= MOST:
            yield finding
    for (code, severity), count in seen.items():
        if count > MOST:
            yield _finding(severity, code, f"and {count - MOST} more like these", "", 0, "", "")


def _finding(  # noqa: PLR0917 - the fields of a finding, passed on as they are
    severity: Severity, code: str, message: str, path: str, line: int, evidence: str, hint: str
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        message=inert(message),
        path=inert(path),
        line=line,
        evidence=inert(evidence, lines=True),
        hint=inert(hint),
    )
