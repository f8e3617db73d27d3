"""grace rollback, grace clean."""

import json
import sys
from typing import Any

from controller.clean import clean_all, clean_run
from controller.cli.opened import opened
from controller.rollback import Target, preview, roll_back
from packets.errors import UsageError


def rollback(wanted: str, *, to: str, module: str, dry_run: bool, as_json: bool) -> int:
    """Undo in reverse and say what was undone; exit 1 when something is left to a person."""
    if bool(to) == bool(module):
        raise UsageError("say what to undo", "--to start, --to phase:ID, --to wave:N or --module ID")
    with opened(wanted) as (git, store, run):
        done = (preview if dry_run else roll_back)(git, store, run, Target(to=to, module=module))
    if as_json:
        sys.stdout.write(json.dumps({"run_id": run.run_id, **done}, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_text(done, run.base_ref.removeprefix("refs/heads/")))
    return int(bool(done["left"]) and not dry_run)


def _text(done: dict[str, Any], branch: str) -> str:
    lines = [f"would undo {s['module']} ({s['commit'][:12]}): {s['compensation']}" for s in done.get("steps", ())]
    if not lines and (done["modules"] or not (done["reverted"] or done["left"])):
        lines = [f"undone: {', '.join(done['modules']) or 'nothing'}"]
    if done["reverted"] and "steps" not in done:
        lines += [f"reverted on {branch}: {', '.join(done['reverted'])}"]
    for one in done["left"]:
        lines += [f"left: {one['module']}: {one['reason']}; by hand:", *(f"  {line}" for line in one["commands"])]
    return "\n".join(lines) + "\n"


def clean(wanted: str | None, *, force: bool) -> int:
    """Drop one run's history, or that of every finished run; exit 1 when something could not be removed."""
    if force and wanted is None:
        raise UsageError("--force drops content for good, so it needs the run's id", "grace clean RUN --force")
    with opened(wanted) as (git, store, run):
        done = clean_run(git, store, run, force=force) if wanted else clean_all(git, store)
    sys.stdout.write("".join(f"{line}\n" for line in done.lines))
    return int(not done.whole)
