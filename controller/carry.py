"""Carrying a run to where it stops: finished, or waiting for a person. Shared by run, resume and rollback's kin."""

import getpass
import os

from controller import refnames
from controller.actions.finish import bring_back
from controller.begin import open_context, shape
from controller.copies import restore
from controller.kernel import RunState
from controller.run import Loop
from controller.screen import Screen
from controller.store.store import RunRecord, Store
from packets.events import Event, EventType
from sandbox.choose import close
from sandbox.git import Git, RefMoved

WAITING = 4
INTERRUPTED = 130


def actor() -> str:
    """Return who acts, as the system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def carry(
    git: Git, store: Store, run: RunRecord, screen: Screen, cause: EventType | None = None
) -> tuple[str, int]:  # fmt: skip
    """Carry the run on; returns its state and exit code, which are stored and agree with git.

    `cause` is an event to open with instead of run.resumed (a cancel).
    """
    context = open_context(git, store, run)
    try:
        loop = Loop(context, screen, screen.answer)
        begun = bool(store.events(run.run_id))
        _integration(git, run, begun=begun)
        restore(git.roots, context.records)
        store.set_run(run.run_id, "running", None)
        opening = Event(type=cause or EventType.RESUMED, actor=actor()) if begun else _started(git, run)
        state = loop.go(opening)
        name, code, note = standing(state, store, run.run_id)
        store.set_run(run.run_id, name, code, note)
        return name, code
    finally:
        close(context.sandbox)


def _started(git: Git, run: RunRecord) -> Event:
    data = {"shape": shape(run).model_dump_json(), "tip": git.tree(run.base_commit), "plan_digest": run.plan_digest}
    return Event(type=EventType.STARTED, actor=actor(), data=data)


def _integration(git: Git, run: RunRecord, *, begun: bool) -> None:
    """Make the integration branch of a new run; bring back the branches of one that goes on."""
    if begun:
        bring_back(git, run.run_id)
        return
    try:
        git.update_ref(refnames.integration(run.run_id), run.base_commit, "")
    except RefMoved:  # a crash before the first event: it is ours already
        return


def standing(state: RunState, store: Store, run_id: str) -> tuple[str, int, str]:
    """Say how a run stands that nobody carries now: its state, exit code and a line for people."""
    if state.finished:
        return state.closing, 0 if state.closing == "done" else 1, ""
    if state.halt == "interrupted":
        return "interrupted", INTERRUPTED, f"continue: grace resume {run_id}"
    if state.halt == "paused":
        return "paused", WAITING, f"continue: grace resume {run_id}"
    if state.halt == "blocked":
        return _blocked(store, run_id)
    subjects = ", ".join(q["subject"] for q in store.approvals(run_id))
    return "waiting", WAITING, f"waits for a person: {subjects}"


def _blocked(store: Store, run_id: str) -> tuple[str, int, str]:
    kinds = {EventType.BROKEN, EventType.LANDING_BLOCKED, EventType.SYNCED}
    said = [r.event for r in store.events(run_id) if r.event.type in kinds]
    data = said[-1].data if said else {}
    note = str(data.get("message", "it stands still"))
    if data.get("hint"):
        note += f" ({data['hint']})"
    return "blocked", int(data.get("exit", WAITING)), note
