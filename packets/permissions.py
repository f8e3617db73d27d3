"""What is done on its own, what a person is asked about, and what is not done at all."""

from enum import StrEnum

from pydantic import Field

from packets.value import Value


class Tier(StrEnum):
    """How far something is permitted."""

    AUTO = "auto"  # done without a question
    ASK = "ask"  # a person is asked first
    DENY = "deny"  # not done


class Permissions(Value):
    """The first four are a worker's; `land` and `push` are what grace itself does to your branch and your remote."""

    read: Tier = Field(default=Tier.AUTO, description="Reading the base commit's files: `auto` is all there is.")
    write: Tier = Field(
        default=Tier.AUTO,
        description="Changing files of the write scope. `ask`: a person is asked for the module's tree before its"
        " merge, whatever the profile.",
    )
    execute: Tier = Field(
        default=Tier.AUTO,
        description="Running programs while it works. `deny` fits agents of kind patch, which run none; checks are"
        " grace's own and run in any case.",
    )
    network: Tier = Field(default=Tier.DENY, description="Reaching the network: workers have none in this version.")
    land: Tier = Field(
        default=Tier.ASK,
        description="Moving the base branch. `auto`: without a question; `deny`: everything is done up to the landing,"
        " and you merge by hand.",
    )
    push: Tier = Field(
        default=Tier.ASK,
        description="Pushing what landed to the remote of `push`. It cannot be undone, so it is never `auto`.",
    )


class PermissionsPatch(Value):
    """A module's permissions, over the plan's: only the keys it wants to change."""

    read: Tier | None = Field(default=None, description="As in the plan's `permissions`.")
    write: Tier | None = Field(default=None, description="As in the plan's `permissions`.")
    execute: Tier | None = Field(default=None, description="As in the plan's `permissions`.")
    network: Tier | None = Field(default=None, description="As in the plan's `permissions`.")

    def over(self, base: Permissions) -> Permissions:
        """Return `base` with the keys that are set here."""
        return base.model_copy(update={key: tier for key, tier in self if tier is not None})
