"""grace packets, review, events: reading what is recorded; nothing here blocks or writes."""

import json
import sys
import time
from typing import Any

from controller.cli.opened import opened
from controller.copies import restore
from controller.following import asked_about
from controller.lock import holder
from controller.review_text import review_text
from controller.screen import event_object
from controller.store.records import AttemptRecord, Records
from controller.store.store import Recorded, RunRecord, Store
from controller.wording import line
from packets.errors import UsageError

FOLLOW = 0.2  # seconds


def packets(wanted: str | None, module: str | None, *, as_json: bool) -> None:
    """Print the packets, oldest first."""
    with opened(wanted) as (git, store, run):
        records = Records(store, run.run_id)
        found = _attempts(records, module)
        restore(git.roots, records)
        if as_json:
            bodies = [a.packet.model_dump(mode="json") for a in found]
            sys.stdout.write(json.dumps({"run_id": run.run_id, "packets": bodies}, ensure_ascii=False) + "\n")
        else:
            sys.stdout.write("".join(f"---\n{a.packet_yaml}" for a in found))


def _attempts(records: Records, module: str | None) -> list[AttemptRecord]:
    """Return the attempts; raises UsageError for a module that had none."""
    found = records.attempts(module)
    if module is not None and not found:
        rows = [m["module"] for m in records.store.modules(records.run_id)]
        what = "has had no attempt yet" if module in rows else f"is no module of run {records.run_id}"
        raise UsageError(f"{module!r} {what}", "modules: " + ", ".join(rows))
    return found


def review(wanted: str | None, module: str | None, form: str) -> None:
    """Print each module's last attempt: its difference, deltas and findings."""
    with opened(wanted) as (git, store, run):
        last = {a.packet.module_id: a for a in _attempts(Records(store, run.run_id), module)}
        if form == "json":
            bodies = [_review_object(a) for a in last.values()]
            sys.stdout.write(json.dumps({"run_id": run.run_id, "reviews": bodies}, ensure_ascii=False) + "\n")
            return
        for attempt in last.values():
            if form == "all":
                sys.stdout.write(review_text(attempt))
            if attempt.outcome is not None:
                pair = (attempt.packet.base.tree, attempt.outcome.head_tree)
                color = sys.stdout.isatty()
                sys.stdout.write(git.diff(*pair, color=color, stat=form == "stat") + ("\n" if form != "all" else ""))
        if form == "all" and module is None:
            sys.stdout.write(_followed(store, run))


def _followed(store: Store, run: RunRecord) -> str:
    """Return what a person is asked about after a landing: the very command or remote, and how it went before."""
    subjects = [question["subject"] for question in store.approvals(run.run_id)]
    asked = {subject: asked_about(store.db, run._asdict(), subject) for subject in subjects}
    lines = [(s, a["question"], a["last"]) for s, a in asked.items() if a]
    return "".join(f"{s}  {question}\n" + (f"  {last}\n" if last else "") for s, question, last in lines)


def _review_object(attempt: AttemptRecord) -> dict[str, Any]:
    packet, outcome, verdict = attempt.packet, attempt.outcome, attempt.verdict
    return {
        "module": packet.module_id,
        "attempt": packet.attempt,
        "packet_id": packet.packet_id,
        "base_tree": packet.base.tree,
        "head_tree": outcome.head_tree if outcome else None,
        "outcome": outcome.model_dump(mode="json") if outcome else None,
        "verdict": verdict.model_dump(mode="json") if verdict else None,
    }


def events(wanted: str | None, *, follow: bool, as_json: bool) -> None:
    """Print what happened; with `follow` go on while a process carries the run."""
    with opened(wanted) as (git, store, run):
        seen = 0
        while True:
            live = holder(git.roots.run(run.run_id)) is not None
            for recorded in store.events(run.run_id, seen):
                seen = recorded.seq
                _print(run.run_id, recorded, as_json=as_json)
            sys.stdout.flush()
            if not follow or not live:
                return
            time.sleep(FOLLOW)


def _print(run_id: str, recorded: Recorded, *, as_json: bool) -> None:
    if as_json:
        body = {"seq": recorded.seq, "at": recorded.at, **event_object(run_id, recorded.event)}
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
    elif text := line(recorded.event):
        sys.stdout.write(f"{recorded.at[11:23]}  {text}\n")
