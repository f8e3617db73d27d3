"""Tells a worker's own end from one that a restart of the engine brought.

An engine that was killed and came back shows its containers as exited, with 1, 137 or 143, as if they had failed. It
makes its default bridge anew at every start, so that network's age is the engine's; where there is no bridge, nothing
can be told and the exit code counts as the worker's.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from docker import APIClient, errors

_AROUND = timedelta(seconds=30)  # the engine marks what it finds dead while it starts
_SIGNALS = {137, 143}  # what a worker shows that an orderly stop of the engine killed before


def killed_by_it(client: APIClient, state: Mapping[str, Any]) -> bool:
    """Whether the engine's restart ended the container of this state."""
    if state["Status"] != "exited" or state["ExitCode"] == 0:
        return False
    came_up = _started(client)
    began, ended = instant(state["StartedAt"]), instant(state["FinishedAt"])
    if came_up is None or began > came_up:
        return False
    return abs(ended - came_up) < _AROUND or (ended < came_up and state["ExitCode"] in _SIGNALS)


def _started(client: APIClient) -> datetime | None:
    try:
        return instant(client.inspect_network("bridge")["Created"])
    except errors.NotFound:
        return None


def instant(text: str) -> datetime:
    """Parse the engine's time, which has nanoseconds and may have an offset."""
    whole, _, rest = text.partition(".")
    zone = rest.lstrip("0123456789") if rest else ""
    return datetime.fromisoformat((whole + zone) if rest else text).astimezone(UTC)
