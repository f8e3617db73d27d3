"""The Gate protocol: one thing that the reviewer looks at."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Protocol

from packets.verdict import Finding
from reviewer.case import Case
from reviewer.evidence import Evidence


class Gate(Protocol):
    """Judges one case from shared evidence and says what it found; it changes nothing.

    1. `name` is stable and unique; `codes` lists every code it may use, each with its meaning in one line.
    2. Gates run in the order of `reviewer.registry.GATES`. A `costly` one runs only while no error has been found.
    3. An empty answer is a pass. Raising is a failed gate: `<name>.broken`.
    """

    name: str
    costly: bool
    codes: ClassVar[Mapping[str, str]]

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Return findings, most telling first."""
