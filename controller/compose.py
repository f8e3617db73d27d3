"""Compose an ExecutionPacket: everything a worker gets for one attempt, by value, without a model.

The same plan, tree and attempt give the same packet, byte for byte.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from controller.blocks import block
from controller.graph.knowledge import readable
from controller.noted import joined, noted
from packets.errors import UsageError
from packets.packet import (
    AgentChoice,
    Base,
    ExecutionPacket,
    PacketDecisions,
    PacketDeltas,
    VerificationExcerpt,
)
from packets.plan import Module, Plan
from packets.verdict import Finding

if TYPE_CHECKING:
    from controller.graph import Knowledge
    from sandbox.git import Git

TOP_KEY = "execution_packet"


def compose(
    plan: Plan,
    plan_digest: str,
    module: Module,
    *,
    run_id: str,
    wave: int,
    attempt: int,
    base: Base,
    findings: Sequence[Finding],
    delivered: Sequence[str],
    knowledge: "Knowledge",
    git: "Git",
    patch_digest: str = "",
    decisions: PacketDecisions = PacketDecisions(),  # noqa: B008 - a frozen value
) -> ExecutionPacket:
    """Return the stamped packet of one attempt; raises UsageError when the plan names no agent for the module.

    `delivered` says in a line each what earlier modules brought; `decisions` are those of earlier attempts.
    """
    excerpt = knowledge.excerpt(base.tree, plan, module)
    found = noted(git, base.tree, plan, module, excerpt)
    return ExecutionPacket(
        run_id=run_id,
        phase=plan.phase_of(module.id).id,
        wave=wave,
        attempt=attempt,
        base=base,
        plan_digest=plan_digest,
        module_id=module.id,
        purpose=module.purpose,
        write_scope=module.write_scope,
        plan_excerpt=(*module.notes, *map(readable, delivered)),
        graph_excerpt=excerpt,
        verification_excerpt=VerificationExcerpt(
            required_markers=module.verification.required_markers,
            forbidden_markers=module.verification.forbidden_markers,
            module_local_checks=module.verification.module_local_checks,
            proof=module.verification.proof,
            proof_deadline=module.verification.proof_deadline,
        ),
        expected_deltas=PacketDeltas(
            graph=module.expected_deltas.graph, verification=module.expected_deltas.verification
        ),
        decisions=PacketDecisions(
            rationale=joined(found.rationale, decisions.rationale),
            rejected=joined(found.rejected, decisions.rejected),
        ),
        stop_conditions=_stop_conditions(module),
        findings=tuple(map(_readable, findings)),
        limits=plan.limits_of(module),
        agent=_agent(plan, module, patch_digest),
    ).stamped()


def _stop_conditions(module: Module) -> tuple[str, ...]:
    declared = ", ".join(module.depends_on) or "no other module"
    undeclared = f"Code would come to depend on a module that is not declared (declared: {declared})"
    return (
        "A file outside write_scope, or a new module, is needed: stop and report `blocked` with what is missing.",
        f"{undeclared}: stop and report `blocked` with its name.",
        "A check, a marker or an expected delta cannot be met as written: stop and report `blocked` with the reason.",
    )


def _agent(plan: Plan, module: Module, patch_digest: str) -> AgentChoice:
    name = plan.agent_name(module)
    if name is None or name not in plan.agents:
        raise UsageError(
            f"the module {module.id} has no agent" + (f": the plan names no {name!r} in agents" if name else ""),
            "name one: `agent:` of the module, or `defaults: {agent: …}`",
        )
    return AgentChoice(name=name, spec=plan.agents[name], patch_digest=patch_digest)


def _readable(finding: Finding) -> Finding:
    text = ("message", "path", "evidence", "hint")
    return finding.model_copy(update={key: readable(getattr(finding, key)) for key in text})


def to_yaml(packet: ExecutionPacket) -> str:
    """Write a packet: block style, keys in the model's order, one document under `execution_packet`."""
    return block({TOP_KEY: packet.model_dump(mode="json")})


def from_yaml(text: str) -> ExecutionPacket:
    """Read what `to_yaml` wrote; raises UsageError for anything else."""
    import yaml
    from pydantic import ValidationError

    try:
        read = yaml.safe_load(text)
        body = read[TOP_KEY] if isinstance(read, dict) else None
        return ExecutionPacket.model_validate_json(json.dumps(body))
    except (yaml.YAMLError, ValidationError, KeyError, TypeError, ValueError, RecursionError) as fault:
        reason = " ".join(str(fault).split())[:200]
        raise UsageError(f"this is no execution packet: {reason}", "packets are written by `grace packets`") from fault
