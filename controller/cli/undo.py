"""grace rollback, grace clean."""

import json
import sys

from controller.clean import clean_all, clean_run
from controller.cli.opened import opened
from controller.rollback import Target, roll_back
from packets.errors import UsageError


def rollback(wanted: str, *, to: str, module: str, as_json: bool) -> None:
    """Undo in reverse and say what was undone."""
    if bool(to) == bool(module):
        raise UsageError("say what to undo", "--to start, --to phase:ID, --to wave:N or --module ID")
    with opened(wanted) as (git, store, run):
        done = roll_back(git, store, run, Target(to=to, module=module))
    if as_json:
        sys.stdout.write(json.dumps({"run_id": run.run_id, **done}) + "\n")
        return
    if done["modules"] or not done["reverted"]:
        sys.stdout.write(f"undone: {', '.join(done['modules']) or 'nothing'}\n")
    if done["reverted"]:
        branch = run.base_ref.removeprefix("refs/heads/")
        sys.stdout.write(f"reverted on {branch}: {', '.join(done['reverted'])}\n")


def clean(wanted: str | None, *, force: bool) -> None:
    """Drop one run's history, or that of every finished run."""
    if force and wanted is None:
        raise UsageError("--force drops content for good, so it needs the run's id", "grace clean RUN --force")
    with opened(wanted) as (git, store, run):
        for line in clean_run(git, store, run, force=force) if wanted else clean_all(git, store):
            sys.stdout.write(line + "\n")
