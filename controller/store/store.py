"""What is remembered of a run. The controller is the one writer of events; commands only post to the inbox."""

import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Any, NamedTuple

from controller.kernel import Decision, RunState
from controller.store.database import Database
from packets.errors import NotPermitted, UsageError
from packets.events import Action, ActionKind, Event, EventType
from packets.permit import SEAL, Permit
from packets.plan import Plan
from sandbox.effect import effect

OVER = frozenset({"done", "failed", "cancelled"})
"""The states of a run that has ended."""


def now() -> str:
    """Return the wall clock, UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def fresh_id() -> str:
    """Return an id that nothing else has."""
    return uuid.uuid4().hex


class RunRecord(NamedTuple):
    """One run as it was submitted, and how it stands."""

    run_id: str
    name: str
    created_at: str
    plan_path: str
    plan_digest: str
    plan: str
    plan_text: bytes
    base_ref: str
    base_commit: str
    options: str
    state: str
    exit: int | None
    note: str

    @property
    def parsed_plan(self) -> Plan:
        """Return the plan as it was accepted."""
        return Plan.model_validate_json(self.plan)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options that hold for the run's whole life."""
        loaded: dict[str, Any] = json.loads(self.options)
        return loaded


class Recorded(NamedTuple):
    """An event with its place in the order."""

    seq: int
    at: str
    event: Event


class Store:
    """Events, intents and what follows from them, in one transaction each."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.db = Database(path, create=create)

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    # --- runs ---------------------------------------------------------------------------------------------------

    def create_run(self, record: RunRecord) -> None:
        """Write a new run down; it has no event yet."""
        with effect("run.create"), self.db.transaction() as db:
            db.execute(f"INSERT INTO runs VALUES ({','.join('?' * len(record))})", record)  # noqa: S608 - a count

    def runs(self) -> list[RunRecord]:
        """Return all runs, newest first."""
        return [RunRecord(*row) for row in self.db.rows("SELECT * FROM runs ORDER BY created_at DESC, rowid DESC")]

    def run(self, wanted: str | None) -> RunRecord:
        """Return the run of this id or unique prefix; the newest when none is named. Raises UsageError."""
        runs = self.runs()
        found = [r for r in runs if r.run_id == wanted] or [r for r in runs if r.run_id.startswith(wanted or "")]
        if not runs:
            raise UsageError("this repository has no grace runs yet", "start one with: grace run plan.yaml")
        if wanted == "":  # a variable of a script that is not set is not the newest run
            raise UsageError("the run's id is empty", "name a run; without any word it is the newest")
        if not found or (wanted and len(found) > 1):
            what = "is not a run" if not found else "fits several runs"
            raise UsageError(f"{wanted!r} {what}", "known: " + ", ".join(r.run_id for r in (found or runs)[:8]))
        return found[0]

    def set_run(self, run_id: str, state: str, exit_code: int | None, note: str = "") -> None:
        """Write down how the run stands."""
        with effect("run.stand"), self.db.transaction() as db:
            db.execute("UPDATE runs SET state=?, exit=?, note=? WHERE run_id=?", (state, exit_code, note, run_id))

    def forget_run(self, run_id: str) -> None:
        """Drop every row of a run."""
        tables = ("runs", "events", "actions", "modules", "transitions", "attempts", "approvals", "inbox", "saga")
        with effect("run.forget"), self.db.transaction() as db:
            for table in tables:
                db.execute(f"DELETE FROM {table} WHERE run_id=?", (run_id,))  # noqa: S608 - names from the line above

    # --- events -------------------------------------------------------------------------------------------------

    def record(
        self, run_id: str, event: Event, before: RunState | None, made: Decision, *, inbox: str = ""
    ) -> int | None:
        """Store the event, its transitions, the new module rows and the intents that follow, all or nothing.

        Returns the event's place, or None when the outcome of that action, or that inbox row, was taken in before.
        A question is stored as an event of its own, `approval.asked`.
        """
        at = now()
        with effect("event.record"), self.db.transaction() as db:
            seq = self._insert_event(db, run_id, at, event, inbox)
            if seq is None:
                return None
            if event.action:
                db.execute("UPDATE actions SET outcome=? WHERE run_id=? AND action=?", (seq, run_id, event.action))
            if inbox:
                db.execute("UPDATE inbox SET seq=? WHERE id=?", (seq, inbox))
            rows = [(run_id, seq, at, t.module, t.before, t.after, t.cause, event.actor) for t in made.transitions]
            db.executemany("INSERT INTO transitions VALUES (?,?,?,?,?,?,?,?)", rows)
            self._write_modules(db, run_id, before, made.state)
            self._answer(db, run_id, event)
            for action in made.actions:
                self._intend(db, run_id, seq, action, at)
            self._void(db, run_id, made.state)
            return seq

    def _insert_event(self, db: Connection, run_id: str, at: str, event: Event, inbox: str) -> int | None:
        cursor = db.execute(
            "INSERT OR IGNORE INTO events (run_id, at, type, module, attempt, actor, action, inbox, data)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            (
                run_id, at, event.type, event.module, event.attempt, event.actor,
                event.action or None, inbox or None, json.dumps(event.data, sort_keys=True),
            ),
        )  # fmt: skip
        return cursor.lastrowid if cursor.rowcount else None

    def _write_modules(self, db: Connection, run_id: str, before: RunState | None, state: RunState) -> None:
        place = 0
        for phase in state.shape.phases:
            for wave in phase.waves:
                for module in wave.modules:
                    place += 1
                    status = state.at(module)
                    if before is not None and before.modules.get(module) is status:
                        continue
                    db.execute(
                        "INSERT OR REPLACE INTO modules VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                        (
                            run_id, module, place, phase.id, wave.number, status.state, status.attempt,
                            status.waits_for, status.head, status.commit, int(status.reverted),
                        ),
                    )  # fmt: skip

    def _answer(self, db: Connection, run_id: str, event: Event) -> None:
        names = {EventType.GRANTED: "granted", EventType.REJECTED: "rejected", EventType.LAPSED: "lapsed"}
        if event.type in names:
            db.execute(
                "UPDATE approvals SET state=?, actor=?, reason=?"
                " WHERE run_id=? AND subject=? AND key=? AND state='open'",
                (
                    names[event.type], event.actor, event.data.get("reason", ""),
                    run_id, event.data["subject"], event.data["key"],
                ),
            )  # fmt: skip

    def _intend(self, db: Connection, run_id: str, seq: int, action: Action, at: str) -> None:
        asked = self._ask(db, run_id, action, at) if action.kind is ActionKind.ASK else None
        body = (run_id, action.id, action.model_dump_json(), seq, asked)
        db.execute("INSERT INTO actions VALUES (?,?,?,?,?)", body)

    def _ask(self, db: Connection, run_id: str, action: Action, at: str) -> int | None:
        """Open the question; that it was asked is an event like any other."""
        subject, key, modules = (action.data[k] for k in ("subject", "key", "modules"))
        plan = db.execute("SELECT plan FROM runs WHERE run_id=?", (run_id,)).fetchone()[0]
        timeout = Plan.model_validate_json(plan).approval_timeout
        lapses = (datetime.fromisoformat(at) + timedelta(seconds=timeout)).isoformat(timespec="milliseconds")
        db.execute("UPDATE approvals SET state='void' WHERE run_id=? AND subject=? AND state='open'", (run_id, subject))
        with effect("approval.ask"):
            db.execute(
                "INSERT OR REPLACE INTO approvals VALUES (?,?,?,?,?,?,'open','','')",
                (run_id, subject, key, json.dumps(modules), at, lapses),
            )
        return self._insert_event(db, run_id, at, asked(action), "")

    def _void(self, db: Connection, run_id: str, state: RunState) -> None:
        """Close the questions that the fold no longer asks: answered by an edit, ended by a cancel, rolled back."""
        sql = "SELECT subject, key FROM approvals WHERE run_id=? AND state='open'"
        for subject, key in db.execute(sql, (run_id,)).fetchall():
            question = state.questions.get(subject)
            if question is None or question.key != key:
                change = "UPDATE approvals SET state='void' WHERE run_id=? AND subject=? AND key=? AND state='open'"
                db.execute(change, (run_id, subject, key))

    def events(self, run_id: str, after: int = 0) -> list[Recorded]:
        """Return the run's events in order."""
        rows = self.db.rows("SELECT * FROM events WHERE run_id=? AND seq>? ORDER BY seq", run_id, after)
        return [Recorded(row["seq"], row["at"], _event(row)) for row in rows]

    def open_actions(self, run_id: str) -> list[Action]:
        """Return every intent without an outcome, in the order it was given out."""
        sql = "SELECT body FROM actions WHERE run_id=? AND outcome IS NULL ORDER BY action"
        return [Action.model_validate_json(row["body"]) for row in self.db.rows(sql, run_id)]

    # --- inbox and approvals ------------------------------------------------------------------------------------

    def post(self, run_id: str, event: Event) -> str:
        """Leave an event for the running, or the next, controller; returns its id."""
        row_id = fresh_id()
        with effect("inbox.post"), self.db.transaction() as db:
            db.execute("INSERT INTO inbox VALUES (?,?,?,?,NULL)", (row_id, run_id, now(), event.model_dump_json()))
        return row_id

    def unread(self, run_id: str) -> list[tuple[str, Event]]:
        """Return what nobody has taken in yet, oldest first."""
        rows = self.db.rows("SELECT id, body FROM inbox WHERE run_id=? AND seq IS NULL ORDER BY at, rowid", run_id)
        return [(row["id"], Event.model_validate_json(row["body"])) for row in rows]

    def approvals(self, run_id: str, *, open_only: bool = True) -> list[Row]:
        """Return approvals, oldest first."""
        sql = "SELECT * FROM approvals WHERE run_id=? AND (state='open' OR NOT ?) ORDER BY asked_at, rowid"
        return self.db.rows(sql, run_id, open_only)

    def permit(self, run_id: str, subject: str, key: str) -> Permit:
        """Return the permit of an approval that was granted for exactly this; raises NotPermitted."""
        sql = "SELECT actor FROM approvals WHERE run_id=? AND subject=? AND key=? AND state='granted'"
        row = self.db.row(sql, run_id, subject, key)
        if row is None:
            raise NotPermitted(f"nobody approved {subject} of run {run_id} as it is now")
        return Permit(run_id, subject, key, row["actor"], seal=SEAL)

    def lapsed(self, run_id: str) -> list[Event]:
        """Return an event for each open approval whose time is over."""
        sql = "SELECT subject, key FROM approvals WHERE run_id=? AND state='open' AND lapses_at<=?"
        rows = self.db.rows(sql, run_id, now())
        return [Event(type=EventType.LAPSED, data=dict(row)) for row in rows]

    def modules(self, run_id: str) -> list[Row]:
        """Return the module rows in plan order."""
        return self.db.rows("SELECT * FROM modules WHERE run_id=? ORDER BY place", run_id)


def asked(action: Action) -> Event:
    """Return the event that says what a person is asked."""
    return Event(type=EventType.ASKED, action=action.id, data=action.data)


_PEOPLES = frozenset({
    EventType.GRANTED, EventType.REJECTED, EventType.LAPSED, EventType.EDITED, EventType.PAUSED, EventType.CANCELLED,
    EventType.ROLLED_BACK,
})  # fmt: skip


def worked(events: Sequence[Recorded]) -> float:
    """Return the seconds that a run's controllers worked so far, without what they `waited` for a person.

    A life goes from run.started or run.resumed to the last event that is no person's: those come in at any time, also
    long after a controller is gone, and are followed by others where one was there.
    """
    total, waited, began, last = 0.0, 0.0, None, None
    for recorded in events:
        at = datetime.fromisoformat(recorded.at)
        if began is None or last is None or recorded.event.type is EventType.RESUMED:
            total += (last - began).total_seconds() if began and last else 0.0
            began, last, waited = at, at, 0.0
        elif recorded.event.type not in _PEOPLES:
            total, last, waited = total - waited, at, 0.0
        waited += float(recorded.event.data.get("waited", 0.0))
    return total + ((last - began).total_seconds() if began and last else 0.0)


def _event(row: Row) -> Event:
    return Event(
        type=EventType(row["type"]),
        module=row["module"],
        attempt=row["attempt"],
        actor=row["actor"],
        action=row["action"] or "",
        data=json.loads(row["data"]),
    )
