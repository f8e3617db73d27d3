"""grace clean: a finished run's history goes; content that nobody accepted stays unless its run is named by force."""

import shlex
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from controller import refnames
from controller.actions.finish import clear, prune
from controller.leftovers import Tidying, removing, unlocking
from controller.lock import held, holder
from controller.rescue import unharvested
from controller.store.records import Records
from controller.store.store import OVER, RunRecord, Store
from controller.undone import leftovers
from packets.errors import MachineLacks, UsageError
from packets.verdict import Decision
from sandbox.checkout import discard
from sandbox.choose import choose, close
from sandbox.effect import effect
from sandbox.git import Git
from worker.attempt import workspace_of


class Cleaned(NamedTuple):
    """What was said, line by line, and whether nothing is left that should be gone."""

    lines: list[str]
    whole: bool = True


def clean_all(git: Git, store: Store) -> Cleaned:
    """Drop what may go of every run; a live one is passed over, and said."""
    done = []
    for run in store.runs():
        who = holder(git.roots.run(run.run_id))
        live = Cleaned([f"kept {run.run_id}: it is live ({who})"])
        done.append(live if who else clean_run(git, store, run, force=False))
    prune(git, store)
    return Cleaned([line for one in done for line in one.lines], all(one.whole for one in done))


def clean_run(git: Git, store: Store, run: RunRecord, *, force: bool) -> Cleaned:
    """Drop what may go and say what stays and where; raises UsageError for a live run.

    What cannot be removed is tried again, then said with the commands that do it; the run's row stays with it, so that
    cleaning once more goes on. A run that had not ended is over from the first ref on that goes.
    """
    folder = git.roots.run(run.run_id)
    if who := holder(folder):
        raise UsageError(f"run {run.run_id} is live ({who})", f"end it first: grace cancel {run.run_id}")
    with held(folder, run.run_id):  # nobody may take it up meanwhile
        tidying, said = Tidying(lambda _said: None), []
        if run.state in OVER and leftovers(store.db, run.run_id):
            said = _stop(run, tidying, folder)
        if not force and (why := _kept(git, store, run)):
            return Cleaned([why, *_words(tidying)], not tidying.left)
        if run.state not in OVER:
            said = _stop(run, tidying, folder)
            store.set_run(run.run_id, "cancelled", 1, f"dropped by `grace clean {run.run_id} --force`")
        _drop(git, run, tidying, folder)
        if not tidying.left:
            store.forget_run(run.run_id)
    prune(git, store)
    if tidying.left:
        again = f"then: grace clean {run.run_id}{' --force' if force else ''}"
        return Cleaned([f"not all of {run.run_id} could be dropped", *said, *_words(tidying), again], whole=False)
    return Cleaned([f"dropped {run.run_id}", *said])


def _words(tidying: Tidying) -> list[str]:
    return [line for one in tidying.left for line in one.lines()]


def _drop(git: Git, run: RunRecord, tidying: Tidying, folder: Path) -> None:
    """Remove all that carries the run's id, each by itself."""
    by_hand = f"git -C {shlex.quote(str(git.main))} update-ref -d"
    for prefix in (refnames.branches(run.run_id), refnames.kept(run.run_id), refnames.rescues(run.run_id)):
        for ref, commit in git.refs(prefix).items():
            line = f"{by_hand} {shlex.quote(ref)} {commit}"
            drop = partial(_drop_ref, git, ref, commit)
            tidying.remove("ref", ref, drop, lambda fault, line=line: (*unlocking(fault), line))  # type: ignore[misc]
    for spot in (folder, git.roots.readable(run.run_id)):
        tidying.remove("folder", str(spot), partial(_drop_folder, spot), removing(spot))


def _drop_ref(git: Git, ref: str, commit: str) -> None:
    with effect("ref.drop"):
        git.delete_ref(ref, commit)


def _drop_folder(folder: Path) -> None:
    discard(folder / "work")  # a worker may have locked its folders
    with effect("run.remove"), suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _kept(git: Git, store: Store, run: RunRecord) -> str:
    """Say why the run stays and where the content is that nobody accepted; nothing when it may go."""
    where = [*git.refs(refnames.rescues(run.run_id)), *map(str, _folders(git, store, run))]
    content = f"nobody accepted what is in {', '.join(where)}; " if where else ""
    if unlanded := _unlanded(git, store, run):
        content += f"what is in {', '.join(unlanded)} never landed; "
    drops = f"`grace clean {run.run_id} --force` drops it"
    if run.state in OVER:
        return f"kept {run.run_id}: {content}{drops}" if content else ""
    state = "stopped" if run.state == "running" else run.state
    return f"kept {run.run_id}: it is {state}; {content}`grace resume` or `grace cancel` ends it, {drops}"


def _unlanded(git: Git, store: Store, run: RunRecord) -> list[str]:
    """Name the refs of what was accepted and is on no branch of the user's: it exists nowhere else."""
    refs = {**git.refs(refnames.kept(run.run_id)), **git.refs(refnames.branches(run.run_id))}
    held = git.refs(run.base_ref).get(run.base_ref)
    records = Records(store, run.run_id)
    merged = {step.module for step in records.saga() if step.kind == "merge" and step.state == "done"}
    wanted = {"/integration"} if merged else set()
    for attempt in records.attempts():
        packet, verdict = attempt.packet, attempt.verdict
        accepted = verdict is not None and verdict.decision is Decision.ACCEPT
        if accepted and verdict and verdict.head_tree != packet.base.tree and packet.module_id not in merged:
            wanted.add(f"/{packet.module_id}/attempt-{packet.attempt}")
    found = {ref: commit for ref, commit in refs.items() if ref.rpartition(run.run_id)[2] in wanted}
    return [ref for ref, commit in found.items() if held is None or not git.is_ancestor(commit, held)]


def _folders(git: Git, store: Store, run: RunRecord) -> list[Path]:
    found = (workspace_of(record.packet, git) for record in unharvested(git, Records(store, run.run_id)))
    return [workspace.folder for workspace in found if workspace]


def _stop(run: RunRecord, tidying: Tidying, folder: Path) -> list[str]:
    """Remove the sandboxes and work folders that were left; says so where the engine does not answer."""
    try:
        sandbox = choose(run.settings["engine"]).sandbox
    except MachineLacks as fault:
        return [f"its sandboxes could not be looked for: {fault.message}"]
    try:
        clear(tidying, sandbox, run.run_id, folder)
    finally:
        close(sandbox)
    return []
