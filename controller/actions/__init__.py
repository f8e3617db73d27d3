"""What the kernel asks for, done: one file an action, each safe to be cut off and done again."""

from collections.abc import Callable

from controller.actions import after, attempt, finish, land, merge
from controller.actions.refresh import carry_out as refresh
from controller.context import Context
from controller.engine import Steps
from packets.events import Action, ActionKind, Event

ACTIONS: dict[ActionKind, Callable[[Context, Action, Steps], Event]] = {
    ActionKind.ATTEMPT: attempt.carry_out,
    ActionKind.MERGE: merge.carry_out,
    ActionKind.UNDO: merge.undo,
    ActionKind.REFRESH: refresh,
    ActionKind.SYNC: land.sync,
    ActionKind.LAND: land.carry_out,
    ActionKind.AFTER: after.carry_out,
    ActionKind.FINISH: finish.carry_out,
}
