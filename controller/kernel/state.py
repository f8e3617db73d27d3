"""The state of a run, and the few ways to change it that all parts of the kernel share."""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from controller.kernel.module import Lane, ModuleStatus
from packets.events import Action, ActionKind, PhaseShape, Shape, WaveShape
from packets.states import ModuleState, step

MOVES = frozenset({ActionKind.MERGE, ActionKind.UNDO})
"""What changes the modules on the integration branch."""


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


class Due(NamedTuple):
    """A push or a hook that follows a landing. `stage`: nothing yet, asked, granted, or running."""

    subject: str
    kind: str
    what: str
    commit: str
    tries: int = 0
    stage: str = ""


class Layout(NamedTuple):
    """What follows from the plan's shape: the modules in the order of the waves, and who needs whom."""

    names: tuple[str, ...]
    place: dict[str, int]
    wave: dict[str, int]  # which wave of its phase a module is in
    needed_by: dict[str, list[str]]


@dataclass(frozen=True)
class RunState:
    """The fold of all events so far. `tip` is the tree of the integration branch."""

    shape: Shape
    modules: dict[str, ModuleStatus]
    layout: Layout = field(compare=False, repr=False)
    lanes: dict[Lane, tuple[int, ...]] = field(compare=False, repr=False)  # places, in order
    taken: int = 0  # attempts that run now
    phase: int = 0
    wave: int = 0
    tip: str = ""
    inflight: frozenset[str] = frozenset()
    issued: int = 0
    stale: frozenset[int] = frozenset()  # waves of the phase whose merges no refresh has seen
    phase_green: bool = False
    questions: dict[str, Question] = field(default_factory=dict)
    approved: frozenset[Question] = frozenset()  # landings that got a yes
    culprit: str = ""  # the module whose merge turned a wave red
    undoing: tuple[str, ...] = ()  # merges that must go: of the culprit, of what failed, of what was built on them
    moving: tuple[str, ...] = ()  # the modules whose merges are made or undone at this moment
    due: tuple[Due, ...] = ()  # what follows the landings so far
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

    @property
    def calm(self) -> bool:
        """True when nothing of the walk is under way; what follows a landing holds nobody up."""
        return all(action.endswith(f"-{ActionKind.AFTER}") for action in self.inflight)

    def doing(self, kind: ActionKind) -> bool:
        """Tell whether an action of this kind is under way."""
        return any(action.endswith(f"-{kind}") for action in self.inflight)

    def find(self, wave: WaveShape, *lanes: Lane) -> str | None:
        """Return the wave's first module in one of these lanes, or None."""
        spans = [self._span(wave, lane) for lane in lanes]
        places = [filed[at] for filed, at, end in spans if at < end]
        return self.layout.names[min(places)] if places else None

    def filed(self, wave: WaveShape, lane: Lane) -> list[str]:
        """Return the wave's modules in this lane, in plan order."""
        filed, at, end = self._span(wave, lane)
        return [self.layout.names[place] for place in filed[at:end]]

    def _span(self, wave: WaveShape, lane: Lane) -> tuple[tuple[int, ...], int, int]:
        filed, first = self.lanes[lane], self.layout.place[wave.modules[0]]
        return filed, bisect_left(filed, first), bisect_left(filed, first + len(wave.modules))


class Decision(NamedTuple):
    """What the kernel decided: the new state, the actions to carry out, the transitions to store."""

    state: RunState
    actions: tuple[Action, ...] = ()
    transitions: tuple[Transition, ...] = ()


def fresh(shape: Shape, tip: str) -> RunState:
    """Return the state of a run of which nothing happened yet."""
    names = tuple(m for phase in shape.phases for wave in phase.waves for m in wave.modules)
    needed_by: dict[str, list[str]] = {m: [] for m in names}
    for module in names:
        for other in shape.depends_on.get(module, ()):
            needed_by.setdefault(other, []).append(module)
    return RunState(
        shape=shape,
        modules={m: ModuleStatus(allowed=shape.attempts[m]) for m in names},
        layout=Layout(names, {m: place for place, m in enumerate(names)}, _waves(shape), needed_by),
        lanes=dict.fromkeys(Lane, ()) | {Lane.START: tuple(range(len(names)))},
        tip=tip,
    )


def _waves(shape: Shape) -> dict[str, int]:
    return {m: n for phase in shape.phases for n, wave in enumerate(phase.waves) for m in wave.modules}


def put(state: RunState, module: str, cause: str, to: ModuleState | None = None, **changes: Any) -> RunState:
    """Change one module's status; a change of its state must be in the table and is recorded with its cause."""
    before = state.at(module)
    transitions = state.transitions
    if to is not None and to is not before.state:
        changes["state"] = step(before.state, to)
        transitions = (*transitions, Transition(module, before.state, to, cause))
    after = replace(before, **changes)
    return replace(
        state,
        modules={**state.modules, module: after},
        lanes=_refiled(state, module, before.lane, after.lane),
        taken=state.taken + after.running - before.running,
        transitions=transitions,
    )


def _refiled(state: RunState, module: str, before: Lane, after: Lane) -> dict[Lane, tuple[int, ...]]:
    if before is after:
        return state.lanes
    place, left, joined = state.layout.place[module], state.lanes[before], state.lanes[after]
    out, to = bisect_left(left, place), bisect_left(joined, place)
    return {**state.lanes, before: left[:out] + left[out + 1 :], after: (*joined[:to], place, *joined[to:])}


def issue(state: RunState, kind: ActionKind, module: str = "", attempt: int = 0, /, **data: Any) -> Decision:
    """Give out an action under the next number: the same fold gives the same ids, over any crash."""
    action = Action(id=f"{state.issued + 1:05d}-{kind}", kind=kind, module=module, attempt=attempt, data=data)
    inflight = state.inflight if kind is ActionKind.ASK else state.inflight | {action.id}
    moving = tuple(data.get("modules", (module,))) if kind in MOVES else state.moving
    return Decision(replace(state, issued=state.issued + 1, inflight=inflight, moving=moving), (action,))


def ask(state: RunState, subject: str, key: str, modules: Iterable[str]) -> Decision:
    """Ask a person; a newer question on the same subject voids the older one."""
    question = Question(subject, key, tuple(modules))
    state = replace(state, questions={**state.questions, subject: question})
    return issue(state, ActionKind.ASK, subject=subject, key=key, modules=list(question.modules))


def unasked(state: RunState, module: str) -> RunState:
    """Take back the question about the module; the others of that question are asked about anew."""
    for question in [q for q in state.questions.values() if module in q.modules]:
        state = answered(state, question)
        for other in question.modules:
            if other != module:
                state = put(state, other, "asked about anew", ModuleState.WORKING, waits_for="")
    return state


def answered(state: RunState, question: Question) -> RunState:
    """Close a question."""
    return replace(state, questions={s: q for s, q in state.questions.items() if s != question.subject})


def put_on_again(state: RunState, commits: dict[str, str]) -> RunState:
    """Take in the new commits of merges that stayed when another was undone below them."""
    for module, commit in commits.items():
        state = put(state, module, "put on again", commit=commit)
    return state


def halted(state: RunState, why: str) -> RunState:
    """Start nothing new; what halts the run already, or ends it, goes first."""
    return state if state.closing else replace(state, halt=state.halt or why)


def bound_key(pairs: Iterable[tuple[str, str]]) -> str:
    """Return the key that binds an approval to these (module, tree) pairs."""
    return hashlib.sha256("\n".join(f"{m} {tree}" for m, tree in sorted(pairs)).encode()).hexdigest()[:16]


def dependents(layout: Layout, modules: Iterable[str]) -> list[str]:
    """Return all modules that need one of these, directly or not, in the order of the waves."""
    reached: set[str] = set()
    edge = list(modules)
    while edge:
        found = set(layout.needed_by.get(edge.pop(), ())) - reached
        reached |= found
        edge.extend(found)
    return sorted(reached, key=layout.place.__getitem__)
