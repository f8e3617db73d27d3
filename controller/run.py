"""The loop of one run: take in what happened, let the kernel decide, start what it asks for.

    events ──> kernel.decide ──> store.record (event, transitions, intents) ──> engine.start ──> outcomes ──> events

Everything that decides is in the kernel, everything that acts is in `controller.actions`; here is only the order.
"""

import os
import queue
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from controller.actions import ACTIONS
from controller.clock import WorkingTime
from controller.context import Context
from controller.deliver import deliver
from controller.engine import Engine, Steps
from controller.kernel import RunState, decide
from controller.patience import insist, patient
from controller.prompt import Overtaken
from controller.signals import Menu, signals
from controller.store.store import Store, asked, worked
from packets.errors import GraceError, MachineLacks
from packets.events import Action, ActionKind, Event, EventType
from packets.states import FINAL
from sandbox.effect import effect
from sandbox.faults import machine

T = TypeVar("T")
Listener = Callable[[Event, RunState], None]
Answer = Callable[[RunState], Event | None]
POLL = 0.1  # seconds between two looks into the inbox


def nobody(_state: RunState) -> None:
    """Answer nothing: there is no terminal."""


class Loop:
    """One process carries one run, and holds its lock. `listen` is told every event after it is stored."""

    def __init__(self, context: Context, listen: Listener, answer: Answer = nobody) -> None:
        self.ctx = context
        self.listen = listen
        self.answer = answer
        self.menu: Menu | None = None
        self.state: RunState | None = None
        self._launched = False
        self._leaving = False
        self._asking = False
        self.clock = WorkingTime(context.folder / "worked")
        threads = max(4, int(context.run.settings["max_workers"]) * 2)
        self.engine = Engine(context.folder / "engine.db", context.run_id, self._carry_out, threads)
        context.say = self.engine.outcomes.put
        context.cancelled = self._is_cancelled
        context.stopping = self._is_stopping

    @property
    def store(self) -> Store:
        """The store."""
        return self.ctx.store

    def go(self, *opening: Event) -> RunState:
        """Carry the run on until it is finished or only a person can go on; opens with run.started or resumed.

        What people said, and what lapsed, while nobody carried the run comes first: it was before.
        """
        self.refold()
        if self.state is not None:
            self._take_what_people_said()
        for event in opening:
            self.take(event)
        with self._engine(), self._signals():
            self._sweep()
            while self._step():
                pass
        return self.known

    def _sweep(self) -> None:
        """Start what was cut off again, under its own id, and hand in what may not have arrived; it wakes nobody."""
        for action in self.store.open_actions(self.ctx.run_id):
            if action.id in self.known.inflight:  # a rollback voids what was under way
                self.engine.start(action)
        for recorded in self.store.events(self.ctx.run_id):
            if recorded.event.type is EventType.SAID:
                deliver(self.ctx, recorded.event, self.known)

    def refold(self) -> None:
        """Bring the state back from the events."""
        self.state = None
        self.clock.begin(lambda: worked(self.store.events(self.ctx.run_id)))
        for recorded in self.store.events(self.ctx.run_id):
            self.state = decide(self.state, recorded.event).state

    def take(self, event: Event, inbox: str = "") -> None:
        """Take one event in; an outcome that is known already changes nothing."""
        made = decide(self.state, event)
        record = partial(self.store.record, self.ctx.run_id, event, self.state, made, inbox=inbox)
        if self._insist(record, made.state) is None:
            return
        self.state = made.state
        for action in made.actions:
            if action.kind is not ActionKind.ASK and self._launched:
                self._insist(partial(self.engine.start, action), made.state)
        if event.type is EventType.SAID:
            deliver(self.ctx, event, made.state)
        self.listen(event, made.state)
        for action in made.actions:
            if action.kind is ActionKind.ASK:
                self.listen(asked(action), replace(made.state, transitions=()))

    def _insist(self, write: Callable[[], T], state: RunState) -> T:
        """Write down what happened, also on a disk that is full for a moment; nothing is acted on before."""

        def tell(said: str) -> None:
            self.listen(Event(type=EventType.NOTE, data={"message": said}), replace(state, transitions=()))

        return insist(write, lambda: self._leaving, tell, self.store.db.path)

    @contextmanager
    def _engine(self) -> Iterator[None]:
        self.engine.launch()
        self._launched = True
        try:
            yield
        finally:
            self._launched = False
            self._leaving = True
            self.clock.keep(now=True)
            self.engine.close()

    def _signals(self) -> AbstractContextManager[None]:
        """Take signals in as events."""
        return signals(self.engine.outcomes.put, lambda: self._asking, self.menu)

    def _step(self) -> bool:
        """Take in whatever came next; False when the run stands still."""
        self.clock.keep()
        self._take_what_people_said()
        for event in self._overdue():
            self.take(event)
        try:
            self.take(self.engine.outcomes.get(timeout=POLL))
        except queue.Empty:
            return self._rest() if self.known.resting else True
        return True

    def _take_what_people_said(self) -> None:
        """Take in the inbox, then the questions whose time is over: an answer that came in time counts."""
        for row, event in self.store.unread(self.ctx.run_id):
            self.take(event, inbox=row)
        for event in self.store.lapsed(self.ctx.run_id):
            self.take(event)

    def _overdue(self) -> list[Event]:
        """End a run whose working time is over: the time of earlier lives counts, the time it stood still does not."""
        deadline = self.ctx.plan.limits.deadline
        if deadline is None or self.known.closing or self.known.finished:
            return []
        if self.clock.total < deadline:
            return []
        reason = f"the run's deadline of {deadline} s of working time was reached"
        return [
            Event(type=EventType.NOTE, data={"message": reason}),
            Event(type=EventType.CANCELLED, data={"reason": reason}),
        ]

    def _rest(self) -> bool:
        """Nothing is under way: ask the person at the terminal, if there is one, or stand still."""
        if self.known.finished or self.known.halt in {"interrupted", "paused"}:
            return False
        if self.menu and self.menu.open:
            return True  # one question at a time
        began = time.monotonic()
        try:
            self._asking = True
            said = self.answer(self.known)
        except (KeyboardInterrupt, Overtaken):
            return True  # what was said instead is in one of the inboxes
        finally:
            self._asking = False
            waited = time.monotonic() - began
            self.clock.waited(waited)
        if said is None:
            return False
        self.take(said.model_copy(update={"data": {**said.data, "waited": round(waited, 3)}}))
        return True

    @property
    def known(self) -> RunState:
        """The state; there is one from the first event on."""
        if self.state is None:
            raise RuntimeError("the run has not begun")
        return self.state

    def _is_cancelled(self, module: str) -> bool:
        """Tell a running attempt whether it is still wanted."""
        state = self.known
        return self._leaving or state.halt in {"interrupted", "paused"} or state.at(module).state in FINAL

    def _is_stopping(self) -> bool:
        """Tell a running refresh whether it is still wanted."""
        return self._leaving or self.known.halt in {"interrupted", "paused"} or self.known.closing == "cancelled"

    def _is_unwanted(self, action: Action) -> bool:
        return self._is_cancelled(action.module) if action.kind is ActionKind.ATTEMPT else self._is_stopping()

    def _carry_out(self, action: Action, step: Steps) -> Event:
        """Carry out one action; machinery that broke is an outcome too: the run stands still and says why."""
        if action.id not in self.known.inflight:
            return Event(type=EventType.NOTE, action=action.id, data={"message": f"{action.id} is void"})
        try:
            tell = partial(self.ctx.note, module=action.module, attempt=action.attempt)
            patiently = patient(step, lambda: self._is_unwanted(action), tell, self.ctx.folder)
            return ACTIONS[action.kind](self.ctx, action, patiently)
        except GraceError as fault:
            said = {"message": fault.message, "hint": fault.hint, "exit": fault.exit_code}
        except Exception as fault:  # noqa: BLE001 - a fault of ours must not lose the run
            known = machine(fault, self.ctx.folder) or self._taken_away(fault) or self._puzzling(action, fault)
            said = {"message": known.message, "hint": known.hint, "exit": known.exit_code}
        return Event(type=EventType.BROKEN, module=action.module, attempt=action.attempt, action=action.id, data=said)

    def _taken_away(self, fault: Exception) -> MachineLacks | None:
        """Say so where somebody removed, while we worked, what we had in our own folder."""
        gone = fault.filename if isinstance(fault, FileNotFoundError) else None
        if gone is None or not Path(os.fsdecode(gone)).is_relative_to(self.ctx.roots.state):
            return None
        said = f"somebody removed {os.fsdecode(gone)}, or a folder above it, while it was in use"
        return MachineLacks(said, f"it is made again: grace resume {self.ctx.run_id}")

    def _puzzling(self, action: Action, fault: Exception) -> GraceError:
        """Keep the traceback of a fault that is ours, and say where."""
        path = self.ctx.roots.logs(self.ctx.run_id) / f"{action.id}.traceback"
        with suppress(OSError), effect("fault.note"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(traceback.format_exc(), encoding="utf-8")
        return GraceError(f"{action.kind} broke: {type(fault).__name__}: {fault}", f"see {path}")
