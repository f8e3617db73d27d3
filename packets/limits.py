"""What one attempt may use."""

from pydantic import Field

from packets.value import Duration, Size, Value


class Limits(Value):
    """Effective limits of one attempt. Seconds and bytes."""

    deadline: Duration = 3600
    iterations: int = Field(default=25, ge=1, le=10_000)
    attempts: int = Field(default=3, ge=1, le=100)
    cost_usd: float | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=1)
    memory: Size = 2 << 30
    cpus: float = Field(default=1.0, gt=0, le=1024)
    pids: int = Field(default=256, ge=8, le=1_000_000)
    disk: Size = 2 << 30
    strict: bool = False


class LimitsPatch(Value):
    """Limits as a plan writes them: only the keys it wants to change."""

    deadline: Duration | None = Field(default=None, description="Working time of one attempt. Default: 1h.")
    iterations: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Model turns of one attempt; agents of kind command and patch have none. Default: 25.",
    )
    attempts: int | None = Field(
        default=None, ge=1, le=100, description="Attempts at one module before it fails. Default: 3."
    )
    cost_usd: float | None = Field(
        default=None, ge=0, description="Dollars for one attempt's models; agents of kind command and patch call none."
    )
    tokens: int | None = Field(
        default=None, ge=1, description="Tokens for one attempt's models; agents of kind command and patch call none."
    )
    memory: Size | None = Field(default=None, description="Memory of the sandbox. Default: 2g.")
    cpus: float | None = Field(default=None, gt=0, le=1024, description="Processors of the sandbox. Default: 1.")
    pids: int | None = Field(default=None, ge=8, le=1_000_000, description="Processes in the sandbox. Default: 256.")
    disk: Size | None = Field(default=None, description="Bytes the sandbox may write. Default: 2g.")
    strict: bool | None = Field(
        default=None, description="True: a limit that the engine cannot enforce stops the run instead of a warning."
    )

    def over(self, base: Limits) -> Limits:
        """Return `base` with the keys that are set here."""
        return base.model_copy(update={k: v for k, v in self.model_dump().items() if v is not None})
