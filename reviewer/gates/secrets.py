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
from reviewer.findings import MOST, error

_FORMS: tuple[tuple[str, str, bytes], ...] = (
    ("a private key", "-----BEGIN ", rb"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=:\s-]{64}"),
    ("an AWS access key", "AKIA ASIA ABIA ACCA", rb"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rb"[A-Za-z0-9]{36,}"),
    ("a GitHub token", "github_pat_", rb"[A-Za-z0-9_]{60,}"),
    ("a GitLab token", "glpat- gloas- gldt- glrt- glptt- glcbt- glft-", rb"[A-Za-z0-9_-]{20,}"),
    ("a Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", rb"[0-9]{6,}-[A-Za-z0-9-]{16,}"),
    ("a Slack webhook", "https://hooks.slack.com/services/T", rb"[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"),
    ("a Stripe live key", "sk_live_ rk_live_", rb"[A-Za-z0-9]{20,}"),
    ("a Google API key", "AIza", rb"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("an Anthropic key", "sk-ant-", rb"[a-z0-9]+-[A-Za-z0-9_-]{32,}"),
    ("an OpenAI key", "sk-", rb"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,100}T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    ("an npm token", "npm_", rb"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("a PyPI token", "pypi-AgEIcHlwaS5vcmc", rb"[A-Za-z0-9_-]{50,}"),
    ("a SendGrid key", "SG.", rb"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("a Hugging Face token", "hf_", rb"[A-Za-z]{34}(?![A-Za-z0-9])"),
    ("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rb"[a-f0-9]{64}"),
    ("an Azure storage key", "AccountKey=", rb"[A-Za-z0-9+/]{86}=="),
)
"""What it is, how it begins, how it goes on. Nothing here may look far ahead in vain: workers choose what is read."""


def _starts(words: str) -> list[bytes]:
    return [words.encode()] if words.endswith(" ") else words.encode().split()


PATTERNS: tuple[tuple[str, bytes, re.Pattern[bytes]], ...] = tuple(
    (what, start, re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(start) + form))
    for what, words, form in _FORMS
    for start in _starts(words)
)
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
        known: set[bytes] | None = None
        for change, data in evidence.contents("new"):
            if len(data) > case.sizes.one:  # it is rejected for its size
                continue
            told = 0
            for what, start, secret in secrets_in(data):
                if known is None:
                    known = {each for _, old in evidence.contents("old") for _, _, each in secrets_in(old)}
                if secret in known:
                    continue
                yield _finding(change.path, data.count(b"\n", 0, start) + 1, what, secret)
                told += 1
                if told == MOST:  # a file full of them is not read to its end
                    break


def _finding(path: str, line: int, what: str, secret: bytes) -> Finding:
    return error(
        "integrity.secret",
        f"this looks like {what}",
        path=path,
        line=line,
        evidence=f"{secret[:6].decode('ascii', 'replace')}… ({len(secret)} characters)",
        hint="take it out, and treat it as known to others if it is real",
    )


def secrets_in(data: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Give (what it is, offset, the secret) for everything in `data` that has such a form and is no example."""
    for what, start, pattern in PATTERNS:
        at = data.find(start)  # a pattern alone would read slowly through what cannot match anywhere
        while at >= 0:
            match = pattern.match(data, at)
            if match and not _MADE_UP.search(match[0]):
                yield what, at, match[0]
            at = data.find(start, match.end() if match else at + len(start))
