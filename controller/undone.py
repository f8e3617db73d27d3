"""What was undone, and what could not be: read from our tables without loading anything heavy."""

import json
from typing import Any

from controller.store.database import Database


def undone(db: Database, run_id: str) -> dict[str, int]:
    """Return the last attempt of each module whose merge was taken back; all before it are over as well."""
    sql = "SELECT data FROM events WHERE run_id=? AND type IN ('rollback.done', 'undo.done') ORDER BY seq"
    marks: dict[str, int] = {}
    for row in db.rows(sql, run_id):
        for module, attempt in json.loads(row["data"]).get("attempts", {}).items():
            marks[module] = max(attempt, marks.get(module, 0))
    return marks


def saga(db: Database, run_id: str) -> list[dict[str, Any]]:
    """Return the steps in order; a compensation that is left to a person says why, and the commands that make it."""
    sql = "SELECT n, kind, module, wave, phase, before, after, state FROM saga WHERE run_id=? ORDER BY n"
    steps = [dict(row) for row in db.rows(sql, run_id)]
    told = _left(db, run_id) if any(step["state"] == "stuck" for step in steps) else {}
    for step in steps:
        one = told.get(step["module"], {}) if step["state"] == "stuck" else {}
        step |= {"reason": one.get("reason", ""), "commands": one.get("commands", [])}
    return steps


def leftovers(db: Database, run_id: str) -> list[dict[str, Any]]:
    """Return what the end of the run could not remove: kind, what, why, commands."""
    row = db.row("SELECT data FROM events WHERE run_id=? AND type='run.finished' ORDER BY seq DESC LIMIT 1", run_id)
    found: list[dict[str, Any]] = json.loads(row["data"]).get("leftovers", []) if row else []
    return found


def _left(db: Database, run_id: str) -> dict[str, dict[str, Any]]:
    """Return what rollbacks left, by module, in the words of the last one."""
    sql = "SELECT data FROM events WHERE run_id=? AND type='rollback.done' ORDER BY seq"
    told = [one for row in db.rows(sql, run_id) for one in json.loads(row["data"]).get("left", ())]
    return {one["module"]: one for one in told}
