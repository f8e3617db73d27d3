"""What an agent is to an attempt."""

from collections.abc import Mapping
from typing import Protocol

from packets.packet import ExecutionPacket
from sandbox.git import Git


class Agent(Protocol):
    """An agent is what runs in the sandbox, and a look at it before anything is made.

    1. `refusal` is asked first: a text ends the attempt with nothing written, "" lets it go on.
    2. `files` are placed in /grace/in, read-only; names are plain.
    3. `argv` runs without a shell at /repo, with `env` besides the GRACE_* variables.
    """

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments."""

    @property
    def env(self) -> Mapping[str, str]:
        """Its environment."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """Its files, by name."""

    def refusal(self, packet: ExecutionPacket, git: Git) -> str:
        """Say why this agent will not work on this packet, or ""."""
