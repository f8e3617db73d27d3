"""Proof: a new scenario fails on the sources of the base and passes on the result; told by running it on both."""

from enum import StrEnum

from packets.value import Value

PROOF_DEADLINE = 600
"""Seconds, for all new scenarios of one attempt."""


class ProofLevel(StrEnum):
    """How much the proof of a new scenario counts."""

    REQUIRED = "required"  # what is not proved rejects
    NOTE = "note"  # what is not proved is written down
    OFF = "off"  # nothing is run for it


class Evidence(StrEnum):
    """What a proof rests on."""

    ASSERTION = "assertion"  # on the base an assertion of the test failed
    LINE = "line"  # on the base it failed otherwise; on the result it runs a changed line, and asserts something
    NONE = "none"  # nothing: unproved


class Proof(Value):
    """One new scenario: whether it is proved, by what evidence, and in words how it went on the base and the result.

    `lines` are changed lines that the scenario runs on the result (`app/money.py:12`), a few of them; only runs of
    pytest tell.
    """

    scenario: str
    required: bool
    proved: bool
    evidence: Evidence = Evidence.NONE
    reason: str = ""
    path: str = ""
    line: int = 0
    lines: tuple[str, ...] = ()

    def text(self) -> str:
        """Return one line for people."""
        word = "proved  " if self.proved else "unproved"
        ran = f"; runs {', '.join(self.lines[:3])}" if self.lines else ""
        return f"{word} {self.scenario}: {self.reason}{ran}{'' if self.required or self.proved else ' (a note)'}"


class ScenarioRun(Value):
    """What a runner told of one scenario. `outcome` is passed, failed, skipped, or error (it never began).

    `cause` is the exception with its message; `asserted`: it was an assertion of the test that failed; `lines` are the
    changed lines that it ran, where that was measured.
    """

    id: str
    outcome: str
    cause: str = ""
    asserted: bool = False
    lines: tuple[str, ...] = ()
