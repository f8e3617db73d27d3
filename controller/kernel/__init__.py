"""The kernel: what happens next, decided by one pure function `decide(state, event) -> Decision(state, actions)`.

A run is a walk over phases and waves. In a wave every module works until it is accepted or final; then people are
asked as the profile says, the accepted are merged in plan order, and the wave is refreshed on the integrated tree. A
phase ends with a full refresh, a question and the landing. `settle` takes an event in, `advance` says what to do now.
Nothing here reads a clock, a disk or a process: thousands of modules are simulated in the tests.
"""

from dataclasses import replace

from controller.kernel.advance import advance
from controller.kernel.module import ModuleStatus
from controller.kernel.settle import settle
from controller.kernel.state import Decision, RunState, Transition, fresh
from packets.events import Action, Event, Shape

__all__ = ["Decision", "ModuleStatus", "RunState", "Transition", "begin", "decide"]


def begin(event: Event) -> RunState:
    """Return the state after `run.started`, whose data holds the shape and the tree that the run starts from."""
    return fresh(Shape.model_validate_json(event.data["shape"]), event.data["tip"])


def decide(state: RunState | None, event: Event) -> Decision:
    """Take `event` in and say what to do next."""
    current = begin(event) if state is None else settle(replace(state, transitions=()), event)
    actions: list[Action] = []
    while (move := advance(current)) is not None:
        current = move.state
        actions.extend(move.actions)
    return Decision(current, tuple(actions), current.transitions)
