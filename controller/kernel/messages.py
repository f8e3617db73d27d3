"""What people say to modules: the next attempt hears it, and no attempt is accepted that has not. Mentions wake."""

from collections.abc import Iterable
from dataclasses import replace

from controller.kernel.state import RunState, put, unasked
from packets.events import ActionKind, Event
from packets.states import FINAL, ModuleState

S = ModuleState
_SETTLED = FINAL | {S.ASLEEP}


def said(state: RunState, event: Event) -> RunState:
    """Take a message in: to the module it names, which wakes, or to all that still work."""
    named = [event.module] if event.module in state.modules else []
    names = named or ([] if event.module else [m for m, s in state.modules.items() if s.state not in _SETTLED])
    for module in names:
        status, message = state.at(module), str(event.data["id"])
        if status.state in FINAL or message in (*status.unread, *status.heard):
            continue
        more = max(status.allowed, status.attempt + 1)
        state = put(state, module, "told", unread=(*status.unread, message), allowed=more)
        state = heed(state, module)
    return state


def read(state: RunState, module: str, messages: Iterable[str]) -> RunState:
    """Take in that the running attempt read these while it worked."""
    status, taken = state.at(module), set(messages)
    left = tuple(message for message in status.unread if message not in taken)
    heard = (*status.heard, *(message for message in status.unread if message in taken))
    return put(state, module, "read", unread=left, heard=heard)


def heed_all(state: RunState) -> RunState:
    """Let every module heed what came while something was under way that is over now."""
    for module in [m for m, status in state.modules.items() if status.unread]:
        state = heed(state, module)
    return state


def heed(state: RunState, module: str) -> RunState:
    """Queue an attempt that will hear what is unread, unless one runs, or the merge or landing of it is under way."""
    status = state.at(module)
    if not status.unread or status.running or status.state in FINAL or module in state.moving:
        return state
    if status.state is S.ASLEEP:
        return state if state.closing or state.doing(ActionKind.LAND) else _awake(state, module)
    to = status.state if status.state is S.PAUSED else S.QUEUED
    return put(unasked(state, module), module, "told something new", to, accepted=False, waits_for="")


def _awake(state: RunState, module: str) -> RunState:
    """Wake a sleeper into a new attempt: the walk goes back to its wave, and what was agreed on landing is void."""
    state = put(state, module, "woken by a message", S.QUEUED, signature="")
    left = {subject: q for subject, q in state.questions.items() if not subject.startswith("landing:")}
    back = min(state.wave, state.layout.wave[module])
    return replace(state, wave=back, phase_green=False, questions=left, approved=frozenset())
