"""What becomes of a module after an attempt, a conflict, a red wave or a no: another attempt, a question, the end."""

from dataclasses import replace

from controller.kernel.state import RunState, dependents, halted, put, unasked
from packets.states import FINAL, ModuleState

PATIENCE = 5
"""An engine that drops the same attempt this often in a row is a matter for a person."""

S = ModuleState


def again(state: RunState, module: str, cause: str, *, repeated: bool = False) -> RunState:
    """Queue a fresh attempt, or end: out of attempts fails, the same failure twice asks a person."""
    status = state.at(module)
    if status.attempt >= status.allowed:
        return fail(state, module, f"{cause}; no attempt is left")
    if repeated:
        return stuck(state, module, "stuck")
    return put(state, module, cause, S.QUEUED, accepted=False, waits_for="")


def stuck(state: RunState, module: str, why: str) -> RunState:
    """Leave the module to a person; the walk asks."""
    if state.shape.yes:
        return fail(state, module, f"{why}, and nobody is asked under --yes")
    return put(state, module, why, accepted=False, waits_for=why)


def fail(state: RunState, module: str, cause: str) -> RunState:
    """Fail a module and cancel everything that depends on it; what of them is merged is undone."""
    state = undo(state, module)
    state = put(unasked(state, module), module, cause, S.FAILED, accepted=False, waits_for="")
    for other in dependents(state.layout, [module]):
        if state.at(other).state not in FINAL:
            state = unasked(state, other)
            state = put(state, other, f"{module} failed", S.CANCELLED, accepted=False, waits_for="")
    return state


def undo(state: RunState, module: str) -> RunState:
    """Have the merge of a module undone, and the merges that were built on it."""
    built = [module, *dependents(state.layout, [module])]
    merged = [m for m in built if state.at(m).merged]
    return replace(state, undoing=tuple(dict.fromkeys((*state.undoing, *merged))))


def start_over(state: RunState, module: str, cause: str) -> RunState:
    """Forget what the module has, and let it begin anew with all its attempts: what it stood on is gone."""
    more = state.at(module).attempt + state.shape.attempts[module]
    facts = {"accepted": False, "waits_for": "", "commit": "", "signature": "", "redo": False, "by_hand": ""}
    facts |= {"merged": False, "running": False, "allowed": more}
    return put(unasked(state, module), module, cause, S.QUEUED, **facts)


def cut_off(state: RunState, module: str, reason: str) -> RunState:
    """Take in that an attempt did not come to its end: it costs nothing and runs again under its own number."""
    status = state.at(module)
    if status.state is not S.WORKING:
        return put(state, module, reason, running=False)
    stops = 0 if state.halt else status.stops + 1
    to = S.PAUSED if state.halt == "paused" else S.QUEUED
    cause = f"{reason}, as the run is paused" if state.halt == "paused" else reason
    state = put(state, module, cause, to, running=False, redo=True, stops=stops % PATIENCE)
    return halted(state, "blocked") if stops == PATIENCE else state
