"""The state of a run, and the few ways to change it that both halves of the kernel share."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from packets.events import Action, ActionKind, PhaseShape, Shape, WaveShape
from packets.states import FINAL, ModuleState, step

ASKS_AGAIN = frozenset({"stuck", "blocked"})
"""What a module may wait for where a yes means: try once more."""


@dataclass(frozen=True)
class ModuleStatus:
    """Where one module stands. `allowed` counts attempts; `waits_for` says why it waits: stuck, blocked, approval."""

    state: ModuleState = ModuleState.QUEUED
    attempt: int = 0
    allowed: int = 1
    running: bool = False
    accepted: bool = False
    redo: bool = False  # the last attempt was stopped by us or by the engine: it runs again under its own number
    head: str = ""
    commit: str = ""
    signature: str = ""
    waits_for: str = ""
    reverted: bool = False

    @property
    def settled(self) -> bool:
        """True when the wave need not wait for it."""
        return self.accepted or self.state in FINAL or self.state is ModuleState.ASLEEP


class Transition(NamedTuple):
    """One change of state, stored before anybody acts on it."""

    module: str
    before: ModuleState
    after: ModuleState
    cause: str


class Question(NamedTuple):
    """What a person is asked: an approval bound to trees by its key."""

    subject: str
    key: str
    modules: tuple[str, ...]


@dataclass(frozen=True)
class RunState:
    """The fold of all events so far. `tip` is the tree of the integration branch."""

    shape: Shape
    modules: dict[str, ModuleStatus]
    phase: int = 0
    wave: int = 0
    tip: str = ""
    inflight: frozenset[str] = frozenset()
    issued: int = 0
    unrefreshed: bool = False
    phase_green: bool = False
    questions: dict[str, Question] = field(default_factory=dict)
    approved: frozenset[Question] = frozenset()
    culprit: str = ""  # the module whose merge is to be undone
    moved: str = ""  # the base branch moved here meanwhile
    halt: str = ""  # why nothing new starts: interrupted, paused, blocked
    closing: str = ""  # how the run ends: done, failed, cancelled
    finished: bool = False
    transitions: tuple[Transition, ...] = field(default=(), compare=False)

    def at(self, module: str) -> ModuleStatus:
        """Return the module's status."""
        return self.modules[module]

    @property
    def phase_shape(self) -> PhaseShape | None:
        """Return the phase the run is in, or None at its end."""
        return self.shape.phases[self.phase] if self.phase < len(self.shape.phases) else None

    @property
    def wave_shape(self) -> WaveShape | None:
        """Return the wave the run is in, or None at the end of the phase."""
        phase = self.phase_shape
        return phase.waves[self.wave] if phase and self.wave < len(phase.waves) else None

    @property
    def resting(self) -> bool:
        """True when nothing is under way: finished, or waiting for a person."""
        return not self.inflight


class Decision(NamedTuple):
    """What the kernel decided: the new state, the actions to carry out, the transitions to store."""

    state: RunState
    actions: tuple[Action, ...] = ()
    transitions: tuple[Transition, ...] = ()


def put(state: RunState, module: str, cause: str, to: ModuleState | None = None, **changes: Any) -> RunState:
    """Change one module's status; a change of its state must be in the table and is recorded with its cause."""
    status = state.at(module)
    transitions = state.transitions
    if to is not None and to is not status.state:
        changes["state"] = step(status.state, to)
        transitions = (*transitions, Transition(module, status.state, to, cause))
    modules = {**state.modules, module: replace(status, **changes)}
    return replace(state, modules=modules, transitions=transitions)


def issue(state: RunState, kind: ActionKind, module: str = "", attempt: int = 0, **data: Any) -> Decision:
    """Give out an action under the next number: the same fold gives the same ids, over any crash."""
    action = Action(id=f"{state.issued + 1:05d}-{kind}", kind=kind, module=module, attempt=attempt, data=data)
    inflight = state.inflight if kind is ActionKind.ASK else state.inflight | {action.id}
    return Decision(replace(state, issued=state.issued + 1, inflight=inflight), (action,))


def ask(state: RunState, subject: str, key: str, modules: Iterable[str]) -> Decision:
    """Ask a person; a newer question on the same subject voids the older one."""
    question = Question(subject, key, tuple(modules))
    state = replace(state, questions={**state.questions, subject: question})
    return issue(state, ActionKind.ASK, subject=subject, key=key, modules=list(question.modules))


def withdraw(state: RunState, module: str) -> RunState:
    """Void every open question that is about this module: its tree is no more."""
    left = {s: q for s, q in state.questions.items() if module not in q.modules}
    return replace(state, questions=left)


def bound_key(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the key that binds an approval to these (module, tree) pairs."""
    return hashlib.sha256("\n".join(f"{m} {tree}" for m, tree in sorted(pairs)).encode()).hexdigest()[:16]


def dependents(shape: Shape, module: str) -> Iterator[str]:
    """Yield all modules that need `module`, directly or not, in plan order."""
    reached = {module}
    for phase in shape.phases:
        for wave in phase.waves:
            for other in wave.modules:
                if reached & set(shape.depends_on.get(other, ())):
                    reached.add(other)
                    yield other
