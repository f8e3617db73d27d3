"""The proofs of new scenarios in words, for reviews."""

from packets.verdict import Verdict


def proof_rows(verdict: Verdict) -> list[str]:
    """Return one line a new scenario: proved or not, how it went on the base, changed lines that it runs."""
    return [proof.text() for proof in verdict.proofs]
