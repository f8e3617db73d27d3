"""What a run would do first, without creating anything."""

import hashlib
from pathlib import Path

from controller.compose import compose
from controller.graph import Knowledge
from controller.plan.places import LoadedPlan
from controller.plan.waves import waves
from packets.agent import PatchAgent
from packets.packet import Base, ExecutionPacket
from packets.plan import Module, Plan
from sandbox.git import Git
from sandbox.scratch import scratch


def _patch_digest(plan: Plan, module: Module, folder: Path) -> str:
    agent = plan.agents[plan.agent_name(module) or ""]
    if not isinstance(agent, PatchAgent):
        return ""
    return "sha256:" + hashlib.sha256((folder / agent.patch).read_bytes()).hexdigest()


def first_packets(git: Git, loaded: LoadedPlan, commit: str) -> list[ExecutionPacket]:
    """Return the packets of the first wave as a run would issue them."""
    plan = loaded.plan
    first = waves(plan)[0]
    base = Base(commit=commit, tree=git.tree(commit))
    with scratch("preview") as folder:
        knowledge = Knowledge(git, folder / "facts.db")
        return [
            compose(
                plan, loaded.digest, plan.module(name), run_id="dry-run", wave=first.number, attempt=1,
                base=base, findings=(), delivered=(), knowledge=knowledge, git=git,
                patch_digest=_patch_digest(plan, plan.module(name), loaded.path.resolve().parent),
            )
            for name in first.modules
        ]  # fmt: skip
