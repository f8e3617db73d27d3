"""What is wrong with a database of ours, in words: for the doctor, and for a fault that nobody expected."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from controller.store.schema import APPLICATION, VERSION
from packets.errors import GraceError

_MOST = 5  # faults named; more of them say nothing new


def faults(path: Path) -> list[str]:
    """Return what is wrong with the file, worst first; nothing for a sound one. Changes nothing, waits for nobody."""
    try:
        return list(_file(path) or _inside(path))[:_MOST]
    except sqlite3.Error as fault:
        return [str(fault)]
    except OSError as fault:
        return [f"{fault.strerror}: {fault.filename}"]


def _file(path: Path) -> list[str]:
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        return ["it is empty"]
    return [] if head == b"SQLite format 3\0" else ["it is no database: its first bytes are not SQLite's"]


def _inside(path: Path) -> Iterator[str]:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION:
            yield "it is a database, but not grace's"
            return
        if version > VERSION:
            yield f"it was written by a newer grace (format {version}, this one knows {VERSION})"
            return
        said = [row[0] for row in db.execute(f"PRAGMA quick_check({_MOST})")]
        yield from (line for line in said if line != "ok")
        if said == ["ok"]:
            yield from _runs(db)
    finally:
        db.close()


def _runs(db: sqlite3.Connection) -> Iterator[str]:
    """Read what no checksum guards: a flipped bit inside a text is found only by its meaning."""
    for run_id, plan, options in db.execute("SELECT run_id, plan, options FROM runs"):
        try:
            _understand(db, run_id, plan, options)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, GraceError) as fault:
            yield f"run {run_id} cannot be read: {type(fault).__name__}: {str(fault).splitlines()[0][:120]}"


def _understand(db: sqlite3.Connection, run_id: str, plan: str, options: str) -> None:
    from controller.kernel import decide
    from packets.events import Action, Event, EventType
    from packets.outcome import AttemptOutcome
    from packets.packet import ExecutionPacket
    from packets.plan import Plan
    from packets.verdict import Verdict

    Plan.model_validate_json(plan)
    json.loads(options)
    state = None
    columns = "type, module, attempt, actor, action, data"
    for row in db.execute(f"SELECT {columns} FROM events WHERE run_id=? ORDER BY seq", (run_id,)):  # noqa: S608
        known = dict(zip(columns.split(", "), row, strict=True))
        read = {"type": EventType(known["type"]), "action": known["action"] or "", "data": json.loads(known["data"])}
        event = Event(**(known | read))
        state = decide(state, event).state
    for (body,) in db.execute("SELECT body FROM actions WHERE run_id=?", (run_id,)):
        Action.model_validate_json(body)
    for packet, outcome, verdict in db.execute(
        "SELECT packet, outcome, verdict FROM attempts WHERE run_id=?", (run_id,)
    ):
        ExecutionPacket.model_validate_json(packet)
        if outcome:
            AttemptOutcome.model_validate_json(outcome)
        if verdict:
            Verdict.model_validate_json(verdict)


def journal_fault(path: Path) -> str:
    """Say what is wrong with an engine's journal; nothing for a sound one, or one that is not begun."""
    try:
        db = sqlite3.connect(path, isolation_level=None, timeout=30)
        try:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        finally:
            db.close()
    except sqlite3.DatabaseError as fault:
        if (getattr(fault, "sqlite_errorcode", 0) or 0) & 0xFF in {11, 26}:  # CORRUPT, NOTADB
            return str(fault)
        raise
    return "" if said == "ok" else said
