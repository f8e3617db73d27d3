"""grace packets, review, events: reading what is recorded; nothing here blocks or writes."""

import json
import sys
import time
from typing import Any

from controller.cli.opened import opened
from controller.copies import MARK, restore
from controller.difference import difference
from controller.following import asked_about
from controller.lock import holder
from controller.review_facts import review_facts
from controller.review_text import review_text
from controller.screen import event_object
from controller.store.records import AttemptRecord, Records
from controller.store.store import Recorded, RunRecord, Store
from controller.undone import undone
from controller.wording import line
from packets.errors import UsageError
from sandbox.git import Git

FOLLOW = 0.2  # seconds


def packets(wanted: str | None, module: str | None, *, as_json: bool) -> None:
    """Print the packets, oldest first."""
    with opened(wanted) as (git, store, run):
        records = Records(store, run.run_id)
        found = _attempts(records, module)
        restore(git.roots, records)
        gone = [a.packet for a in found if a.packet.attempt <= undone(store.db, run.run_id).get(a.packet.module_id, 0)]
        if as_json:
            bodies = [a.packet.model_dump(mode="json") for a in found]
            marks = [{"module": p.module_id, "attempt": p.attempt} for p in gone]
            said = {"run_id": run.run_id, "packets": bodies, "undone": marks}
            sys.stdout.write(json.dumps(said, ensure_ascii=False) + "\n")
        else:
            for attempt in found:
                mark = f"{MARK}\n" if attempt.packet in gone else ""
                sys.stdout.write(f"---\n{mark}{attempt.packet_yaml}")


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
        marks = undone(store.db, run.run_id)
        gone = {name for name, a in last.items() if a.packet.attempt <= marks.get(name, 0)}
        if form == "json":
            bodies = [{**_review_object(a), "undone": name in gone} for name, a in last.items()]
            sys.stdout.write(json.dumps({"run_id": run.run_id, "reviews": bodies}, ensure_ascii=False) + "\n")
            return
        for name, attempt in last.items():
            if form == "all":
                sys.stdout.write(review_text(attempt, gone=name in gone, color=sys.stdout.isatty()))
            if attempt.outcome is not None:
                pair = (attempt.packet.base.tree, attempt.outcome.head_tree)
                sys.stdout.write(_difference(git, *pair, form) + ("\n" if form != "all" else ""))
        if form == "all" and module is None:
            sys.stdout.write(_followed(store, run))


def _difference(git: Git, before: str, after: str, form: str) -> str:
    """Return it to be read; or, by `--diff` for another program, as it is."""
    at_terminal = sys.stdout.isatty()
    if form == "diff" and not at_terminal:
        return git.diff(before, after)
    return difference(git, before, after, color=at_terminal, stat=form == "stat")


def _followed(store: Store, run: RunRecord) -> str:
    """Return what a person is asked about after a landing: the very command or remote, and how it went before."""
    subjects = [question["subject"] for question in store.approvals(run.run_id)]
    asked = {subject: asked_about(store.db, run._asdict(), subject) for subject in subjects}
    lines = [(s, a["question"], a["last"]) for s, a in asked.items() if a]
    return "".join(f"{s}  {question}\n" + (f"  {last}\n" if last else "") for s, question, last in lines)


def _review_object(attempt: AttemptRecord) -> dict[str, Any]:
    packet, outcome, verdict = attempt.packet, attempt.outcome, attempt.verdict
    rows, left = review_facts(attempt)
    return {
        "module": packet.module_id,
        "attempt": packet.attempt,
        "packet_id": packet.packet_id,
        "base_tree": packet.base.tree,
        "head_tree": outcome.head_tree if outcome else None,
        "facts": [{"kind": row.kind, **row.fact.model_dump(mode="json")} for row in rows],
        "facts_left": left,
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
