"""From the plan's words to an agent."""

from pathlib import Path

from packets.agent import PatchAgent
from packets.errors import GraceError
from packets.packet import ExecutionPacket
from worker.agents.command import Command
from worker.agents.patch import Patch
from worker.agents.protocol import Agent


def agent_for(packet: ExecutionPacket, patch: Path | None) -> Agent:
    """Return the packet's agent; `patch` is the patch agent's file. Raises UsageError for one that cannot be read."""
    choice = packet.agent
    if isinstance(choice.spec, PatchAgent):
        if patch is None:
            raise GraceError(f"the patch agent {choice.name!r} was given no patch file")
        return Patch.read(patch, choice.patch_digest)
    return Command(choice.spec.run, dict(choice.spec.env))
