"""The live table at a terminal, and the questions asked there."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table as Grid

from controller.difference import difference
from controller.following import asked_about
from controller.kernel import RunState
from controller.prompt import Overtaken, forget_typed, typed
from controller.signals import GO_ON, ways
from controller.store.records import Records
from controller.store.store import OVER, RunRecord, Store
from controller.voice import Tolerant
from controller.wording import answer, line, offers, sentence
from packets.errors import GraceError
from packets.events import Event, EventType
from packets.states import ModuleState
from sandbox.git import Git

_COLOURS = {
    ModuleState.WORKING: "cyan",
    ModuleState.WAITING: "yellow",
    ModuleState.PAUSED: "yellow",
    ModuleState.ASLEEP: "green",
    ModuleState.DONE: "bold green",
    ModuleState.FAILED: "bold red",
    ModuleState.CANCELLED: "red",
}


class Table:
    """One table that changes in place: phase, wave, module, state, what it does now, elapsed, findings."""

    asks = True

    def __init__(self) -> None:
        self.console = Console(file=cast("IO[str]", Tolerant(sys.stdout)))
        self.state: RunState | None = None
        self.doing: dict[str, str] = {}
        self.since: dict[str, float] = {}
        self.findings: dict[str, int] = {}
        self.later: set[tuple[str, str]] = set()
        self.kept: list[str] | None = None
        self.run: RunRecord | None = None
        self.store: Store | None = None
        self.live = Live(console=self.console, refresh_per_second=4, get_renderable=self._grid)

    def tell(self, text: str) -> None:
        """Say one line above the table; after the question, while one is asked that the run does not wait for."""
        if self.kept is not None:
            self.kept.append(text)
        else:
            self.console.print(f"grace: {escape(text)}", highlight=False)

    def begin(self, run: RunRecord, store: Store) -> None:
        """Take up a run."""
        self.run, self.store = run, store
        self.tell(f"run {run.run_id} of {run.name}, from {run.base_commit[:12]} towards {run.base_ref}")
        self.live.start()

    def event(self, event: Event, state: RunState) -> None:
        """Take one event into the table; what is no module's own is said above it."""
        self.state = state
        for transition in state.transitions:
            self.since[transition.module] = time.monotonic()
            self.doing[transition.module] = transition.cause
        if event.type is EventType.ATTEMPT_JUDGED:
            errors = [f for f in event.data.get("findings", []) if f["severity"] == "error"]
            self.findings[event.module] = len(errors)
        text = line(event)
        if text and event.module and event.type in {EventType.NOTE, EventType.ATTEMPT_STARTED}:
            self.doing[event.module] = text.partition(": ")[2]
        elif text:
            self.tell(text)

    __call__ = event

    def _grid(self) -> Grid:
        grid = Grid("phase", "wave", "module", "state", "now", "elapsed", "findings", box=None, pad_edge=False)
        if self.state is None:
            return grid
        for phase in self.state.shape.phases:
            for wave in phase.waves:
                for module in wave.modules:
                    grid.add_row(phase.id, str(wave.number), *self._cells(module))
        return grid

    def _cells(self, module: str) -> tuple[str, str, str, str, str]:
        state = self.state.at(module).state if self.state else ModuleState.QUEUED
        colour = _COLOURS.get(state, "dim")
        since = self.since.get(module)
        elapsed = f"{time.monotonic() - since:.0f}s" if since and state is ModuleState.WORKING else ""
        found = str(self.findings.get(module) or "")
        return escape(module), f"[{colour}]{state}[/]", escape(self.doing.get(module, "")[:60]), elapsed, found

    def answer(self, state: RunState) -> Event | None:
        """Ask about the open questions that were not put off, one after the other, until one is answered."""
        open_ = [q for q in state.questions.values() if (q.subject, q.key) not in self.later]
        if not open_:
            return None
        self.live.stop()
        forget_typed()
        try:
            for question in open_:
                if said := self._ask(question.subject, question.key, list(question.modules)):
                    self.live.start()
                    return said
                self.later.add((question.subject, question.key))
        except Overtaken:
            self.console.print()
            self.live.start()
            raise
        return None

    def leave(self, stands: Callable[[], bool]) -> str:
        """Ask what Ctrl-C means; what the run says meanwhile is said afterwards."""
        if self.run is None:
            return ""
        self.live.stop()
        forget_typed()
        self.kept, choices = [], ways(self.run)
        try:
            self.console.print("\nThe run goes on meanwhile. Ctrl-C once more stops it.", highlight=False)
            return self._word(choices, stands)
        except EOFError:
            return GO_ON
        except Overtaken:
            return ""
        finally:
            said, self.kept = self.kept, None
            self.live.start()
            for text in said:
                self.tell(text)

    def _ask(self, subject: str, key: str, modules: list[str]) -> Event | None:
        from controller.standing import actor

        data = {"subject": subject, "key": key, "modules": modules}
        waits = [self.state.at(module).waits_for for module in modules] if self.state else []
        choices = offers(subject, modules, waits)

        def stands() -> bool:
            return self._stands(subject, key)

        asked = sentence(subject, modules, waits, self._follows(subject))
        while True:
            self.console.print(f"\n[bold]{escape(asked)}[/]", highlight=False)
            try:
                said = self._word(choices, stands)
                if said == "approve":
                    return Event(type=EventType.GRANTED, actor=actor(), data=data)
                if said == "reject":
                    told = " (the next attempt is told)" if "approval" in waits else ""
                    reason = self._typed(f"reason{told}", stands)
                    if not reason and "approval" in waits:
                        continue
                    return Event(type=EventType.REJECTED, actor=actor(), data={**data, "reason": reason})
                if said == "later":
                    return None
                if said == "diff":
                    self._diff(modules)
                elif changed := self._by_hand(modules, stands, shell=said == "shell"):
                    return Event(type=EventType.EDITED, actor=actor(), data={**data, **changed})
            except EOFError:  # Ctrl-D
                return None
            except GraceError as fault:
                self.tell(f"{fault.message}{f' ({fault.hint})' if fault.hint else ''}")

    def _follows(self, subject: str) -> str:
        """Return what follows a landing as a question, with how it went the last time; empty for another subject."""
        asked = asked_about(self.store.db, self.run._asdict(), subject) if self.store and self.run else None
        return f"{asked['last']}\n{asked['question']}".strip() if asked else ""

    def _stands(self, subject: str, key: str) -> bool:
        """Say whether a question is still open and nothing was said elsewhere that may have answered it."""
        if self.store is None or self.run is None:
            return True
        asked = {(q["subject"], q["key"]) for q in self.store.approvals(self.run.run_id)}
        said = self.store.unread(self.run.run_id) or self.store.lapsed(self.run.run_id)
        return (subject, key) in asked and not said

    def _typed(self, prompt: str, stands: Callable[[], bool]) -> str:
        self.console.print(escape(f"{prompt}: "), end="", highlight=False)
        return typed(stands)

    def _word(self, choices: dict[str, str], stands: Callable[[], bool]) -> str:
        """Ask until a word, or its beginning, is one of the choices; anything else explains them."""
        while True:
            if said := answer(self._typed(f"your word [{'/'.join(choices)}]", stands), list(choices)):
                return said
            for choice, does in choices.items():
                self.console.print(f"  {choice:<8} {escape(does)}", highlight=False)

    def _by_hand(self, modules: list[str], stands: Callable[[], bool], *, shell: bool) -> dict[str, str] | None:
        """Let the person change one module's candidate; None when they left it as it was."""
        from controller.rescue import keep_edit
        from sandbox.byhand import by_hand

        if self.store is None or self.run is None:
            return None
        one = len(modules) == 1
        module = modules[0] if one else self._word(dict.fromkeys(modules, ""), stands)
        last = Records(self.store, self.run.run_id).attempts(module)[-1]
        if last.outcome is None:
            return None
        with Git.discover(Path.cwd()) as git:
            head = last.outcome.head_tree
            paths = [c.path for c in git.changes(last.packet.base.tree, head) if c.status != "D"]
            left = by_hand(git, head, paths, shell=shell)
            if left.tree != head:
                keep_edit(git, last.packet, left.tree, self.run.parsed_plan.commit.author)
        for anomaly in left.anomalies:
            self.tell(f"left out: {anomaly.path}, {anomaly.kind}")
        return None if left.tree == head else {"module": module, "tree": left.tree}

    def _diff(self, modules: list[str]) -> None:
        """Show the differences of the modules, or of everything that would land."""
        if not self.run or not self.store or not self.state:
            return
        records = Records(self.store, self.run.run_id)
        with Git.discover(Path.cwd()) as git:
            pairs = [
                (last.packet.base.tree, last.outcome.head_tree)
                for last in (records.attempts(m)[-1] for m in modules)
                if last.outcome
            ] or [(git.tree(self.run.base_commit), self.state.tip)]
            with self.console.pager(styles=True):
                for before, after in pairs:
                    self.console.print(difference(git, before, after), markup=False, highlight=False)

    def finished(self, run_id: str, state: str, code: int, note: str = "") -> int:
        """Say how it ended and what comes next."""
        self.live.stop()
        self.tell(f"run {run_id} is {state}{f': {note}' if note else ''}")
        if code:
            more = f"   go on: grace resume {run_id}" if state not in OVER and "grace resume" not in note else ""
            self.tell(f"look: grace status {run_id}   grace review {run_id}{more}")
        return code

    def close(self) -> None:
        """Leave the terminal as it was found."""
        self.live.stop()
