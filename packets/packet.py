"""The ExecutionPacket: all that a worker gets for one attempt at one module."""

import hashlib
import json
from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from packets.agent import Agent
from packets.limits import Limits
from packets.proof import PROOF_DEADLINE, ProofLevel
from packets.value import Value
from packets.verdict import Finding


class Base(Value):
    """Where the attempt starts."""

    commit: str
    tree: str


class _Brief(Value):
    """What is empty is left out where it is written: a packet has many of these."""

    @model_serializer(mode="wrap")
    def _without_empty(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        return {key: value for key, value in written.items() if value != ""}


class Surface(_Brief):
    """A symbol, or a file, that the module uses or is likely to need: `at` is path:line.

    `lines` are those that matter as they stand in the source: of a symbol its decorators, the first line of its
    documentation, fields and public methods; of a file the signatures of what it defines, members indented.
    """

    symbol: str
    at: str
    signature: str = ""
    lines: str = ""


class Dependent(_Brief):
    """Somebody who uses the module, and the line of code that does."""

    symbol: str
    at: str
    code: str = ""


class GraphExcerpt(Value):
    """What the module stands on, and who stands on it, nearest first."""

    depends_on: tuple[str, ...] = ()
    surface: tuple[Surface, ...] = ()
    dependents: tuple[Dependent, ...] = ()


class VerificationExcerpt(Value):
    """How the attempt will be judged."""

    required_markers: tuple[str, ...] = ()
    forbidden_markers: tuple[str, ...] = ()
    module_local_checks: tuple[str, ...] = ()
    proof: ProofLevel | None = None
    proof_deadline: int = PROOF_DEADLINE


class PacketDeltas(Value):
    """The plan's expectations, as written."""

    graph: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()


class PacketDecisions(Value):
    """@RATIONALE and @REJECTED notes near the scope, and those of earlier attempts."""

    rationale: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()


class AgentChoice(Value):
    """The agent by name, with all that defines it (`patch_digest`: sha256 of the patch file)."""

    name: str
    spec: Agent
    patch_digest: str = ""


class ExecutionPacket(Value):
    """Immutable and digest-stamped. Same plan, tree and attempt give the same `packet_id`."""

    packet_id: str = ""
    run_id: str
    phase: str
    wave: int
    attempt: int
    base: Base
    plan_digest: str
    module_id: str
    purpose: str
    write_scope: tuple[str, ...]
    plan_excerpt: tuple[str, ...] = ()
    graph_excerpt: GraphExcerpt = GraphExcerpt()
    verification_excerpt: VerificationExcerpt = VerificationExcerpt()
    expected_deltas: PacketDeltas = PacketDeltas()
    decisions: PacketDecisions = PacketDecisions()
    stop_conditions: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: Limits = Limits()
    agent: AgentChoice

    def digest(self) -> str:
        """Return sha256 of the canonical form without packet_id, run_id and base.commit."""
        body = self.model_dump(mode="json", exclude={"packet_id": True, "run_id": True, "base": {"commit"}})
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    def stamped(self) -> "ExecutionPacket":
        """Return the packet with its digest as `packet_id`."""
        return self.model_copy(update={"packet_id": self.digest()})

    @property
    def is_genuine(self) -> bool:
        """True when `packet_id` is the digest of what the packet says."""
        return self.packet_id == self.digest()
