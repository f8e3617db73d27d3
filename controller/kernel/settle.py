"""How each event changes the state. Here are the outcomes of actions; what people do is next door."""

from collections.abc import Callable
from dataclasses import replace

from controller.kernel import people
from controller.kernel.after import done, follows, once_more
from controller.kernel.fate import again, cut_off, fail, start_over, stuck, undo
from controller.kernel.messages import heed, heed_all, read, said
from controller.kernel.state import MOVES, RunState, dependents, halted, put, put_on_again
from packets.events import ActionKind, Event, EventType
from packets.states import FINAL, ModuleState

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
        return _over(rule(replace(state, inflight=state.inflight - {event.action}), event), event.action)
    nameless = event.type is EventType.BROKEN and not event.action  # the machine, before any action
    return rule(state, event) if nameless else state


def _over(state: RunState, action: str) -> RunState:
    """When no merge is made or undone any more, its modules heed what was said meanwhile."""
    if not action.endswith(tuple(f"-{kind}" for kind in MOVES)):
        return state
    moved = state.moving
    state = replace(state, moving=())
    for module in moved:
        state = heed(state, module)
    return state


def _judged(state: RunState, event: Event) -> RunState:
    module, data = event.module, event.data
    if state.at(module).state is not S.WORKING:  # cancelled meanwhile: the tree is kept, nothing follows
        return put(state, module, "late", running=False)
    facts = {"running": False, "stops": 0, "by_hand": "", "head": data["head_tree"], "commit": data.get("commit", "")}
    facts |= {"packet": data.get("packet_id", "")}
    state = read(state, module, data.get("heard", ()))
    unread = state.at(module).unread
    if data["decision"] == "accept":
        state = put(state, module, "accepted", accepted=not unread, signature="", **facts)
        return again(state, module, "a message came that it had not read") if unread else state
    signature = data.get("signature", "")
    repeated = not unread and signature != "" and signature == state.at(module).signature
    state = put(state, module, "rejected", signature=signature, **facts)
    if data.get("final") or data["decision"] == "reject":
        return fail(state, module, data.get("final") or "rejected for good")
    if data.get("blocked") and not unread:
        return stuck(state, module, "blocked")
    return again(state, module, "rejected", repeated=repeated)


def _stopped(state: RunState, event: Event) -> RunState:
    return cut_off(state, event.module, str(event.data.get("reason") or "stopped"))


def _merged(state: RunState, event: Event) -> RunState:
    module = event.module
    facts = {"accepted": False, "commit": event.data["commit"], "merged": True, "waits_for": ""}
    stale = state.stale | {state.layout.wave[module]}
    state = replace(state, tip=event.data["tree"], stale=stale, phase_green=False)
    if state.at(module).state in FINAL:  # what it needs failed meanwhile
        return put(replace(state, undoing=(*state.undoing, module)), module, "merged", **facts)
    return put(state, module, "merged", S.ASLEEP, **facts)


def _conflict(state: RunState, event: Event) -> RunState:
    module = event.module
    return state if state.at(module).state in FINAL else again(state, module, "merge conflict")


def _refreshed(state: RunState, event: Event) -> RunState:
    red = not event.data["green"]
    closing = state.closing or ("failed" if red else "")
    if event.data["level"] == "phase":
        if state.wave_shape is not None:
            return state  # somebody woke a module meanwhile: the phase goes on, and is looked at again
        return replace(state, phase_green=not red, closing=closing)
    culprit = event.data.get("culprit", "")
    if red and culprit in _from_here(state) and state.at(culprit).state is S.ASLEEP:
        return undo(replace(state, culprit=culprit), culprit)
    if red and _is_looked_at_again(state):
        return state
    return replace(state, stale=state.stale - {state.wave}, closing=closing)


def _is_looked_at_again(state: RunState) -> bool:
    """Tell whether the tree changes before the next refresh: a merge goes, or somebody woke a module of this wave."""
    wave = state.wave_shape
    awake = (state.at(m).state not in FINAL | {S.ASLEEP} for m in (wave.modules if wave else ()))
    return bool(state.undoing) or any(awake)


def _from_here(state: RunState) -> list[str]:
    phase = state.phase_shape
    return [module for wave in phase.waves[state.wave :] for module in wave.modules] if phase else []


def _undone(state: RunState, event: Event) -> RunState:
    culprit, gone = state.culprit, state.moving
    for module in gone:
        state = put(state, module, "undone", commit="", merged=False)
    state = put_on_again(state, event.data.get("commits", {}))
    left, stale = tuple(m for m in state.undoing if m not in gone), {state.layout.wave[m] for m in gone}
    state = replace(state, tip=event.data["tree"], stale=state.stale | stale, undoing=left, culprit="")
    state = replace(state, phase_green=False)
    for module in dependents(state.layout, [culprit]):
        if state.at(module).state not in FINAL and state.at(module).attempt:
            state = start_over(state, module, f"{culprit} was undone")
    asleep = culprit in gone and state.at(culprit).state is S.ASLEEP
    return again(state, culprit, "its merge turned the wave red") if asleep else state


def _synced(state: RunState, event: Event) -> RunState:
    state = replace(state, moved="")  # the next landing finds out where the base stands then
    if event.data.get("conflicts"):
        return halted(state, "blocked")
    return replace(state, tip=event.data["tree"])


def _landed(state: RunState, event: Event) -> RunState:
    phase = state.phase_shape
    for module in [m for wave in phase.waves for m in wave.modules] if phase else []:
        if state.at(module).state is S.ASLEEP:
            state = put(state, module, f"landed with {event.data['commit'][:12]}", S.DONE)
    due = state.due + (follows(phase, event.data["commit"]) if phase else ())
    return replace(state, phase=state.phase + 1, wave=0, phase_green=False, stale=frozenset(), due=due)


def _blocked(state: RunState, _event: Event) -> RunState:
    return halted(heed_all(state), "blocked")


def _moved(state: RunState, event: Event) -> RunState:
    return heed_all(replace(state, phase_green=False, moved=event.data["base"]))


def _broken(state: RunState, event: Event) -> RunState:
    """Stand still: the machine is at fault, and a resume does the same thing once more."""
    if event.module and state.at(event.module).running:
        state = cut_off(state, event.module, str(event.data.get("message") or "broken"))
    if event.action.endswith(f"-{ActionKind.FINISH}"):
        return replace(state, halt="blocked")
    if event.action.endswith(f"-{ActionKind.AFTER}"):
        state = once_more(state)
    return halted(heed_all(state), "blocked")


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
    EventType.AFTER_DONE: done,
    EventType.BROKEN: _broken,
    EventType.FINISHED: _finished,
}

_PEOPLE: dict[EventType, _Rule] = {
    EventType.GRANTED: people.granted,
    EventType.REJECTED: people.rejected,
    EventType.LAPSED: people.lapsed,
    EventType.EDITED: people.edited,
    EventType.SAID: said,
    EventType.INTERRUPTED: people.interrupted,
    EventType.PAUSED: people.paused,
    EventType.RESUMED: people.resumed,
    EventType.CANCELLED: people.cancelled,
    EventType.ROLLED_BACK: people.rolled_back,
}
