"""Tells a worker's own end from one that others brought: a restart of the engine, or somebody's `docker kill`.

An engine that was killed and came back shows its containers as exited, with 1, 137 or 143, as if they had failed. It
makes its default bridge anew at every start, so that network's age is the engine's; where there is no bridge, nothing
can be told and the exit code counts as the worker's. An engine that is stopped in order, and a person, kill by signals
that the engine notes among its last 256 events; a note that is gone counts for nothing.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from docker import APIClient, errors

from sandbox.docker_client import raise_for_status

_AROUND = timedelta(seconds=30)  # the engine marks what it finds dead while it starts
_SIGNALS = {137, 143}  # what a worker shows that an orderly stop of the engine killed before
_ENDING = {"2", "3", "9", "15"}
_LATE = timedelta(seconds=0.5)  # a signal is noted after it was sent


def interrupted(client: APIClient, name: str, state: Mapping[str, Any], deadline: float) -> str:
    """Say who ended the container of this state before it came to an end of its own; empty when nobody did.

    What ran for longer than `deadline` seconds was ended by us, in an earlier life.
    """
    if state["Status"] != "exited" or state["ExitCode"] == 0 or lasted(state) >= deadline:
        return ""
    if killed_by_it(client, state):
        return f"docker was restarted and killed {name}"
    return f"somebody, or an engine that stops, killed {name}" if _signalled(client, name, state) else ""


def lasted(state: Mapping[str, Any]) -> float:
    """Return how many seconds a container ran that has ended."""
    return max(0.0, (instant(state["FinishedAt"]) - instant(state["StartedAt"])).total_seconds())


def _signalled(client: APIClient, container: str, state: Mapping[str, Any]) -> bool:
    until = instant(state["FinishedAt"]) + _LATE
    asked = {
        "since": f"{instant(state['StartedAt']).timestamp():.9f}",
        "until": f"{until.timestamp():.9f}",
        "filters": json.dumps({"container": [container], "event": ["kill"]}),
    }
    response = client.get(f"{client.base_url}/v{client.api_version}/events", params=asked, timeout=client.timeout)
    raise_for_status(response)
    seen = [json.loads(line) for line in response.text.splitlines() if line.strip()]
    return any(one["Actor"]["Attributes"].get("signal") in _ENDING for one in seen)


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
    """Parse the engine's time, which has nanoseconds and may have an offset; kept are microseconds."""
    whole, _, rest = text.partition(".")
    zone = rest.lstrip("0123456789")
    fraction = rest.removesuffix(zone)[:6].ljust(6, "0")
    return datetime.fromisoformat(f"{whole}.{fraction}{zone}" if rest else text).astimezone(UTC)
