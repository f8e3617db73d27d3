"""How each event changes the state."""

from collections.abc import Callable
from dataclasses import replace

from controller.kernel.state import ASKS_AGAIN, Question, RunState, dependents, put, withdraw
from packets.events import Event, EventType
from packets.states import FINAL, ModuleState

S = ModuleState


def settle(state: RunState, event: Event) -> RunState:
    """Return the state with `event` taken in; an action's outcome ends that action."""
    if event.action:
        state = replace(state, inflight=state.inflight - {event.action})
    rule = _RULES.get(event.type)
    return rule(state, event) if rule else state


def _judged(state: RunState, event: Event) -> RunState:
    module, data = event.module, event.data
    if state.at(module).state is not S.WORKING:  # cancelled or failed meanwhile: the tree is kept, nothing follows
        return put(state, module, "late", running=False)
    facts = {"running": False, "head": data["head_tree"], "commit": data.get("commit", "")}
    if data["decision"] == "accept":
        return put(state, module, "accepted", accepted=True, signature="", **facts)
    signature = data.get("signature", "")
    repeated = signature != "" and signature == state.at(module).signature
    state = put(state, module, "rejected", signature=signature, **facts)
    if data.get("final"):
        return _fail(state, module, data["final"])
    if data.get("blocked"):
        return _stuck(state, module, "blocked")
    return _again(state, module, "rejected", repeated=repeated)


def _again(state: RunState, module: str, cause: str, *, repeated: bool = False) -> RunState:
    """Queue a fresh attempt, or end: out of attempts fails, the same failure twice asks a person."""
    status = state.at(module)
    if status.attempt >= status.allowed:
        return _fail(state, module, f"{cause}; no attempt is left")
    if repeated:
        return _stuck(state, module, "stuck")
    return put(withdraw(state, module), module, cause, S.QUEUED, accepted=False, waits_for="")


def _stuck(state: RunState, module: str, why: str) -> RunState:
    if state.shape.yes:
        return _fail(state, module, f"{why}, and nobody is asked under --yes")
    return put(state, module, why, S.WAITING, accepted=False, waits_for=why)


def _fail(state: RunState, module: str, cause: str) -> RunState:
    """Fail a module and cancel everything that depends on it."""
    state = put(withdraw(state, module), module, cause, S.FAILED, accepted=False, waits_for="")
    for other in dependents(state.shape, module):
        if state.at(other).state not in FINAL:
            state = put(withdraw(state, other), other, f"{module} failed", S.CANCELLED, accepted=False, waits_for="")
    return state


def _stopped(state: RunState, event: Event) -> RunState:
    if state.at(event.module).state is not S.WORKING:
        return put(state, event.module, "stopped", running=False, redo=True)
    return put(state, event.module, str(event.data.get("reason", "stopped")), S.QUEUED, running=False, redo=True)


def _question(state: RunState, event: Event) -> Question | None:
    """Return the open question that the event answers; None when it is stale."""
    question = state.questions.get(event.data["subject"])
    return question if question and question.key == event.data["key"] else None


def _answered(state: RunState, question: Question) -> RunState:
    return replace(state, questions={s: q for s, q in state.questions.items() if s != question.subject})


def _granted(state: RunState, event: Event) -> RunState:
    question = _question(state, event)
    if question is None:
        return state
    state = replace(_answered(state, question), approved=state.approved | {question})
    for module in question.modules:
        if state.at(module).waits_for in ASKS_AGAIN:
            state = put(state, module, "approved: try again", S.QUEUED, waits_for="", signature="")
    return state


def _rejected(state: RunState, event: Event) -> RunState:
    question = _question(state, event)
    if question is None:
        return state
    state = _answered(state, question)
    if question.subject.startswith("landing:"):
        return replace(state, closing="failed")
    module = event.data.get("module", "")
    for name in [module] if module else question.modules:
        ends = event.data.get("final") or state.at(name).waits_for in ASKS_AGAIN
        cause = f"rejected by {event.actor}"
        state = _fail(state, name, cause) if ends else _again(state, name, cause)
    return state


def _lapsed(state: RunState, event: Event) -> RunState:
    question = _question(state, event)
    if question is None:
        return state
    state = _answered(state, question)
    for module in question.modules:
        if state.at(module).state is S.WAITING:
            state = put(state, module, "its approval lapsed", S.PAUSED)
    return replace(state, halt="paused")


def _merged(state: RunState, event: Event) -> RunState:
    state = put(state, event.module, "merged", S.ASLEEP, accepted=False, commit=event.data["commit"], waits_for="")
    return replace(state, tip=event.data["tree"], unrefreshed=True)


def _conflict(state: RunState, event: Event) -> RunState:
    return _again(state, event.module, "merge conflict")


def _refreshed(state: RunState, event: Event) -> RunState:
    green = event.data["green"]
    if event.data["level"] == "phase":
        return replace(state, phase_green=True) if green else replace(state, closing="failed")
    if green:
        return replace(state, unrefreshed=False)
    if not event.data.get("culprit"):
        return replace(state, unrefreshed=False, closing="failed")
    return replace(state, culprit=event.data["culprit"])


def _undone(state: RunState, event: Event) -> RunState:
    status = state.at(event.module)
    state = replace(state, tip=event.data["tree"], unrefreshed=True, culprit="")
    if status.attempt >= status.allowed:
        return _fail(state, event.module, "its merge turned the wave red; no attempt is left")
    return put(state, event.module, "its merge turned the wave red", S.QUEUED, commit="")


def _synced(state: RunState, event: Event) -> RunState:
    if event.data.get("conflicts"):
        return replace(state, halt="blocked", moved="")
    return replace(state, tip=event.data["tree"], phase_green=False, moved="")


def _landed(state: RunState, event: Event) -> RunState:
    phase = state.phase_shape
    for module in [m for wave in phase.waves for m in wave.modules] if phase else []:
        if state.at(module).state is S.ASLEEP:
            state = put(state, module, f"landed with {event.data['commit'][:12]}", S.DONE)
    return replace(state, phase=state.phase + 1, wave=0, phase_green=False)


def _blocked(state: RunState, _event: Event) -> RunState:
    return replace(state, halt="blocked")


def _moved(state: RunState, event: Event) -> RunState:
    return replace(state, phase_green=False, moved=event.data["base"])


def _interrupted(state: RunState, _event: Event) -> RunState:
    return replace(state, halt="interrupted")


def _paused(state: RunState, event: Event) -> RunState:
    for name, status in state.modules.items():
        if status.state is S.QUEUED or (status.state is S.WORKING and not status.accepted):
            state = put(state, name, f"paused by {event.actor}", S.PAUSED, redo=status.running or status.redo)
    return replace(state, halt="paused")


def _resumed(state: RunState, _event: Event) -> RunState:
    for name, status in state.modules.items():
        if status.state is S.PAUSED:
            state = put(state, name, "resumed", S.QUEUED)
    return replace(state, halt="")


def _cancelled(state: RunState, event: Event) -> RunState:
    for name, status in state.modules.items():
        if status.state not in FINAL:
            state = put(state, name, f"cancelled by {event.actor}", S.CANCELLED, accepted=False, waits_for="")
    return replace(state, closing="cancelled", halt="", questions={})


def _broken(state: RunState, event: Event) -> RunState:
    if event.module and state.at(event.module).running:
        state = put(state, event.module, str(event.data.get("message", "broken")), S.QUEUED, running=False, redo=True)
    return replace(state, halt="blocked")


def _finished(state: RunState, _event: Event) -> RunState:
    return replace(state, finished=True)


def _rolled_back(state: RunState, event: Event) -> RunState:
    undone, reverted = event.data["modules"], event.data["reverted"]
    for name in undone:
        fresh = state.at(name).attempt + state.shape.attempts[name]
        state = put(state, name, f"rolled back by {event.actor}", S.QUEUED, commit="", allowed=fresh)
    for name in reverted:
        state = put(state, name, "reverted", reverted=True)
    state = replace(state, tip=event.data["tree"], phase_green=False, unrefreshed=False, questions={})
    return _reopened(state, undone) if undone else state


def _reopened(state: RunState, undone: list[str]) -> RunState:
    """Put the run before the first wave that lost a module; it stands still until somebody resumes it."""
    for p, phase in enumerate(state.shape.phases):
        for w, wave in enumerate(phase.waves):
            if set(wave.modules) & set(undone):
                return replace(state, phase=p, wave=w, closing="", finished=False, halt="paused")
    return state


_RULES: dict[EventType, Callable[[RunState, Event], RunState]] = {
    EventType.ATTEMPT_JUDGED: _judged,
    EventType.ATTEMPT_STOPPED: _stopped,
    EventType.GRANTED: _granted,
    EventType.REJECTED: _rejected,
    EventType.LAPSED: _lapsed,
    EventType.MERGED: _merged,
    EventType.CONFLICT: _conflict,
    EventType.REFRESHED: _refreshed,
    EventType.UNDONE: _undone,
    EventType.SYNCED: _synced,
    EventType.LANDED: _landed,
    EventType.LANDING_BLOCKED: _blocked,
    EventType.LANDING_MOVED: _moved,
    EventType.INTERRUPTED: _interrupted,
    EventType.PAUSED: _paused,
    EventType.RESUMED: _resumed,
    EventType.CANCELLED: _cancelled,
    EventType.BROKEN: _broken,
    EventType.FINISHED: _finished,
    EventType.ROLLED_BACK: _rolled_back,
}
