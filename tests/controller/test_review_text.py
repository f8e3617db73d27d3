"""A review in words."""

from controller.review_text import _finding
from packets.verdict import Finding, Severity


class Verdict:
    def __init__(self, **facts):
        self.findings = [Finding(code="worker.exit", severity=Severity.ERROR, message="gone", **facts)]


def test_evidence_of_many_lines_stays_below_its_finding():
    """What a stranger printed can then not look like a line of the review."""
    text = _finding(Verdict(evidence="\none\n\n  checks:\n", hint="look"), 0)
    assert text.splitlines() == [
        "error   worker.exit: gone",
        "            one",
        "",
        "              checks:",
        "            hint: look",
    ]
    assert _finding(Verdict(), 0) == "error   worker.exit: gone"
