"""What edits the code in a sandbox, as the plan names it."""

from typing import Annotated, Literal

from pydantic import Field

from packets.value import Value


class CommandAgent(Value):
    """Any program of the image or the repository, run without a shell at the repository's root."""

    kind: Literal["command"] = Field(description="A program that edits the tree.")
    run: tuple[str, ...] = Field(
        min_length=1,
        description="The program and its arguments; no shell reads them.",
        examples=[["python3", "tools/fix.py"]],
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="Environment variables for it; nothing of the host's environment goes in.",
    )


class PatchAgent(Value):
    """A unified diff (git's, binary too), relative to the plan file. Ships as a product part: gold patches, tests."""

    kind: Literal["patch"] = Field(description="A diff that is applied.")
    patch: str = Field(
        min_length=1,
        description="The diff's path, relative to the plan file; git's binary diffs too.",
        examples=["patches/engine.diff"],
    )


Agent = Annotated[CommandAgent | PatchAgent, Field(discriminator="kind")]
