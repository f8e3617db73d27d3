"""What people do to a run: answer, pause, resume, cancel, roll back."""

from dataclasses import replace

from controller.kernel.after import asked_anew, dropped, is_due, staged
from controller.kernel.fate import again, cut_off, fail, start_over
from controller.kernel.messages import heed_all
from controller.kernel.module import ASKS_AGAIN
from controller.kernel.state import Question, RunState, answered, dependents, halted, put, put_on_again, unasked
from packets.events import ActionKind, Event
from packets.states import FINAL, ModuleState

S = ModuleState


def _question(state: RunState, event: Event) -> Question | None:
    """Return the open question that the event answers; None when it is stale."""
    question = state.questions.get(event.data["subject"])
    return question if question and question.key == event.data["key"] else None


def granted(state: RunState, event: Event) -> RunState:
    """Take a yes: to a landing, to merging these very trees, or to one more attempt."""
    question = _question(state, event)
    if question is None:
        return state
    state = answered(state, question)
    for module in question.modules:
        status = state.at(module)
        if status.waits_for in ASKS_AGAIN:
            more = max(status.allowed, status.attempt + 1)
            state = put(state, module, "try again", S.QUEUED, waits_for="", signature="", allowed=more)
        else:
            state = put(state, module, "approved", waits_for="merge")
    if question.modules:
        return state
    if is_due(state, question.subject):
        return staged(state, question.subject, "granted")
    return replace(state, approved=state.approved | {question})


def rejected(state: RunState, event: Event) -> RunState:
    """Take a no: to all modules of the question, or to the one it names; the others are asked about anew."""
    question = _question(state, event)
    named = event.data.get("module", "")
    if question is None or (named and named not in question.modules):
        return state
    state = unasked(state, named) if named else answered(state, question)
    if is_due(state, question.subject):
        return dropped(state, question.subject)
    if not question.modules:
        return replace(state, closing=state.closing or "failed")
    for module in [named] if named else question.modules:
        cause = f"rejected by {event.actor}"
        if event.data.get("final") or state.at(module).waits_for in ASKS_AGAIN:
            state = fail(state, module, cause)
        else:
            state = again(state, module, cause)
    return state


def edited(state: RunState, event: Event) -> RunState:
    """Take a tree that a person made from the one that was asked for: a fresh attempt, judged like any other."""
    question, module = _question(state, event), event.data["module"]
    if question is None or module not in question.modules:
        return state
    state = unasked(state, module)
    facts = {"accepted": False, "waits_for": "", "signature": "", "by_hand": event.data["tree"]}
    more = max(state.at(module).allowed, state.at(module).attempt + 1)
    return put(state, module, f"edited by {event.actor}", S.QUEUED, allowed=more, **facts)


def lapsed(state: RunState, event: Event) -> RunState:
    """Carry nothing out, as nobody answered in time; the run stands still until somebody resumes it."""
    question = _question(state, event)
    if question is None:
        return state
    state = answered(state, question)
    for module in question.modules:
        state = put(state, module, "its approval lapsed", S.PAUSED)
    if is_due(state, question.subject):
        state = staged(state, question.subject, "")
    return halted(state, "paused")


def interrupted(state: RunState, _event: Event) -> RunState:
    """Stop what runs; a resume goes on."""
    return replace(state, halt="interrupted")


def paused(state: RunState, event: Event) -> RunState:
    """Stop what runs; an attempt is paused when it has stopped, so that none is lost that ended meanwhile."""
    if state.closing:
        return state
    for name, status in state.modules.items():
        if status.state is S.QUEUED:
            state = put(state, name, f"paused by {event.actor}", S.PAUSED)
    return replace(state, halt="paused")


def resumed(state: RunState, _event: Event) -> RunState:
    """Go on where it stood."""
    for name, status in state.modules.items():
        if status.state is S.PAUSED:
            state = put(state, name, "resumed", S.QUEUED)
    return replace(state, halt="")


def cancelled(state: RunState, event: Event) -> RunState:
    """End the run. What is merged, or may be at this moment, is cancelled when nothing is under way any more."""
    if any(action.endswith(f"-{ActionKind.FINISH}") for action in state.inflight):
        return state
    for name, status in state.modules.items():
        if status.state not in FINAL | {S.ASLEEP} and name not in state.moving:
            state = put(state, name, f"cancelled by {event.actor}", S.CANCELLED, accepted=False, waits_for="")
    return replace(state, closing="cancelled", halt="", questions={})


def rolled_back(state: RunState, event: Event) -> RunState:
    """Start over what was undone and what was built on it. Whatever was under way or agreed on before is void."""
    undone = {m for m in event.data["modules"] if state.at(m).merged and state.at(m).state not in FINAL}
    on_it = {m for m in dependents(state.layout, undone) if state.at(m).state not in FINAL | {S.ASLEEP}}
    state = replace(state, questions={})
    for name, status in state.modules.items():
        if name in undone | on_it:
            state = start_over(state, name, f"rolled back by {event.actor}")
        elif status.running:
            state = cut_off(state, name, "stopped by a rollback")
        elif status.state is S.WAITING:
            left = status.waits_for if status.waits_for in ASKS_AGAIN else ""
            state = put(state, name, "asked about anew", S.WORKING, waits_for=left)
    state = put_on_again(state, event.data.get("commits", {}))
    for name in event.data["reverted"]:
        state = put(state, name, "reverted", reverted=True)
    over = {S.FAILED, S.CANCELLED}
    gone = tuple(m for m, s in state.modules.items() if s.merged and s.state in over)  # they still go
    state = replace(
        state, tip=event.data["tree"], phase_green=False, culprit="", undoing=gone, moving=(), approved=frozenset(),
        inflight=frozenset(), halt="" if state.finished else "paused",
    )  # fmt: skip
    state = asked_anew(state, event.data["reverted"])
    return heed_all(_reopened(state, undone) if undone and state.closing != "cancelled" else state)


def _reopened(state: RunState, undone: set[str]) -> RunState:
    """Put the run before the first wave that lost a module; it stands still until somebody resumes it."""
    waves = {state.layout.wave[module] for module in undone}
    back, stale = min(state.wave, *waves), state.stale | waves
    return replace(state, wave=back, stale=stale, closing="", finished=False, halt="paused")
