"""The base of every value that crosses a room: frozen, strict, no unknown keys."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema


class Value(BaseModel):
    """A frozen value. Read it from JSON (`model_validate_json`), which lets lists become tuples under strict rules."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", validate_default=True)


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def _scaled(text: object, units: dict[str, int], example: str) -> object:
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"expected something like {example}")  # noqa: TRY004 - pydantic turns ValueError into a finding
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([a-z]?)", str(text).strip().lower())
    if not match or match[2] not in units:
        raise ValueError(f"expected something like {example}, got {str(text)[:40]!r}")
    return int(float(match[1]) * units[match[2]])


def _duration(text: Any) -> object:
    return _scaled(text, _UNITS, "90s, 30m, 1h or 1d")


def _size(text: Any) -> object:
    return _scaled(text, _SIZES, "512m or 2g")


Duration = Annotated[
    int,
    BeforeValidator(_duration),
    Field(gt=0, le=366 * 86400),
    WithJsonSchema({"type": ["string", "number"], "description": "seconds, or 90s, 30m, 1h, 1d", "examples": ["1h"]}),
]
"""Seconds as an int; a plan may write `30m`."""

Size = Annotated[
    int,
    BeforeValidator(_size),
    Field(gt=0, le=1 << 50),
    WithJsonSchema({"type": ["string", "number"], "description": "bytes, or 512m, 2g", "examples": ["2g"]}),
]
"""Bytes as an int; a plan may write `2g`."""
