"""How a run stands that nobody carries: its state, exit code and a line for people; and who acts."""

import getpass
import os
from contextlib import suppress
from pathlib import Path

from controller.kernel import RunState, decide
from controller.lock import Held, held
from controller.store.store import Store
from packets.errors import UsageError
from packets.events import Event, EventType
from packets.states import ModuleState

WAITING = 4
INTERRUPTED = 130


def actor() -> str:
    """Return who acts, as the system knows them."""
    try:
        return whole(getpass.getuser())
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def whole(text: str) -> str:
    """Return what was given on the command line as text that can be stored: bytes that are no UTF-8 as escapes."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def refolded(store: Store, run_id: str) -> RunState:
    """Bring the state back from the events; raises UsageError for a run that has not begun."""
    state: RunState | None = None
    for recorded in store.events(run_id):
        state = decide(state, recorded.event).state
    if state is None:
        raise UsageError(f"run {run_id} has not begun")
    return state


def lapse(folder: Path, store: Store, run_id: str) -> list[str]:
    """Store that questions lapsed whose time is over, and return their subjects; a live controller does it itself."""
    due = [event for event in store.lapsed(run_id) if not _answered(store, run_id, event)]
    if due:
        with suppress(Held), held(folder, run_id):
            state = refolded(store, run_id)
            for event in due:
                made = decide(state, event)
                store.record(run_id, event, state, made)
                state = made.state
            store.set_run(run_id, *standing(state, store, run_id))
    return [str(event.data["subject"]) for event in due]


def _answered(store: Store, run_id: str, question: Event) -> bool:
    """Say whether an answer, which came in time as later ones are refused, waits to be taken in."""
    said = (e for _, e in store.unread(run_id) if e.type in {EventType.GRANTED, EventType.REJECTED, EventType.EDITED})
    return any((e.data["subject"], e.data["key"]) == (question.data["subject"], question.data["key"]) for e in said)


def standing(state: RunState, store: Store, run_id: str) -> tuple[str, int, str]:
    """Say how a run stands that nobody carries now: its state, exit code and a line for people."""
    if state.finished:
        return state.closing, 0 if state.closing == "done" else 1, _why_ended(state, store, run_id)
    if state.halt == "interrupted":
        return "interrupted", INTERRUPTED, f"continue: grace resume {run_id}"
    if state.halt == "paused":
        return "paused", WAITING, _why_paused(store, run_id)
    if state.halt == "blocked":
        return _blocked(store, run_id)
    subjects = ", ".join(q["subject"] for q in store.approvals(run_id))
    return "waiting", WAITING, f"waits for a person: {subjects}"


def _why_ended(state: RunState, store: Store, run_id: str) -> str:
    """Say why a run did not come to a good end: the word of a person or of the deadline, a red refresh, a module."""
    events = [r.event for r in store.events(run_id)]
    if state.closing == "cancelled":
        return next((str(e.data["reason"]) for e in reversed(events) if e.data.get("reason") and
                     e.type is EventType.CANCELLED), "")  # fmt: skip
    if state.closing != "failed":
        return ""
    failed = [m for m, status in state.modules.items() if status.state is ModuleState.FAILED]
    if any(m not in state.shape.optional for m in failed):
        return f"failed: {', '.join(failed)}"
    last = next((e for e in reversed(events) if e.type in {EventType.REFRESHED, EventType.REJECTED}), None)
    if last is None or last.type is EventType.REJECTED:
        return f"{last.data['subject']} was rejected by {last.actor}" if last else ""
    return f"the {last.data['level']} is red: {last.data.get('message', '')}"


def _why_paused(store: Store, run_id: str) -> str:
    """Say what paused it: a person, or nobody, who let the time of a question run out."""
    kinds = {EventType.PAUSED, EventType.LAPSED, EventType.ROLLED_BACK}
    last = next((r.event for r in reversed(store.events(run_id)) if r.event.type in kinds), None)
    late = f"nobody answered {last.data['subject']} in time; " if last and last.type is EventType.LAPSED else ""
    return f"{late}continue: grace resume {run_id}"


def _blocked(store: Store, run_id: str) -> tuple[str, int, str]:
    """Say what stopped the last controller."""
    kinds = {EventType.BROKEN, EventType.LANDING_BLOCKED, EventType.SYNCED, EventType.ATTEMPT_STOPPED}
    said = [e for e in _last_life(store, run_id) if e.type in kinds]
    data = said[-1].data if said else {}
    note = str(data.get("message") or data.get("reason") or "it stands still")
    if said and said[-1].type is EventType.ATTEMPT_STOPPED:
        note = f"{said[-1].module}: {note}, time and again"
    if data.get("hint"):
        note += f" ({data['hint']})"
    return "blocked", int(data.get("exit", WAITING)), note


def _last_life(store: Store, run_id: str) -> list[Event]:
    events = [r.event for r in store.events(run_id)]
    begins = [n for n, e in enumerate(events) if e.type in {EventType.STARTED, EventType.RESUMED}]
    return events[begins[-1] :] if begins else events
