"""What the actions of one run work with."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller import refnames
from controller.store.records import Records
from controller.store.store import RunRecord, Store
from packets.errors import GraceError
from packets.events import Event, EventType
from packets.plan import Plan
from sandbox.effect import effect
from sandbox.git import Git, RefMoved
from sandbox.protocol import Sandbox
from sandbox.roots import Roots

if TYPE_CHECKING:
    from controller.graph import Knowledge


@dataclass
class Context:
    """One run's tools. `say` hands a note to the loop; `cancelled` and `stopping` tell what runs to stop."""

    git: Git
    store: Store
    run: RunRecord
    sandbox: Sandbox
    image: str
    say: Callable[[Event], object] = lambda _event: None
    cancelled: Callable[[str], bool] = lambda _module: False
    stopping: Callable[[], bool] = lambda: False
    refs_lock: threading.RLock = field(default_factory=threading.RLock)

    @cached_property
    def plan(self) -> Plan:
        """The plan as it was accepted."""
        return self.run.parsed_plan

    @cached_property
    def records(self) -> Records:
        """The run's documents."""
        return Records(self.store, self.run.run_id)

    @cached_property
    def roots(self) -> Roots:
        """Where things lie."""
        return self.git.roots

    @cached_property
    def folder(self) -> Path:
        """Everything durable of this run."""
        return self.roots.run(self.run.run_id)

    @cached_property
    def knowledge(self) -> "Knowledge":
        """The knowledge graph."""
        from controller.graph import Knowledge

        return Knowledge(self.git, self.roots.state / "cache" / "facts.db")

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.run_id

    def tip(self) -> str:
        """Return the commit of the integration branch; raises GraceError when somebody deleted or moved it.

        It may be one commit of ours ahead of the record: a crash between the two is finished by who asks.
        """
        commit, expected = self.raw_tip(), self.expected_tip()
        if commit != expected and not self._is_next(commit, expected):
            raise self.moved_by_hand(commit)
        return commit

    def raw_tip(self) -> str:
        """Return what the integration branch holds, expected or not; raises GraceError when it is gone."""
        ref = refnames.integration(self.run_id)
        commit = self.git.refs(ref).get(ref)
        if commit is None:
            raise GraceError(f"the integration branch {ref} is gone", self._put_back())
        return commit

    def moved_by_hand(self, commit: str) -> GraceError:
        """Return the error for an integration branch that holds what grace did not put there."""
        what = f"somebody moved the integration branch of {self.run_id} to {commit[:12]}; only grace writes it"
        return GraceError(what, self._put_back())

    def _put_back(self) -> str:
        ref = refnames.integration(self.run_id)
        return f"put it back: git update-ref {ref} {self.expected_tip()}, then: grace resume {self.run_id}"

    def _is_next(self, commit: str, expected: str) -> bool:
        since = self.git.log(expected, commit, first_parent=True)
        return (
            len(since) == 1
            and since[0].parents[:1] == (expected,)
            and f"\nGrace-Run: {self.run_id}\n" in since[0].message
        )

    def expected_tip(self) -> str:
        """Return what our own record says the integration branch should hold."""
        steps = [s.after for s in self.records.saga() if s.state == "done" and s.kind in {"merge", "sync"}]
        return steps[-1] if steps else self.run.base_commit

    def move_tip(self, new: str, old: str) -> None:
        """Compare-and-swap the integration branch; raises GraceError when somebody else moved it."""
        try:
            with effect("ref.integration"):
                self.git.update_ref(refnames.integration(self.run_id), new, old)
        except RefMoved as fault:
            raise self.moved_by_hand(self.raw_tip()) from fault

    def note(self, message: str, module: str = "", attempt: int = 0, **data: Any) -> None:
        """Say something that changes no state."""
        self.say(
            Event(type=EventType.NOTE, module=module, attempt=attempt, data={"message": message, **data}),
        )
