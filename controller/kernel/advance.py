"""What to do now: the walk over waves and phases, as a short sequence of named rules."""

from dataclasses import replace

from controller.kernel.state import ASKS_AGAIN, Decision, RunState, ask, bound_key, issue, put
from packets.events import ActionKind, WaveShape
from packets.states import FINAL, ModuleState

S = ModuleState


def advance(state: RunState) -> Decision | None:
    """Return the next move, or None when the run must wait for an event."""
    if state.finished or state.halt:
        return None
    if state.closing:
        return _close(state)
    wave = state.wave_shape
    if wave is not None:
        return _walk_wave(state, wave)
    if state.phase_shape is not None:
        return _end_phase(state)
    return Decision(replace(state, closing=_ending(state)))


def _ending(state: RunState) -> str:
    wanted = (m for m in state.modules if m not in state.shape.optional)
    return "done" if all(state.at(m).state is S.DONE for m in wanted) else "failed"


def _close(state: RunState) -> Decision | None:
    """End the run once nothing is under way; what never ran is cancelled."""
    if not state.resting:
        return None
    for name, status in state.modules.items():
        if status.state not in FINAL and status.state is not S.ASLEEP:
            state = put(state, name, "the run ended", S.CANCELLED, accepted=False, waits_for="")
    return issue(state, ActionKind.FINISH, ending=state.closing)


def _walk_wave(state: RunState, wave: WaveShape) -> Decision | None:
    move = _recall(state, wave) or _start(state, wave) or _ask_stuck(state, wave) or _ask_modules(state, wave)
    if move:
        return move
    if not all(state.at(m).settled for m in wave.modules) or not state.resting:
        return None
    if state.culprit:
        return issue(state, ActionKind.UNDO, state.culprit)
    ready = [m for m in wave.modules if state.at(m).accepted]
    if ready:
        return _ask_wave(state, wave, ready) if not _may_merge(state, wave, ready) else _merge(state, ready[0])
    if state.unrefreshed:
        return issue(state, ActionKind.REFRESH, level="wave", wave=wave.number)
    return Decision(replace(state, wave=state.wave + 1))


def _recall(state: RunState, wave: WaveShape) -> Decision | None:
    """Take up an accepted tree that was paused: it needs no new attempt."""
    for module in wave.modules:
        status = state.at(module)
        if status.state is S.QUEUED and status.accepted:
            return Decision(put(state, module, "its accepted tree is taken up again", S.WORKING))
    return None


def _start(state: RunState, wave: WaveShape) -> Decision | None:
    """Start the next attempt where there is a place; waiting for one costs nothing."""
    if sum(status.running for status in state.modules.values()) >= state.shape.max_workers:
        return None
    for module in wave.modules:
        status = state.at(module)
        if status.state is S.QUEUED and not status.running:
            attempt = status.attempt if status.redo else status.attempt + 1
            state = put(state, module, f"attempt {attempt}", S.WORKING, attempt=attempt, running=True, redo=False)
            return issue(state, ActionKind.ATTEMPT, module, attempt, wave=wave.number)
    return None


def _ask_stuck(state: RunState, wave: WaveShape) -> Decision | None:
    for module in wave.modules:
        status = state.at(module)
        if status.state is S.WAITING and status.waits_for in ASKS_AGAIN and f"module:{module}" not in state.questions:
            return ask(state, f"module:{module}", bound_key([(module, f"{status.head}{status.attempt}")]), [module])
    return None


def _ask_modules(state: RunState, wave: WaveShape) -> Decision | None:
    """Under `safe` each module is asked for as soon as it is accepted."""
    if state.shape.yes or state.shape.profile != "safe":
        return None
    for module in wave.modules:
        subject = f"module:{module}"
        asked = subject in state.questions or _has_yes(state, subject, [module])
        if state.at(module).accepted and not asked:
            return _ask_for(state, subject, [module])
    return None


def _key(state: RunState, modules: list[str]) -> str:
    return bound_key((m, state.at(m).head) for m in modules)


def _has_yes(state: RunState, subject: str, modules: list[str]) -> bool:
    key = _key(state, modules)
    return any(q.subject == subject and q.key == key for q in state.approved)


def _ask_for(state: RunState, subject: str, modules: list[str]) -> Decision:
    for module in modules:
        state = put(state, module, "asked", S.WAITING, waits_for="approval")
    return ask(state, subject, _key(state, modules), modules)


def _may_merge(state: RunState, wave: WaveShape, ready: list[str]) -> bool:
    """Say whether people have said yes to exactly these trees. A yes to a whole wave holds while it is merged."""
    if state.shape.yes or state.shape.profile == "fast":
        return True
    if state.shape.profile == "safe":
        return all(_has_yes(state, f"module:{m}", [m]) for m in ready)
    granted = [q for q in state.approved if q.subject == f"wave:{wave.number}"]
    return any(set(ready) <= set(q.modules) and q.key == _key(state, list(q.modules)) for q in granted)


def _ask_wave(state: RunState, wave: WaveShape, ready: list[str]) -> Decision | None:
    if state.shape.profile == "safe" or f"wave:{wave.number}" in state.questions:
        return None
    return _ask_for(state, f"wave:{wave.number}", ready)


def _merge(state: RunState, module: str) -> Decision:
    status = state.at(module)
    return issue(state, ActionKind.MERGE, module, status.attempt, commit=status.commit, head=status.head)


def _end_phase(state: RunState) -> Decision | None:
    phase = state.phase_shape
    if phase is None or not state.resting:
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
    """Land what a person said yes to: a yes holds for this very tree."""
    subject, key = f"landing:{phase}", bound_key([("tip", state.tip)])
    if state.shape.yes or any(q.subject == subject and q.key == key for q in state.approved):
        return issue(state, ActionKind.LAND, phase=phase, tree=state.tip)
    question = state.questions.get(subject)
    return ask(state, subject, key, []) if question is None or question.key != key else None
