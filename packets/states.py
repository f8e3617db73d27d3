"""States of a module and the one transition table."""

from enum import StrEnum


class ModuleState(StrEnum):
    """Where a module stands."""

    QUEUED = "queued"  # waits for its dependencies or a place
    WORKING = "working"  # an attempt runs, or is judged
    WAITING = "waiting"  # a person must decide
    PAUSED = "paused"  # a person stopped it
    ASLEEP = "asleep"  # accepted; its commit is an ancestor of the integration branch
    DONE = "done"  # landed; its commit is an ancestor of the base branch
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({ModuleState.DONE, ModuleState.FAILED, ModuleState.CANCELLED})

_S = ModuleState
TRANSITIONS: dict[ModuleState, frozenset[ModuleState]] = {
    _S.QUEUED: frozenset({_S.WORKING, _S.PAUSED, _S.CANCELLED}),
    _S.WORKING: frozenset({_S.WAITING, _S.ASLEEP, _S.FAILED, _S.QUEUED, _S.PAUSED, _S.CANCELLED}),
    _S.WAITING: frozenset({_S.QUEUED, _S.WORKING, _S.ASLEEP, _S.FAILED, _S.PAUSED, _S.CANCELLED}),
    _S.PAUSED: frozenset({_S.QUEUED, _S.CANCELLED}),
    _S.ASLEEP: frozenset({_S.QUEUED, _S.FAILED, _S.DONE, _S.CANCELLED}),
    _S.DONE: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
}


class IllegalTransition(ValueError):  # noqa: N818 - reads as what it says
    """A bug: the kernel asked for a transition that the table does not hold."""


def step(current: ModuleState, following: ModuleState) -> ModuleState:
    """Return `following` if the table allows it; raises IllegalTransition."""
    if following not in TRANSITIONS[current]:
        raise IllegalTransition(f"{current} -> {following}")
    return following
