"""One module's status, and the lane in which the walk finds it: thousands cost no more than a few."""

from dataclasses import dataclass
from enum import StrEnum

from packets.states import FINAL, ModuleState

ASKS_AGAIN = frozenset({"stuck", "blocked"})
"""What a module may wait for where a yes means: try once more."""


class Lane(StrEnum):
    """What the walk looks for. Every module stands in exactly one lane."""

    START = "start"  # wants a place for its next attempt
    RECALL = "recall"  # back from a pause with an accepted tree or an open matter: needs no attempt
    BUSY = "busy"  # an attempt runs, a person is asked whether to try again, or it is paused
    STUCK = "stuck"  # a person is to be asked whether to try again
    FRESH = "fresh"  # accepted, and nobody was asked yet
    ASKED = "asked"  # accepted, and a person has the word
    READY = "ready"  # accepted, and a person said yes to this tree
    REST = "rest"  # merged or final


UNSETTLED = (Lane.START, Lane.RECALL, Lane.BUSY, Lane.STUCK)
"""While one of its modules stands here, a wave is not ready to merge."""


@dataclass(frozen=True)
class ModuleStatus:
    """Where one module stands. `waits_for`: stuck, blocked, approval, or merge once a person said yes."""

    state: ModuleState = ModuleState.QUEUED
    attempt: int = 0
    allowed: int = 1  # attempts
    running: bool = False
    accepted: bool = False
    redo: bool = False  # the last attempt was stopped by us or by the engine: it runs again under its own number
    stops: int = 0  # how often in a row that was not our wish
    head: str = ""
    commit: str = ""
    packet: str = ""  # the id of the packet that `head` was made on
    merged: bool = False  # a merge of it is on the integration branch
    signature: str = ""
    waits_for: str = ""
    unread: tuple[str, ...] = ()  # messages that no attempt has read: none is accepted before it has
    heard: tuple[str, ...] = ()  # messages that went into its packets
    by_hand: str = ""  # the tree that a person left: the next attempt is theirs
    reverted: bool = False

    @property
    def lane(self) -> Lane:
        """Say what the walk does with it next."""
        state = self.state
        if state in FINAL or state is ModuleState.ASLEEP:
            return Lane.REST
        if state is ModuleState.QUEUED:
            return Lane.RECALL if self.accepted or self.waits_for else Lane.START
        if state is ModuleState.WAITING:
            return {"approval": Lane.ASKED, "merge": Lane.READY}.get(self.waits_for, Lane.BUSY)
        if state is ModuleState.PAUSED or self.running:
            return Lane.BUSY
        return Lane.FRESH if self.accepted else Lane.STUCK

    @property
    def bound(self) -> str:
        """Return what a yes is bound to: this tree, made by this attempt on this packet."""
        return f"{self.head} {self.attempt} {self.packet}"
