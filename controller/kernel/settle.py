"""How each event changes the state. Here are the outcomes of actions; what people do is next door."""

from collections.abc import Callable
from dataclasses import replace

from controller.kernel import people
from controller.kernel.fate import again, cut_off, fail, stuck
from controller.kernel.state import RunState, halted, put, put_on_again
from packets.events import ActionKind, Event, EventType
from packets.states import ModuleState

S = ModuleState


def settle(state: RunState, event: Event) -> RunState:
    """Return the state with `event` taken in. An outcome counts once, and only while its action is under way."""
    rule = _OUTCOMES.get(event.type)
    if state.finished and event.type is not EventType.ROLLED_BACK:
        return state
    if rule is None:
        told = _PEOPLE.get(event.type)
        return told(state, event) if told else state
    if event.action in state.inflight:
        return rule(replace(state, inflight=state.inflight - {event.action}), event)
    nameless = event.type is EventType.BROKEN and not event.action  # the machine, before any action
    return rule(state, event) if nameless else state


def _judged(state: RunState, event: Event) -> RunState:
    module, data = event.module, event.data
    if state.at(module).state is not S.WORKING:  # cancelled meanwhile: the tree is kept, nothing follows
        return put(state, module, "late", running=False)
    facts = {"running": False, "stops": 0, "by_hand": "", "head": data["head_tree"], "commit": data.get("commit", "")}
    if data["decision"] == "accept":
        return put(state, module, "accepted", accepted=True, signature="", **facts)
    signature = data.get("signature", "")
    repeated = signature != "" and signature == state.at(module).signature
    state = put(state, module, "rejected", signature=signature, **facts)
    if data.get("final") or data["decision"] == "reject":
        return fail(state, module, data.get("final") or "rejected for good")
    if data.get("blocked"):
        return stuck(state, module, "blocked")
    return again(state, module, "rejected", repeated=repeated)


def _stopped(state: RunState, event: Event) -> RunState:
    return cut_off(state, event.module, str(event.data.get("reason", "stopped")))


def _merged(state: RunState, event: Event) -> RunState:
    state = put(state, event.module, "merged", S.ASLEEP, accepted=False, commit=event.data["commit"], waits_for="")
    return replace(state, tip=event.data["tree"], unrefreshed=True)


def _conflict(state: RunState, event: Event) -> RunState:
    return again(state, event.module, "merge conflict")


def _refreshed(state: RunState, event: Event) -> RunState:
    red = "" if event.data["green"] else state.closing or "failed"
    if event.data["level"] == "phase":
        return replace(state, phase_green=not red, closing=state.closing or red)
    culprit, wave = event.data.get("culprit", ""), state.wave_shape
    if red and wave and culprit in wave.modules and state.at(culprit).state is S.ASLEEP:
        return replace(state, culprit=culprit)
    return replace(state, unrefreshed=False, closing=state.closing or red)


def _undone(state: RunState, event: Event) -> RunState:
    state = put_on_again(put(state, event.module, "undone", commit=""), event.data.get("commits", {}))
    state = replace(state, tip=event.data["tree"], unrefreshed=True, culprit="")
    return again(state, event.module, "its merge turned the wave red")


def _synced(state: RunState, event: Event) -> RunState:
    state = replace(state, moved="")  # the next landing finds out where the base stands then
    if event.data.get("conflicts"):
        return halted(state, "blocked")
    return replace(state, tip=event.data["tree"], phase_green=False)


def _landed(state: RunState, event: Event) -> RunState:
    phase = state.phase_shape
    for module in [m for wave in phase.waves for m in wave.modules] if phase else []:
        if state.at(module).state is S.ASLEEP:
            state = put(state, module, f"landed with {event.data['commit'][:12]}", S.DONE)
    return replace(state, phase=state.phase + 1, wave=0, phase_green=False)


def _blocked(state: RunState, _event: Event) -> RunState:
    return halted(state, "blocked")


def _moved(state: RunState, event: Event) -> RunState:
    return replace(state, phase_green=False, moved=event.data["base"])


def _broken(state: RunState, event: Event) -> RunState:
    """Stand still: the machine is at fault, and a resume does the same thing once more."""
    if event.module and state.at(event.module).running:
        state = cut_off(state, event.module, str(event.data.get("message", "broken")))
    if event.action.endswith(f"-{ActionKind.FINISH}"):
        return replace(state, halt="blocked")
    return halted(state, "blocked")


def _finished(state: RunState, _event: Event) -> RunState:
    return replace(state, finished=True, halt="")


_Rule = Callable[[RunState, Event], RunState]

_OUTCOMES: dict[EventType, _Rule] = {
    EventType.ATTEMPT_JUDGED: _judged,
    EventType.ATTEMPT_STOPPED: _stopped,
    EventType.MERGED: _merged,
    EventType.CONFLICT: _conflict,
    EventType.REFRESHED: _refreshed,
    EventType.UNDONE: _undone,
    EventType.SYNCED: _synced,
    EventType.LANDED: _landed,
    EventType.LANDING_BLOCKED: _blocked,
    EventType.LANDING_MOVED: _moved,
    EventType.BROKEN: _broken,
    EventType.FINISHED: _finished,
}

_PEOPLE: dict[EventType, _Rule] = {
    EventType.GRANTED: people.granted,
    EventType.REJECTED: people.rejected,
    EventType.LAPSED: people.lapsed,
    EventType.EDITED: people.edited,
    EventType.INTERRUPTED: people.interrupted,
    EventType.PAUSED: people.paused,
    EventType.RESUMED: people.resumed,
    EventType.CANCELLED: people.cancelled,
    EventType.ROLLED_BACK: people.rolled_back,
}
