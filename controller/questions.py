"""The questions that a run asks, and how each one stands; loads nothing heavy."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from controller.following import asked_about
from controller.store.database import Database

_SQL = (
    "SELECT subject, key, modules, asked_at, lapses_at FROM approvals WHERE run_id=? AND state='open'"
    " ORDER BY asked_at, rowid"
)
_ANSWERS = ("approval.granted", "approval.rejected", "candidate.edited")


def questions(db: Database, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the open questions; `stands` is open, answered (the answer waits to be taken in) or lapsed."""
    unread = db.rows("SELECT body FROM inbox WHERE run_id=? AND seq IS NULL", run["run_id"])
    said = [one["data"] for one in (json.loads(row["body"]) for row in unread) if one["type"] in _ANSWERS]
    answered = {(data["subject"], data["key"]) for data in said}
    return [
        {
            **dict(row),
            "modules": json.loads(row["modules"]),
            "stands": _stands(row, answered=(row["subject"], row["key"]) in answered),
            **(asked_about(db, run, row["subject"]) or {}),
        }
        for row in db.rows(_SQL, run["run_id"])
    ]


def _stands(row: Any, *, answered: bool) -> str:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return "answered" if answered else "lapsed" if row["lapses_at"] <= now else "open"


def first_answer(db: Database, run_id: str, subject: str, key: str) -> str:
    """Return the id of the answer that counts, of those that were left for the run's controller: the first one."""
    for row in db.rows("SELECT id, body FROM inbox WHERE run_id=? ORDER BY at, rowid", run_id):
        said = json.loads(row["body"])
        if said["type"] in _ANSWERS and (said["data"]["subject"], said["data"]["key"]) == (subject, key):
            return str(row["id"])
    return ""


def lines(question: Mapping[str, Any], run_id: str) -> list[str]:
    """Say it to people."""
    subject, stands = question["subject"], question["stands"]
    if stands == "answered":
        return [f"  {subject} is answered; it counts when the run goes on: grace resume {run_id}"]
    if stands == "lapsed":
        return [f"  nobody answered {subject} in time; it asks again: grace resume {run_id}"]
    until = f"(until {question['lapses_at'][:16]}Z)"
    named = f"{run_id} {subject}@{question['key'][:8]}"
    first = f"  waits for you: {subject}  ->  grace review {run_id}; grace approve {named}  {until}"
    return [first, *(f"    {said}" for said in (question.get("question"), question.get("last")) if said)]
