"""The refresh of a wave or a phase as the run's action."""

import json
from typing import Any

from controller.context import Context
from controller.engine import Steps
from controller.refreshing import automatic
from packets.events import Action, Event, EventType


def carry_out(ctx: Context, action: Action, step: Steps) -> Event:
    """Refresh, and say green or red; a red wave names its culprit."""
    return Event(type=EventType.REFRESHED, action=action.id, data=step("refresh", lambda: _refresh(ctx, action)))


def _refresh(ctx: Context, action: Action) -> dict[str, Any]:
    level = action.data["level"]
    if level == "wave":
        found = automatic.wave(ctx, action.data["wave"], ctx.stopping)
    else:
        found = automatic.phase(ctx, action.data["phase"], ctx.stopping)
    report = json.loads(found.report.model_dump_json(exclude={"graph_delta"}))
    return {
        **report,
        "green": found.green,
        "culprit": found.culprit,
        "message": found.message,
        "findings": [f.model_dump_json() for f in found.findings],
        "bisection": found.bisection.model_dump(mode="json") if found.bisection else None,
    }
