"""Carrying a run to where it stops: finished, or waiting for a person. Shared by run, resume and rollback's kin."""

import os

from controller import refnames
from controller.actions.finish import bring_back, put_away
from controller.begin import open_context, shape
from controller.context import Context
from controller.copies import restore
from controller.kernel import RunState
from controller.lock import held
from controller.rollback import finish_rollback
from controller.run import Loop
from controller.screen import Screen
from controller.signals import Menu
from controller.standing import actor, standing
from controller.stopping import told_to_stop
from controller.store.store import OVER, RunRecord, Store
from controller.supervise import detach
from controller.voice import say
from packets.events import Event, EventType
from sandbox.choose import close
from sandbox.effect import effect
from sandbox.git import Git, RefMoved


def carry(
    git: Git, store: Store, run: RunRecord, screen: Screen, cause: EventType | None = None
) -> tuple[str, int]:  # fmt: skip
    """Carry the run on; returns its state and exit code, which are stored and agree with git.

    `cause` is an event to open with instead of run.resumed (a cancel). Raises Held while another process carries it.
    """
    with held(git.roots.run(run.run_id), run.run_id):
        now = store.run(run.run_id)  # another process may have carried it to its end since we looked
        if now.state in OVER:
            return now.state, now.exit or 0
        context = open_context(git, store, run)
        try:
            state = _carried(context, screen, cause)
        finally:
            close(context.sandbox)
        name, code, note = standing(state, store, run.run_id)
        store.set_run(run.run_id, name, code, note)
        return name, code


def _carried(context: Context, screen: Screen, cause: EventType | None) -> RunState:
    git, store, run = context.git, context.store, context.run
    begun = bool(store.events(run.run_id))
    git.free_refs(refnames.branches(run.run_id), refnames.kept(run.run_id), refnames.rescues(run.run_id))
    _integration(git, run, begun=begun)
    restore(git.roots, context.records)
    store.set_run(run.run_id, "running", None)
    if begun:
        finish_rollback(context)
    opening = [] if begun else [_started(git, run)]
    if begun or cause:
        opening.append(Event(type=cause or EventType.RESUMED, actor=actor()))
    loop = Loop(context, screen, screen.answer)
    unwanted = context.cancelled
    context.cancelled = lambda module: unwanted(module) or told_to_stop(context.folder)
    if screen.asks:
        loop.menu = Menu(screen.leave, lambda: _hand_over(context, screen), screen.tell)
    state = loop.go(*opening)
    if state.finished:
        put_away(context)  # once more: the last controller may have died after the end was said
    return state


def _hand_over(context: Context, screen: Screen) -> None:
    """Have the run carried in the background and leave at once; as after a crash, which loses nothing.

    Leaving in order would stop the workers; so they live on where the engine lets them.
    """
    detach(context.roots, context.run_id)
    screen.close()
    say(f"grace: run {context.run_id} goes on in the background; watch it: grace watch {context.run_id}\n")
    os._exit(0)


def _started(git: Git, run: RunRecord) -> Event:
    data = {"shape": shape(run).model_dump_json(), "tip": git.tree(run.base_commit), "plan_digest": run.plan_digest}
    return Event(type=EventType.STARTED, actor=actor(), data=data)


def _integration(git: Git, run: RunRecord, *, begun: bool) -> None:
    """Make the integration branch of a new run; bring back the branches of one that goes on."""
    if begun:
        bring_back(git, run.run_id)
        return
    try:
        with effect("ref.begin"):
            git.update_ref(refnames.integration(run.run_id), run.base_commit, "")
    except RefMoved:  # a crash before the first event: it is ours already
        return
