"""A run without any process: events go in by hand, actions come out and wait for their outcome."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.kernel import RunState, Transition, decide
from packets.events import Action, ActionKind, AfterShape, Event, EventType, PhaseShape, Shape, WaveShape

E = EventType


class Run:
    """The kernel with a notebook: all events, all actions, and which of them are under way."""

    def __init__(self, shape: Shape) -> None:
        self.events: list[Event] = []
        self.given: list[tuple[Action, ...]] = []
        self.transitions: list[Transition] = []
        self.open: dict[str, Action] = {}
        self.asked: dict[str, Action] = {}
        self.known: RunState | None = None
        self.tell(E.STARTED, shape=shape.model_dump_json(), tip="start")

    @property
    def state(self) -> RunState:
        assert self.known is not None
        return self.known

    def take(self, event: Event) -> tuple[Action, ...]:
        made = decide(self.known, event)
        self.known = made.state
        self.events.append(event)
        self.given.append(made.actions)
        self.transitions.extend(made.transitions)
        self.open.pop(event.action, None)
        for action in made.actions:
            (self.asked if action.kind is ActionKind.ASK else self.open)[
                action.data["subject"] if action.kind is ActionKind.ASK else action.id
            ] = action
        return made.actions

    def tell(self, type_: EventType, *, module: str = "", actor: str = "grace", action: str = "", **data: Any):
        return self.take(Event(type=type_, module=module, actor=actor, action=action, data=data))

    def find(self, kind: ActionKind, module: str = "") -> Action:
        """The one action of this kind under way."""
        (found,) = [a for a in self.open.values() if a.kind is kind and module in ("", a.module)]
        return found

    def end(self, action: Action, type_: EventType, **data: Any) -> tuple[Action, ...]:
        """Give an action its outcome."""
        return self.take(Event(type=type_, module=action.module, attempt=action.attempt, action=action.id, data=data))

    # --- outcomes, said shortly -----------------------------------------------------------------------------------

    def accept(self, *modules: str, head: str = "") -> None:
        for m in modules:
            self.judge(m, "accept", head=head)

    def judge(self, module: str, decision: str = "revise", head: str = "", **data: Any) -> tuple[Action, ...]:
        action = self.find(ActionKind.ATTEMPT, module)
        head = head or f"{module}{action.attempt}"
        return self.end(action, E.ATTEMPT_JUDGED, decision=decision, head_tree=head, commit=f"c-{head}", **data)

    def merge(self, *modules: str) -> None:
        for m in modules:
            action = self.find(ActionKind.MERGE)
            assert action.module == m
            self.end(action, E.MERGED, commit=f"m-{m}", tree=f"{self.state.tip[-99:]}+{m}")

    def refresh(self, *, green: bool = True, culprit: str = "") -> None:
        action = self.find(ActionKind.REFRESH)
        self.end(action, E.REFRESHED, level=action.data["level"], green=green, culprit=culprit)

    def undo(self, *modules: str) -> None:
        action = self.find(ActionKind.UNDO)
        assert action.data["modules"] == list(modules)
        self.end(action, E.UNDONE, tip="c", tree=f"{self.state.tip[-99:]}-{modules[0]}")

    def say(self, module: str = "", word: str = "w1") -> None:
        self.take(Event(type=E.SAID, module=module, actor="anna", data={"id": word, "text": "words"}))

    def land(self) -> None:
        self.end(self.find(ActionKind.LAND), E.LANDED, commit="landed")

    def finish(self) -> str:
        action = self.find(ActionKind.FINISH)
        self.end(action, E.FINISHED, state=action.data["ending"])
        return str(action.data["ending"])

    def grant(self, subject: str) -> None:
        question = self.state.questions[subject]
        self.tell(E.GRANTED, subject=subject, key=question.key, actor="anna")

    def reject(self, subject: str, **data: Any) -> None:
        question = self.state.questions[subject]
        self.take(Event(type=E.REJECTED, actor="anna", data={"subject": subject, "key": question.key, **data}))

    def edit(self, subject: str, module: str, tree: str) -> None:
        data = {"subject": subject, "key": self.state.questions[subject].key, "module": module, "tree": tree}
        self.take(Event(type=E.EDITED, actor="anna", data=data))

    def lapse(self, subject: str) -> None:
        self.tell(E.LAPSED, subject=subject, key=self.state.questions[subject].key)

    def kinds(self) -> list[str]:
        return sorted(f"{a.kind} {a.module}".strip() for a in self.open.values())

    def states(self) -> dict[str, str]:
        return {name: str(status.state) for name, status in self.state.modules.items()}


def shape_of(*phases: list[list[str]], **given: Any) -> Shape:
    """A shape from phases of waves of module names; `needs="b>a c>a"`, `after="push:p1 hook:p1:1"`."""
    number, after = 0, given.pop("after", "").split()
    made = []
    for p, waves in enumerate(phases, 1):
        shapes = []
        for modules in waves:
            number += 1
            shapes.append(WaveShape(number=number, modules=tuple(modules)))
        subjects = [s for s in after if s.split(":")[1] == f"p{p}"]
        follows = tuple(AfterShape(subject=s, kind=s.split(":")[0], what=f"do {s}") for s in subjects)
        made.append(PhaseShape(id=f"p{p}", waves=tuple(shapes), after=follows))
    names = [m for waves in phases for wave in waves for m in wave]
    needs: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    for pair in given.pop("needs", "").split():
        module, other = pair.split(">")
        needs[module] = (*needs[module], other)
    attempts = dict.fromkeys(names, given.pop("attempts", 3))
    return Shape(phases=tuple(made), depends_on=needs, attempts=attempts, **{"max_workers": 9} | given)


@pytest.fixture(scope="session")
def start() -> Callable[..., Run]:
    """Start a run: `start([["a", "b"], ["c"]], needs="c>a", profile="fast")`."""
    return lambda *phases, **given: Run(shape_of(*phases, **given))


@pytest.fixture(scope="session")
def run_of() -> type[Run]:
    return Run
