"""New secrets in the diff, by a small list of forms that say of themselves that they are secrets.

High precision before high recall: every pattern has a fixed prefix or frame that its issuer chose. What it cannot see:
passwords without a form, keys cut in pieces or encoded, providers that are not listed, secrets that the base holds
already. A scanner with entropy rules can run as a check of the plan.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error

PATTERNS: dict[str, re.Pattern[bytes]] = {
    name: re.compile(rb"(?<![A-Za-z0-9_])(?:" + form + rb")")
    for name, form in {
        "a private key": rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=:\s-]{64}",
        "an AWS access key": rb"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])",
        "a GitHub token": rb"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
        "a GitLab token": rb"gl(?:pat|oas|dt|rt|ptt|cbt|ft)-[A-Za-z0-9_-]{20,}",
        "a Slack token": rb"xox[abeoprs]-[0-9]{6,}-[A-Za-z0-9-]{16,}",
        "a Slack webhook": rb"https://hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}",
        "a Stripe live key": rb"[sr]k_live_[A-Za-z0-9]{20,}",
        "a Google API key": rb"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
        "an Anthropic key": rb"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{32,}",
        "an OpenAI key": rb"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}",
        "an npm token": rb"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
        "a PyPI token": rb"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}",
        "a SendGrid key": rb"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
        "a Hugging Face token": rb"hf_[A-Za-z]{34}(?![A-Za-z0-9])",
        "a DigitalOcean token": rb"do[opr]_v1_[a-f0-9]{64}",
        "an Azure storage key": rb"AccountKey=[A-Za-z0-9+/]{86}==",
    }.items()
}
_MADE_UP = re.compile(rb"EXAMPLE|example|XXXX|xxxx|0123456789|1234567890|(.)\1{9}")


class SecretsGate:
    """A secret counts as new when no changed file of the base holds it, so that a moved file is no finding."""

    name = "secrets"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "integrity.secret": "the diff adds what has the form of a key, a token or a private key"
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give one finding a file and line; the evidence shows the first characters only."""
        del case
        new = [
            (change.path, data.count(b"\n", 0, start) + 1, what, secret)
            for change, data in evidence.contents("new")
            for what, start, secret in secrets_in(data)
        ]
        if not new:
            return
        known = {secret for _, data in evidence.contents("old") for _, _, secret in secrets_in(data)}
        for path, line, what, secret in new:
            if secret not in known:
                shown = secret[:6].decode("ascii", "replace")
                yield error(
                    "integrity.secret",
                    f"this looks like {what}",
                    path=path,
                    line=line,
                    evidence=f"{shown}… ({len(secret)} characters)",
                    hint="take it out, and treat it as known to others if it is real",
                )


def secrets_in(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Give (what it is, offset, the secret) for everything in `data` that has such a form and is no example."""
    for what, pattern in PATTERNS.items():
        for match in pattern.finditer(data):
            if not _MADE_UP.search(match[0]):
                yield what, match.start(), match[0]
