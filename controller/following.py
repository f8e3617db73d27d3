"""What follows a landing, in words for who is asked about it; loads nothing heavy."""

import json
from collections.abc import Mapping
from typing import Any

from controller.store.database import Database


def question(kind: str, what: str, commit: str, branch: str) -> str:
    """Return the question: the very remote or command, and the commit."""
    if kind == "push":
        return f"May {commit[:12]} be pushed to {branch} of {what}? A push cannot be undone."
    return f"{commit[:12]} is on {branch}: may `{what}` run as you, outside of any sandbox? It cannot be undone."


def asked_about(db: Database, run: Mapping[str, Any], subject: str) -> dict[str, str] | None:
    """Return kind, what, commit, question and how it went the last time; None for a subject that follows no landing."""
    kind, _, rest = subject.partition(":")
    if kind not in {"push", "hook"}:
        return None
    phase, _, number = rest.partition(":")
    plan = json.loads(run["plan"])
    what = plan["push"] if kind == "push" else plan["on_landed"][int(number) - 1]
    sql = "SELECT after FROM saga WHERE run_id=? AND kind='land' AND phase=? ORDER BY n DESC"
    landed = db.row(sql, run["run_id"], phase)
    commit = landed["after"] if landed else ""
    words = question(kind, what, commit, run["base_ref"].removeprefix("refs/heads/"))
    return {"kind": kind, "what": what, "commit": commit, "question": words, "last": _last(db, run["run_id"], subject)}


def _last(db: Database, run_id: str, subject: str) -> str:
    sql = "SELECT data FROM events WHERE run_id=? AND type='after.done' ORDER BY seq DESC"
    tried = (json.loads(row["data"]) for row in db.rows(sql, run_id))
    last = next((data for data in tried if data["subject"] == subject), None)
    return f"{last['message']} ({last['hint']})" if last else ""
