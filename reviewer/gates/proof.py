"""A new scenario fails on the base and passes on the result: a test that is green either way shows nothing."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence
from reviewer.findings import error, note


class ProofGate:
    """Tries the new tests on the sources of the base, in a fresh sandbox; runs nothing where there is nothing new."""

    name = "proof"
    costly = True
    codes: ClassVar[Mapping[str, str]] = {
        "verification.unproved": "a new scenario does not fail on the base, or only in a way that proves nothing",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give one finding a scenario that is not proved: an error where the plan requires it."""
        del case
        for proof in evidence.proofs:
            if proof.proved:
                continue
            say = error if proof.required else note
            yield say(
                "verification.unproved",
                f"{proof.scenario}: {proof.reason}",
                path=proof.path,
                line=proof.line,
                hint="on the sources of the base an assertion of it has to fail: assert what is new, and nothing that"
                " was so before; the plan can lower it by `proof: note`"
                if proof.required
                else "",
            )
