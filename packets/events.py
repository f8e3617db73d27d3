"""Typed events in order: the truth of a run. Our event table holds them; the state is their fold."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from packets.value import Value


class EventType(StrEnum):
    """Everything that can happen to a run."""

    STARTED = "run.started"
    RESUMED = "run.resumed"
    INTERRUPTED = "run.interrupted"
    PAUSED = "run.paused"
    CANCELLED = "run.cancelled"
    FINISHED = "run.finished"
    BROKEN = "run.broken"  # an action could not be carried out; data: message, hint, exit

    ATTEMPT_STARTED = "attempt.started"  # for people; changes no state
    ATTEMPT_JUDGED = "attempt.judged"  # data: decision, head_tree, commit, signature, final, blocked
    ATTEMPT_STOPPED = "attempt.stopped"  # cancelled by us, or the engine was lost: costs no attempt

    ASKED = "approval.asked"
    GRANTED = "approval.granted"  # data: subject, key
    REJECTED = "approval.rejected"  # data: subject, key, module, reason, final
    LAPSED = "approval.lapsed"
    EDITED = "candidate.edited"  # a person changed the asked-for tree by hand; data: subject, key, module, tree
    SAID = "message.said"  # data: id, text; of no module: to all that still work

    MERGED = "merge.done"  # data: commit, tree
    CONFLICT = "merge.conflict"  # data: paths
    REFRESHED = "refresh.done"  # data: level, green, culprit, findings
    UNDONE = "undo.done"  # data: tip, tree
    SYNCED = "sync.done"  # the base moved and was merged in; data: tip, tree, or conflicts
    LANDED = "landing.done"  # data: commit
    LANDING_BLOCKED = "landing.blocked"  # data: message, hint
    LANDING_MOVED = "landing.moved"  # data: base
    AFTER_DONE = "after.done"  # a push or a hook after a landing; data: subject, ok, message
    ROLLED_BACK = "rollback.done"  # data: modules, reverted, tip, tree
    NOTE = "note"  # for people; changes no state


class Event(Value):
    """One fact. `action` names the intent that it is the outcome of; `actor` is grace or a person."""

    type: EventType
    module: str = ""
    attempt: int = 0
    actor: str = "grace"
    action: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class ActionKind(StrEnum):
    """What the kernel can ask for."""

    ATTEMPT = "attempt"
    ASK = "ask"
    MERGE = "merge"
    REFRESH = "refresh"
    UNDO = "undo"
    SYNC = "sync"
    LAND = "land"
    AFTER = "after"
    FINISH = "finish"


class Action(Value):
    """An intent: recorded before it is carried out, under an id that stays the same over crashes."""

    id: str
    kind: ActionKind
    module: str = ""
    attempt: int = 0
    data: dict[str, Any] = Field(default_factory=dict)


class WaveShape(Value):
    """One wave: its number through the whole run, its modules in plan order."""

    number: int
    modules: tuple[str, ...] = Field(min_length=1)


class AfterShape(Value):
    """What follows a landing and cannot be undone: `kind` is push or hook, `what` the remote or the command."""

    subject: str
    kind: str
    what: str


class PhaseShape(Value):
    """One phase and its waves; `after` is asked about one by one when it has landed."""

    id: str
    waves: tuple[WaveShape, ...]
    after: tuple[AfterShape, ...] = ()


class Shape(Value):
    """All that the kernel needs to know of the plan."""

    phases: tuple[PhaseShape, ...]
    depends_on: dict[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    attempts: dict[str, int]
    profile: str = "balanced"
    asks: tuple[str, ...] = ()  # modules whose tree is asked for whatever the profile
    land: str = "ask"  # auto, ask, deny
    yes: bool = False
    max_workers: int = Field(default=1, ge=1)
