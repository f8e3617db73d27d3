"""The command agent: any program of the image or of the repository."""

from dataclasses import dataclass, field

from packets.packet import ExecutionPacket
from sandbox.git import Git


@dataclass(frozen=True)
class Command:
    """Runs as the plan wrote it."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def refusal(self, packet: ExecutionPacket, git: Git) -> str:
        """Refuse nothing: what a program will do is not known before it runs."""
        del packet, git
        return ""
