"""What edits the code in a sandbox, as the plan names it."""

from typing import Annotated, Literal

from pydantic import Field

from packets.value import Value


class CommandAgent(Value):
    """Any program of the image or the repository, run without a shell at the repository's root."""

    kind: Literal["command"]
    run: tuple[str, ...] = Field(min_length=1)
    env: dict[str, str] = Field(default_factory=dict)


class PatchAgent(Value):
    """A unified diff (git's, binary too), relative to the plan file. Ships as a product part: gold patches, tests."""

    kind: Literal["patch"]
    patch: str = Field(min_length=1)


Agent = Annotated[CommandAgent | PatchAgent, Field(discriminator="kind")]
