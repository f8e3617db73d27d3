"""How a run stands, read from our tables and from git, without loading anything heavy.

`asleep` and `done` are said only when git shows the commit on the integration or the base branch (`verified`).
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controller import refnames
from controller.lock import SUPERVISOR, Lease, lease
from controller.questions import lines as asked_in_words
from controller.questions import questions
from controller.store.database import Database
from controller.store.said import flaky
from controller.undone import leftovers, saga, undone
from packets.errors import GraceError, UsageError
from sandbox.git import Git


def quick(args: list[str]) -> int | None:
    """Answer `status [RUN] [--json]`; None hands unusual arguments to the full command line."""
    names = [a for a in args if a != "--json"]
    if len(names) > 1 or any(a.startswith("-") for a in names):
        return None
    show(names[0] if names else None, as_json="--json" in args)
    return 0


def show(wanted: str | None, *, as_json: bool) -> None:
    """Print the status of a run; the newest when none is named."""
    with Git.discover(Path.cwd(), quick=True) as git:
        found = status(git, wanted)
    sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n" if as_json else text(found))


def status(git: Git, wanted: str | None) -> dict[str, Any]:
    """Return the run's status as docs/json.md describes it; raises UsageError for an unknown run."""
    db = Database(git.roots.database)
    try:
        run = _run(db, wanted)
        run_id = run["run_id"]
        refs = _refs(git, run)
        merged, landed, tip = _reachable(git, run, refs)
        gone, ended = undone(db, run_id), leftovers(db, run_id)
        there = _leftovers(git, run, refs, ended)
        modules = [
            {**_module(db, row, merged, landed), "undone": 0 < row["attempt"] <= gone.get(row["module"], 0)}
            for row in db.rows("SELECT * FROM modules WHERE run_id=? ORDER BY place", run_id)
        ]
        carrier, supervisor = lease(git.roots.run(run_id)), lease(git.roots.run(run_id), SUPERVISOR)
        return {
            "run_id": run_id,
            "name": run["name"],
            "state": _state(run, carrier),
            "holder": carrier.body() if carrier else None,
            "supervisor": supervisor.body() if supervisor else None,
            "exit": run["exit"],
            "note": run["note"],
            "base": {"ref": run["base_ref"], "commit": run["base_commit"]},
            "integration": tip,
            "modules": modules,
            "approvals": questions(db, run),
            "saga": saga(db, run_id),
            "rescue": sorted(ref for ref in refs if ref.startswith(refnames.rescues(run_id))),
            "leftovers": there,
            "by_hand": [one for one in ended if any(f"{what}/".startswith(f"{one['what']}/") for what in there)],
            "flaky": flaky(db, run_id),
        }
    finally:
        db.close()


def _run(db: Database, wanted: str | None) -> dict[str, Any]:
    rows = [dict(r) for r in db.rows("SELECT * FROM runs ORDER BY created_at DESC, rowid DESC")]
    found = [r for r in rows if r["run_id"] == wanted] or [r for r in rows if r["run_id"].startswith(wanted or "")]
    if not rows:
        raise UsageError("this repository has no grace runs yet", "start one with: grace run plan.yaml")
    if wanted == "":
        raise UsageError("the run's id is empty", "name a run; without any word it is the newest")
    if not found or (wanted and len(found) > 1):
        what = "is not a run" if not found else "fits several runs"
        raise UsageError(f"{wanted!r} {what}", "known: " + ", ".join(r["run_id"] for r in (found or rows)[:8]))
    return found[0]


def _state(run: dict[str, Any], carrier: Lease | None) -> str:
    """Return the stored state; `running` is believed only while a process holds the run."""
    if run["state"] != "running":
        return str(run["state"])
    return "running" if carrier else "stopped"


def _refs(git: Git, run: dict[str, Any]) -> dict[str, str]:
    """Return every ref that the run's status speaks of, asked for at once."""
    run_id = run["run_id"]
    prefixes = (refnames.branches(run_id), refnames.kept(run_id), refnames.rescues(run_id), run["base_ref"])
    return git.refs(*prefixes)


def _reachable(git: Git, run: dict[str, Any], refs: dict[str, str]) -> tuple[set[str], set[str], str]:
    """Return the commits on the integration branch and on the base branch since the run began, and the tip."""
    start, base_ref = run["base_commit"], run["base_ref"]
    branch, kept = refnames.integration(run["run_id"]), refnames.kept(run["run_id"]) + "integration"
    tip, base = refs.get(branch) or refs.get(kept) or "", refs.get(base_ref, "")
    merged = {c.sha for c in git.log(start, tip)} if tip and tip != start else set()
    landed = merged if base == tip else ({c.sha for c in git.log(start, base)} if base and base != start else set())
    return merged, landed, tip


def _module(db: Database, row: Any, merged: set[str], landed: set[str]) -> dict[str, Any]:
    sql = "SELECT verdict, commit_id FROM attempts WHERE run_id=? AND module=? AND attempt=?"
    attempt = db.row(sql, row["run_id"], row["module"], row["attempt"])
    verdict = json.loads(attempt["verdict"]) if attempt and attempt["verdict"] else {}
    commit, stored = row["commit_id"], row["state"]
    state = "asleep" if stored == "done" and commit not in landed else stored  # somebody moved the base back
    seen = {"asleep": merged, "done": landed}.get(state)
    return {
        "id": row["module"],
        "state": state,
        "verified": seen is None or (commit in seen and state == stored),
        "reverted": bool(row["reverted"]),
        "waits_for": row["waits_for"],
        "phase": row["phase"],
        "wave": row["wave"],
        "attempt": row["attempt"],
        "verdict": verdict.get("decision"),
        "commit": commit or None,
        "branch": refnames.attempt(row["run_id"], row["module"], row["attempt"]) if row["attempt"] else None,
        "cost_usd": None,
        "tokens": None,
        "findings": verdict.get("findings", []),
    }


def _leftovers(git: Git, run: dict[str, Any], refs: dict[str, str], ended: list[dict[str, Any]]) -> list[str]:
    """Name what a finished run should not have left: branches, work folders, and sandboxes that its end told of."""
    if run["state"] not in {"done", "failed", "cancelled"}:
        return []
    folder = git.roots.run(run["run_id"])
    folders = [str(p) for spot in (folder / "work", *folder.glob(".work.*.aside")) for p in _inside(spot)]
    sandboxes = [one["what"] for one in ended if one["kind"] == "sandbox"]
    there = _still_there(run, sandboxes) if sandboxes else []
    return [*sorted(r for r in refs if r.startswith(refnames.branches(run["run_id"]))), *sorted(folders), *there]


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _still_there(run: dict[str, Any], told: list[str]) -> list[str]:
    """Ask the engine, which is slow, about sandboxes that could not be removed; one that is silent has them still."""
    from sandbox.choose import choose, close

    try:
        sandbox = choose(json.loads(run["options"])["engine"]).sandbox
        try:
            return list(sandbox.remaining(run["run_id"]))
        finally:
            close(sandbox)
    except GraceError:
        return told


def _carriers(found: dict[str, Any]) -> Iterator[str]:
    """Say who carries the run, and who sees to it that somebody does."""
    if found["holder"]:
        yield f"  carried by {found['holder']['words']}"
    if found["supervisor"]:
        yield f"  in the background: its supervisor is {found['supervisor']['words']}; see it: grace watch"


def text(found: dict[str, Any]) -> str:
    """Return the status for people."""
    lines = [f"{found['run_id']}  {found['name']}  {found['state']}"]
    if found["note"]:
        lines.append(f"  {found['note']}")
    elif found["state"] == "stopped" and not found["supervisor"]:
        lines.append(f"  its controller is gone; continue: grace resume {found['run_id']}")
    elif found["state"] == "stopped":
        lines.append("  a controller is about to be started")
    lines.extend(_carriers(found))
    states = [m["state"] + (" (reverted)" if m["reverted"] else "") for m in found["modules"]]
    width = max((len(m["id"]) for m in found["modules"]), default=0)
    column = max([10, *map(len, states)])
    for module, state in zip(found["modules"], states, strict=True):
        doubt = "" if module["verified"] else "  NOT FOUND IN GIT as it was recorded"
        errors = [f["code"] for f in module["findings"] if f["severity"] == "error"]
        said = f"  {', '.join(dict.fromkeys(errors))}" if errors and state != "done" else ""
        where = f"wave {module['wave']}  attempt {module['attempt']}{' (undone)' if module['undone'] else ''}"
        lines.append(f"  {module['id']:<{width}}  {state:<{column}} {where}{said}{doubt}")
    for question in found["approvals"]:
        lines.extend(asked_in_words(question, found["run_id"]))
    for step in found["saga"]:
        if step["state"] == "stuck":
            lines.append(f"  left to you: undo {step['module']}: {step['reason']}")
            lines.extend(f"    {command}" for command in step["commands"])
    lines.extend(
        f"  flaky: {f['command']} said {', '.join(f['said'])} of tree {f['tree'][:12]}" for f in found["flaky"]
    )
    lines.extend(f"  rescue: {ref}" for ref in found["rescue"])
    lines.extend(f"  left over: {what}" for what in found["leftovers"])
    for one in found["by_hand"]:
        lines.append(f"  {one['what']} could not be removed: {one['why']}; by hand:")
        lines.extend(f"    {command}" for command in one["commands"])
    return "\n".join(lines) + "\n"
