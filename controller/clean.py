"""grace clean: a finished run's history goes; content that nobody accepted stays unless its run is named by force."""

import shutil

from controller import refnames
from controller.begin import OVER
from controller.lock import holder
from controller.store.store import RunRecord, Store
from packets.errors import UsageError
from sandbox.git import Git


def clean_run(git: Git, store: Store, run: RunRecord, *, force: bool) -> list[str]:
    """Drop what may go and say what stays; raises UsageError for a live run."""
    if who := holder(git.roots.run(run.run_id)):
        raise UsageError(f"run {run.run_id} is live ({who})", f"end it first: grace cancel {run.run_id}")
    if run.state not in OVER and not force:
        return [f"kept {run.run_id}: it is {run.state}; `grace resume` or `grace cancel` ends it, --force drops it"]
    rescue = git.refs(refnames.rescues(run.run_id))
    if rescue and not force:
        kept = ", ".join(rescue)
        return [f"kept {run.run_id}: nobody accepted what is in {kept}; `grace clean {run.run_id} --force` drops it"]
    for prefix in (refnames.branches(run.run_id), refnames.kept(run.run_id), refnames.rescues(run.run_id)):
        for ref, commit in git.refs(prefix).items():
            git.delete_ref(ref, commit)
    shutil.rmtree(git.roots.run(run.run_id), ignore_errors=True)
    shutil.rmtree(git.roots.readable(run.run_id), ignore_errors=True)
    store.forget_run(run.run_id)
    return [f"dropped {run.run_id}"]
