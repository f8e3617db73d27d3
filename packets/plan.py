"""The plan as the user wrote it, validated key by key; what needs all of it or the repository is checked elsewhere.

The descriptions here are the reference: the JSON Schema and docs/plan.md are generated from them.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from packets.agent import Agent
from packets.limits import Limits, LimitsPatch
from packets.permissions import Permissions, PermissionsPatch
from packets.proof import PROOF_DEADLINE, ProofLevel
from packets.value import Duration, Value
from packets.words import Author, Branch, Line, ModuleId, Name, Remote, Revision, ScopeEntry


def _land(given: Any) -> Any:
    """Take `land: base` for the default, as the reference writes it."""
    return {} if given == "base" else given


class Profile(StrEnum):
    """How often a person is asked."""

    SAFE = "safe"  # each module before its merge
    BALANCED = "balanced"  # once a wave before its merges, and at landing
    FAST = "fast"  # at landing only


class Engine(StrEnum):
    """The sandbox a plan may ask for."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"
    HOST = "host"


class Verification(Value):
    """How a module proves itself."""

    module_local_checks: tuple[Line, ...] = Field(
        default=(),
        description="Commands that judge the module, run by `sh -c` at the repository's root, without network.",
        examples=[["pytest tests/domain -q"]],
    )
    required_markers: tuple[Line, ...] = Field(
        default=(),
        description="Lines that must appear in the checks' captured output, in this order.",
        examples=[["[Pricing][DiscountEngine][STACKING_GUARD]"]],
    )
    forbidden_markers: tuple[Line, ...] = Field(
        default=(), description="Lines that must not appear in the checks' captured output."
    )
    proof: ProofLevel | None = Field(
        default=None,
        description="Whether new scenarios must fail on the base: `required` rejects what is not proved, `note` writes"
        " it down, `off` runs nothing for it. Default: `required` for the scenarios that expected_deltas names, `note`"
        " for others.",
    )
    proof_deadline: Duration = Field(
        default=PROOF_DEADLINE, description="Time for the proof of all new scenarios of one attempt. Default: 10m."
    )


class ExpectedDeltas(Value):
    """What the plan expects to change, in the grammar of `packets.deltas`."""

    graph: tuple[Line, ...] = Field(
        default=(),
        description="Changes of the knowledge graph: `A -> B`, `not A -> B`, `add A`, `remove A`. A name is a module"
        " id, a path, a dotted name, or a bare symbol that is unique.",
        examples=[["DiscountEngine -> CouponStackingPolicy"]],
    )
    verification: tuple[Line, ...] = Field(
        default=(),
        description="Changes of the tests: `add|remove|change scenario NAME`, `add|remove marker [X]`,"
        " `add|remove check CMD`.",
        examples=[["add scenario seasonal_coupon_plus_loyalty"]],
    )


class Module(Value):
    """One bounded unit of work."""

    id: ModuleId = Field(
        description="A name in parts joined by `/`; unique in the plan, and not the folder of another id.",
        examples=["Pricing/DiscountEngine"],
    )
    purpose: Line = Field(description="What is to be done, in a sentence. The worker reads it first.")
    depends_on: tuple[ModuleId, ...] = Field(
        default=(),
        description="Modules that must be merged before: of the same or an earlier phase, or of `modules_map`."
        " Also declares that this module's code may use theirs.",
    )
    write_scope: tuple[ScopeEntry, ...] = Field(
        min_length=1,
        description="All that the module may write: paths and globs from the repository's root. `*` and `?` stay within"
        " a folder, `**` is any number of folders, a trailing `/` is a folder with all in it, `\\` escapes.",
        examples=[["app/domain/pricing/", "tests/domain/test_*.py"]],
    )
    notes: tuple[Line, ...] = Field(default=(), description="What the worker must know besides; part of its packet.")
    verification: Verification = Field(default=Verification(), description="How the module proves itself.")
    expected_deltas: ExpectedDeltas = Field(
        default=ExpectedDeltas(), description="What is expected to change, compared with what did."
    )
    agent: str | None = Field(default=None, description="Who does the work, a name from `agents`. Default: the plan's.")
    limits: LimitsPatch = Field(default=LimitsPatch(), description="Limits of each attempt, over those of `defaults`.")
    permissions: PermissionsPatch = Field(
        default=PermissionsPatch(), description="What this module's worker may do, over the plan's `permissions`."
    )
    optional: bool = Field(default=False, description="True: the phase lands even when this module fails.")


class Phase(Value):
    """An ordered part of the plan; ends in a full refresh and a landing."""

    id: Name = Field(description="A name, unique among the phases.")
    checks: tuple[Line, ...] = Field(
        default=(), description="Commands that judge the integrated tree at the phase's end, before it lands."
    )
    wave_checks: tuple[Line, ...] = Field(
        default=(),
        description="Commands that judge the integrated tree after each wave, besides the checks of the modules it"
        " touched and of those that depend on them.",
    )
    modules: tuple[Module, ...] = Field(
        min_length=1, description="The modules; grace works out which of them run at once."
    )


class Defaults(Value):
    """What modules take unless they say otherwise."""

    agent: str | None = Field(default=None, description="A name from `agents`. Not needed when there is only one.")
    profile: Profile = Field(
        default=Profile.BALANCED,
        description="How often a person is asked: `safe` before each module's merge, `balanced` once a wave and at"
        " landing, `fast` at landing only.",
    )
    limits: LimitsPatch = Field(default=LimitsPatch(), description="Limits of each attempt at each module.")


class Image(Value):
    """Where the worker image comes from; none of the three means: made from this machine."""

    from_: str | None = Field(
        default=None, alias="from", min_length=1, description="An image to build on.", examples=["python:3.12-slim"]
    )
    dockerfile: str | None = Field(
        default=None, min_length=1, description="A Dockerfile to build from, relative to the plan file."
    )
    name: str | None = Field(default=None, min_length=1, description="An image to use as it is.")
    setup: tuple[Line, ...] = Field(
        default=(),
        description="Commands that run once, with network, when the image is built; never in a worker.",
        examples=[["pip install pytest"]],
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(x is not None for x in (self.from_, self.dockerfile, self.name)) > 1:
            raise ValueError("name one of: from, dockerfile, name")
        return self


class CommitStyle(Value):
    """How grace's commits are signed with a name. `author` is `Name <mail>`."""

    author: Author | None = Field(
        default=None, description="`Name <mail>`. Default: the identity that git is configured with."
    )


class Land(Value):
    """Where a phase lands: the base branch, or another branch of this name."""

    branch: Branch | None = Field(
        default=None, description="A branch to land on instead of the base branch; made when it does not exist."
    )


class RunLimits(Value):
    """Limits of the whole run."""

    deadline: Duration | None = Field(default=None, description="Working time of the whole run. Default: none.")


class Plan(Value):
    """The whole plan. Order of phases and modules is meaning."""

    version: Literal[1] = Field(description="The version of this format: 1.")
    name: Name = Field(description="A short name; part of the run's id.", examples=["seasonal-coupons"])
    base: Revision | None = Field(
        default=None, description="The branch, tag or commit to start from. Default: the branch that is checked out."
    )
    defaults: Defaults = Field(default=Defaults(), description="What modules take unless they say otherwise.")
    agents: dict[str, Agent] = Field(
        default_factory=dict, description="Who can do the work, by a name of your choice; `kind` says what each one is."
    )
    sandbox: Engine = Field(
        default=Engine.AUTO,
        description="Where workers run: `auto` (docker, else bubblewrap), `docker`, `bubblewrap`, or `host`, which"
        " seals nothing off.",
    )
    image: Image = Field(
        default=Image(),
        description="The worker image: one of `from`, `dockerfile`, `name`; without any it is made from this machine.",
    )
    limits: RunLimits = Field(default=RunLimits(), description="Limits of the whole run.")
    packet_tokens: int = Field(
        default=6000,
        ge=200,
        le=100_000,
        description="How much of the code around a module its packet shows, in tokens: signatures and lines of what the"
        " module uses or will need, and of who uses it. A token is about a short word; docs/packet.md says how it is"
        " estimated.",
    )
    approval_timeout: Duration = Field(
        default=86400, description="After this time an unanswered question lapses to rejected; the run can be resumed."
    )
    land: Annotated[Land, BeforeValidator(_land, json_schema_input_type=Literal["base"] | Land)] = Field(
        default=Land(), description="Where phases land: `base`, or `{branch: NAME}`."
    )
    permissions: Permissions = Field(
        default=Permissions(),
        description="What is done on its own (`auto`), asked about (`ask`) or not done (`deny`). Landing hooks have no"
        " tier: they are always asked about.",
        examples=[{"write": "ask", "land": "ask"}],
    )
    push: Remote | None = Field(
        default=None,
        description="A remote of the repository, by its name. After each landing you are asked whether to push the"
        " landed commit to its branch of the same name; never forced. `--yes` does not answer that.",
        examples=["origin"],
    )
    on_landed: tuple[Line, ...] = Field(
        default=(),
        description="Commands to run after each landing, by `sh -c` at the root of your main worktree, as yourself and"
        " outside of any sandbox. You are asked about each one; `--yes` does not answer that.",
        examples=[["make deploy"]],
    )
    commit: CommitStyle = Field(default=CommitStyle(), description="How grace's commits are made.")
    modules_map: dict[ModuleId, tuple[ScopeEntry, ...]] = Field(
        default_factory=dict,
        description="Modules that exist already and are only referred to: id, and the paths where they live.",
        examples=[{"Pricing/Money": ["app/domain/money.py"]}],
    )
    phases: tuple[Phase, ...] = Field(
        min_length=1, description="The phases, in order; each one lands before the next begins."
    )

    def modules(self) -> tuple[Module, ...]:
        """Return every module, in plan order."""
        return tuple(module for phase in self.phases for module in phase.modules)

    def module(self, module_id: str) -> Module:
        """Return the module; raises KeyError."""
        for module in self.modules():
            if module.id == module_id:
                return module
        raise KeyError(module_id)

    def phase_of(self, module_id: str) -> Phase:
        """Return the phase that holds the module; raises KeyError."""
        for phase in self.phases:
            if any(module.id == module_id for module in phase.modules):
                return phase
        raise KeyError(module_id)

    def checks(self) -> tuple[str, ...]:
        """Return every command that judges something in this plan, each once."""
        own = (check for module in self.modules() for check in module.verification.module_local_checks)
        return tuple(dict.fromkeys((*own, *(c for phase in self.phases for c in (*phase.wave_checks, *phase.checks)))))

    def limits_of(self, module: Module) -> Limits:
        """Return the module's limits over the plan's defaults over grace's own."""
        return module.limits.over(self.defaults.limits.over(Limits()))

    def permissions_of(self, module: Module) -> Permissions:
        """Return the module's permissions over the plan's."""
        return module.permissions.over(self.permissions)

    def agent_name(self, module: Module) -> str | None:
        """Return the name of the module's agent: its own, else the plan's default, else the only one there is."""
        if module.agent or self.defaults.agent:
            return module.agent or self.defaults.agent
        return next(iter(self.agents)) if len(self.agents) == 1 else None
