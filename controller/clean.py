"""grace clean: a finished run's history goes; content that nobody accepted stays unless its run is named by force."""

import shutil
from pathlib import Path

from controller import refnames
from controller.actions.finish import prune
from controller.lock import held, holder
from controller.rescue import unharvested
from controller.store.records import Records
from controller.store.store import OVER, RunRecord, Store
from packets.errors import MachineLacks, UsageError
from packets.verdict import Decision
from sandbox.choose import choose, close
from sandbox.effect import effect
from sandbox.git import Git
from worker.attempt import workspace_of


def clean_all(git: Git, store: Store) -> list[str]:
    """Drop what may go of every run; a live one is passed over, and said."""
    said = []
    for run in store.runs():
        who = holder(git.roots.run(run.run_id))
        said += [f"kept {run.run_id}: it is live ({who})"] if who else clean_run(git, store, run, force=False)
    prune(git, store)
    return said


def clean_run(git: Git, store: Store, run: RunRecord, *, force: bool) -> list[str]:
    """Drop what may go and say what stays and where; raises UsageError for a live run."""
    folder = git.roots.run(run.run_id)
    if who := holder(folder):
        raise UsageError(f"run {run.run_id} is live ({who})", f"end it first: grace cancel {run.run_id}")
    with held(folder, run.run_id):  # nobody may take it up meanwhile
        if not force and (why := _kept(git, store, run)):
            return [why]
        said = [] if run.state in OVER else _stop(run)
        for prefix in (refnames.branches(run.run_id), refnames.kept(run.run_id), refnames.rescues(run.run_id)):
            for ref, commit in git.refs(prefix).items():
                with effect("ref.drop"):
                    git.delete_ref(ref, commit)
        with effect("run.remove"):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(git.roots.readable(run.run_id), ignore_errors=True)
        store.forget_run(run.run_id)
    prune(git, store)
    return [f"dropped {run.run_id}", *said]


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


def _stop(run: RunRecord) -> list[str]:
    """Remove the sandboxes that a dead controller left; says so where the engine does not answer."""
    try:
        sandbox = choose(run.settings["engine"]).sandbox
    except MachineLacks as fault:
        return [f"its sandboxes could not be looked for: {fault.message}"]
    try:
        for name in sandbox.remaining(run.run_id):
            sandbox.remove(name)
    finally:
        close(sandbox)
    return []
