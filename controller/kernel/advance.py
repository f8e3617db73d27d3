"""What to do now: the walk over waves and phases, as a short sequence of named rules."""

from dataclasses import replace

from controller.kernel.after import follow
from controller.kernel.module import UNSETTLED, Lane
from controller.kernel.state import Decision, Question, RunState, ask, bound_key, issue, put
from packets.events import ActionKind, WaveShape
from packets.states import FINAL, ModuleState

S = ModuleState


def advance(state: RunState) -> Decision | None:
    """Return the next move, or None when the run must wait for an event."""
    if state.finished or state.halt:
        return None
    if state.closing == "cancelled":
        return _close(state)
    if following := follow(state):
        return following
    if state.undoing:  # nothing is built on what must go
        return issue(state, ActionKind.UNDO, state.undoing[0], modules=list(state.undoing)) if state.calm else None
    if state.closing:
        return _close(state)
    wave = state.wave_shape
    if wave is not None:
        return _walk_wave(state, wave)
    if state.phase_shape is not None:
        return _end_phase(state)
    return None if state.due else Decision(replace(state, closing=_ending(state)))


def _ending(state: RunState) -> str:
    wanted = (m for m in state.modules if m not in state.shape.optional)
    return "done" if all(state.at(m).state is S.DONE for m in wanted) else "failed"


def _standing(state: RunState) -> set[ModuleState]:
    return {status.state for status in state.modules.values()}


def _close(state: RunState) -> Decision | None:
    """End the run once nothing is under way; what never ran is cancelled, and so is what must not land any more."""
    if not state.resting:
        return None
    kept = FINAL if state.closing == "cancelled" else FINAL | {S.ASLEEP}
    for name, status in state.modules.items():
        if status.state not in kept:
            state = put(state, name, "the run ended", S.CANCELLED, accepted=False, waits_for="")
    all_landed = _ending(state) == "done" and S.CANCELLED not in _standing(state)
    if state.closing == "cancelled" and all_landed and not state.due:
        state = replace(state, closing="done")  # the cancel came when the last landing was under way
    state = replace(state, questions={})
    return issue(state, ActionKind.FINISH, ending=state.closing, unanswered=[due.subject for due in state.due])


def _walk_wave(state: RunState, wave: WaveShape) -> Decision | None:
    return (
        _recall(state, wave)
        or _start(state, wave)
        or _ask_stuck(state, wave)
        or _ask_modules(state, wave)
        or _join(state, wave)
    )


def _recall(state: RunState, wave: WaveShape) -> Decision | None:
    """Take up what was paused after its attempt was judged: it needs no new attempt."""
    module = state.find(wave, Lane.RECALL)
    return Decision(put(state, module, "taken up again", S.WORKING)) if module else None


def _start(state: RunState, wave: WaveShape) -> Decision | None:
    """Start the next attempt where there is a place; waiting for one costs nothing."""
    module = state.find(wave, Lane.START)
    if module is None or state.taken >= state.shape.max_workers:
        return None
    status = state.at(module)
    again = status.redo and not status.unread  # under its own number and packet, unless there is more to tell
    attempt, told = status.attempt + (0 if again else 1), (*status.heard, *status.unread)
    facts = {"attempt": attempt, "running": True, "redo": False, "heard": told, "unread": ()}
    state = put(state, module, f"attempt {attempt}", S.WORKING, **facts)
    data = {"wave": wave.number, "by_hand": status.by_hand, "messages": list(told)}
    return issue(state, ActionKind.ATTEMPT, module, attempt, **data)


def _ask_stuck(state: RunState, wave: WaveShape) -> Decision | None:
    module = state.find(wave, Lane.STUCK)
    if module is None:
        return None
    status = state.at(module)
    state = put(state, module, status.waits_for, S.WAITING)
    return ask(state, f"module:{module}", bound_key([(module, status.bound)]), [module])


def _ask_modules(state: RunState, wave: WaveShape) -> Decision | None:
    """Under `safe`, or where the plan asks before writing, a module is asked for as soon as it is accepted."""
    if state.shape.yes or not (state.shape.profile == "safe" or state.shape.asks):
        return None
    fresh = state.filed(wave, Lane.FRESH)
    module = next((m for m in fresh if state.shape.profile == "safe" or m in state.shape.asks), None)
    return _ask_for(state, f"module:{module}", [module]) if module else None


def _ask_for(state: RunState, subject: str, modules: list[str]) -> Decision:
    key = bound_key((m, state.at(m).bound) for m in modules)
    for module in modules:
        state = put(state, module, "asked", S.WAITING, waits_for="approval")
    return ask(state, subject, key, modules)


def _join(state: RunState, wave: WaveShape) -> Decision | None:
    """When all are accepted or final: merge one by one in plan order, then refresh, then on to the next wave."""
    if not state.calm or state.find(wave, *UNSETTLED):
        return None
    if asking := _ask_wave(state, wave):
        return asking
    if state.find(wave, Lane.ASKED):
        return None
    if module := state.find(wave, Lane.FRESH, Lane.READY):
        status = state.at(module)
        return issue(state, ActionKind.MERGE, module, status.attempt, commit=status.commit, head=status.head)
    if state.wave in state.stale:
        return issue(state, ActionKind.REFRESH, level="wave", wave=wave.number)
    return Decision(replace(state, wave=state.wave + 1))


def _ask_wave(state: RunState, wave: WaveShape) -> Decision | None:
    """Ask for the trees that have no yes yet; one that has it keeps it while the others are worked over."""
    if state.shape.yes or state.shape.profile == "fast" or not state.find(wave, Lane.FRESH):
        return None
    subject = f"wave:{wave.number}"
    asked = state.questions[subject].modules if subject in state.questions else ()
    fresh = state.filed(wave, Lane.FRESH)
    return _ask_for(state, subject, [m for m in wave.modules if m in {*asked, *fresh}])


def _end_phase(state: RunState) -> Decision | None:
    phase = state.phase_shape
    if phase is None or not state.calm:
        return None
    modules = [m for wave in phase.waves for m in wave.modules]
    if any(state.at(m).state is not S.ASLEEP and m not in state.shape.optional for m in modules):
        return Decision(replace(state, closing="failed"))
    if all(state.at(m).state is not S.ASLEEP for m in modules):
        return Decision(replace(state, phase=state.phase + 1, wave=0))
    if state.moved:
        return issue(state, ActionKind.SYNC, base=state.moved)
    if not state.phase_green:
        return issue(state, ActionKind.REFRESH, level="phase", phase=phase.id)
    return _land(state, phase.id)


def _land(state: RunState, phase: str) -> Decision | None:
    """Land what a person said yes to: a yes holds for this very tree. Where landing is denied, the action says so."""
    question = Question(f"landing:{phase}", bound_key([("tip", state.tip)]), ())
    if state.shape.yes or state.shape.land != "ask" or question in state.approved:
        return issue(state, ActionKind.LAND, phase=phase, tree=state.tip)
    return ask(state, question.subject, question.key, ()) if question not in state.questions.values() else None
