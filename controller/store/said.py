"""What checks said so far, under tree, engine, image and command: one that says different things is flaky.

Kept beside the evidence, for all runs of a repository alike: what a check says has nothing to do with who asks.
"""

import json
from typing import Any

from controller.store.database import Database
from sandbox.effect import effect

_SAID = "said:"
_MOST = 20  # what it said last, so many times


def said(db: Database, key: str) -> list[str]:
    """Return what the check said under this key: passed or failed, oldest first."""
    row = db.row("SELECT body FROM evidence WHERE key=?", _SAID + key)
    return list(json.loads(row["body"])["said"]) if row else []


def remember(db: Database, key: str, run_id: str, tree: str, command: str, *, passed: bool) -> list[str]:
    """Add what the check said now, and return all that it said."""
    with effect("evidence.store"), db.transaction() as inner:
        row = inner.execute("SELECT body FROM evidence WHERE key=?", (_SAID + key,)).fetchone()
        kept = json.loads(row[0]) if row else {"said": [], "runs": []}
        words = [*kept["said"], "passed" if passed else "failed"][-_MOST:]
        runs = sorted({*kept["runs"], run_id})
        body = json.dumps({"tree": tree, "command": command, "said": words, "runs": runs})
        inner.execute("INSERT OR REPLACE INTO evidence VALUES (?,?)", (_SAID + key, body))
    return words


def flaky(db: Database, run_id: str) -> list[dict[str, Any]]:
    """Return the checks of a run that said different things of one tree: {command, tree, said}."""
    rows = db.rows("SELECT body FROM evidence WHERE key LIKE ? ORDER BY rowid", f"{_SAID}%")
    kept = [json.loads(row["body"]) for row in rows]
    return [
        {name: one[name] for name in ("command", "tree", "said")}
        for one in kept
        if run_id in one["runs"] and len(set(one["said"])) > 1
    ]
