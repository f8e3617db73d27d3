"""What the reviewer is handed: a packet, what became of it, and the few functions that reach outside this room."""

from collections.abc import Callable
from dataclasses import dataclass

from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.outcome import AttemptOutcome
from packets.packet import ExecutionPacket
from packets.verdict import CheckResult
from reviewer.proving import Trial, Tried
from sandbox.git import Git

Compare = Callable[[GraphDelta], GraphReport]
"""Claimed delta in, report of expected, claimed and actual between base tree and head tree out."""

Check = Callable[[str, tuple[str, ...]], tuple[CheckResult, ...]]
"""Tree id and commands in, one result a command out, in order."""

Prove = Callable[[Trial], Tried]
"""What is to be tried in; what came of it on the base and on the result out."""

Protected = Callable[[str], str | None]
"""Path in, reason out if a plan must name that very file before anybody may change it."""


@dataclass(frozen=True)
class Sizes:
    """Bytes. `one` bounds a file, `all` bounds what one attempt adds."""

    one: int = 10 << 20
    all: int = 50 << 20


@dataclass(frozen=True)
class Case:
    """One attempt to be judged. `git` is read only here.

    `without` is the tree that the module's work is compared with: the base without what the module itself has on it
    already, where it was woken; empty: the base as it is.
    """

    packet: ExecutionPacket
    outcome: AttemptOutcome
    git: Git
    compare: Compare
    check: Check
    prove: Prove
    protected: Protected
    sizes: Sizes = Sizes()
    without: str = ""

    @property
    def before(self) -> str:
        """Return the tree that has nothing of the module's work."""
        return self.without or self.packet.base.tree
