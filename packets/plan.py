"""The plan as the user wrote it, validated key by key; what needs all of it or the repository is checked elsewhere."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from packets.agent import Agent
from packets.ids import module_id_fault
from packets.limits import Limits, LimitsPatch
from packets.value import Duration, Value


def _module_id(text: str) -> str:
    if fault := module_id_fault(text):
        raise ValueError(f"bad module id {text[:60]!r}: {fault}")
    return text


ModuleId = Annotated[str, AfterValidator(_module_id)]
Line = Annotated[str, Field(min_length=1, max_length=4000)]
"""Text of one line's worth."""


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


class Proof(StrEnum):
    """What becomes of a new scenario that was not shown to fail on the base."""

    REQUIRED = "required"
    NOTE = "note"
    OFF = "off"


class Verification(Value):
    """How a module proves itself."""

    module_local_checks: tuple[Line, ...] = ()
    required_markers: tuple[Line, ...] = ()
    forbidden_markers: tuple[Line, ...] = ()
    proof: Proof | None = None


class ExpectedDeltas(Value):
    """What the plan expects to change, in the grammar of `packets.deltas`."""

    graph: tuple[Line, ...] = ()
    verification: tuple[Line, ...] = ()


class Module(Value):
    """One bounded unit of work."""

    id: ModuleId
    purpose: Line
    depends_on: tuple[ModuleId, ...] = ()
    write_scope: tuple[Line, ...] = Field(min_length=1)
    notes: tuple[Line, ...] = ()
    verification: Verification = Verification()
    expected_deltas: ExpectedDeltas = ExpectedDeltas()
    agent: str | None = None
    limits: LimitsPatch = LimitsPatch()
    optional: bool = False


class Phase(Value):
    """An ordered part of the plan; ends in a full refresh and a landing."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    checks: tuple[Line, ...] = ()
    wave_checks: tuple[Line, ...] = ()
    modules: tuple[Module, ...] = Field(min_length=1)


class Defaults(Value):
    """What modules take unless they say otherwise."""

    agent: str | None = None
    profile: Profile = Profile.BALANCED
    limits: LimitsPatch = LimitsPatch()


class Image(Value):
    """Where the worker image comes from; none of the three means: made from this machine."""

    from_: str | None = Field(default=None, alias="from", min_length=1)
    dockerfile: str | None = Field(default=None, min_length=1)
    name: str | None = Field(default=None, min_length=1)
    setup: tuple[Line, ...] = ()

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(x is not None for x in (self.from_, self.dockerfile, self.name)) > 1:
            raise ValueError("name one of: from, dockerfile, name")
        return self


class CommitStyle(Value):
    """How grace's commits are signed with a name. `author` is `Name <mail>`."""

    author: Annotated[str, Field(pattern=r"^[^<>\n]+ <[^<>\n]+>$")] | None = None


class Land(Value):
    """Where a phase lands: the base branch, or another branch of this name."""

    branch: str | None = None


class RunLimits(Value):
    """Limits of the whole run."""

    deadline: Duration | None = None


class Plan(Value):
    """The whole plan. Order of phases and modules is meaning."""

    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
    base: str | None = Field(default=None, min_length=1)
    defaults: Defaults = Defaults()
    agents: dict[str, Agent] = Field(default_factory=dict)
    sandbox: Engine = Engine.AUTO
    image: Image = Image()
    limits: RunLimits = RunLimits()
    approval_timeout: Duration = 86400
    land: Land = Land()
    commit: CommitStyle = CommitStyle()
    modules_map: dict[ModuleId, tuple[Line, ...]] = Field(default_factory=dict)
    phases: tuple[Phase, ...] = Field(min_length=1)

    @field_validator("land", mode="before")
    @classmethod
    def _land(cls, given: Any) -> Any:
        """Take `land: base` for the default, as the reference writes it."""
        return {} if given == "base" else given

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

    def limits_of(self, module: Module) -> Limits:
        """Return the module's limits over the plan's defaults over grace's own."""
        return module.limits.over(self.defaults.limits.over(Limits()))

    def agent_name(self, module: Module) -> str | None:
        """Return the name of the module's agent: its own, else the plan's default, else the only one there is."""
        if module.agent or self.defaults.agent:
            return module.agent or self.defaults.agent
        return next(iter(self.agents)) if len(self.agents) == 1 else None
