"""What a repository's state is worth: can it be read and written, and what is there that no state knows."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from controller import refnames
from controller.lock import holder
from controller.store.examine import faults, journal_fault
from packets.errors import Damaged, GraceError
from sandbox.faults import is_full, machine
from sandbox.git import Git

_OVER = ("done", "failed", "cancelled")
_MOST = 20  # refs named a run


class Finding(NamedTuple):
    """One thing looked at; `stops` when no plan can run before it is put right. Several lines of hint are steps."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
    stops: bool = False


def state_folder() -> Path | None:
    """Return where the repository that we stand in keeps what may not be lost; None outside of any."""
    try:
        with Git.discover(Path.cwd(), quick=True) as git:
            return git.roots.state
    except (GraceError, OSError):
        return None


def damaged_state() -> Damaged | None:
    """Return what is wrong with the state of the repository that we stand in; None for a sound one, or none."""
    folder = state_folder()
    if folder is None:
        return None
    path = folder / "state.db"
    said = faults(path) if path.is_file() else []
    hint = "`grace doctor` says how to recover; refs under refs/grace and the packets in .grace stay usable"
    return Damaged(f"{path} is damaged: {said[0]}", hint) if said else None


def examine_state(git: Git) -> Iterator[Finding]:
    """Look at the folder, the database, the journals of runs that live, and what nobody remembers."""
    yield _folder(git)
    database = _database(git)
    yield database
    known = _known(git.roots.database) if database.ok else {}
    if database.ok:
        yield _journals(git, known)
    yield _strays(git, known)


def _folder(git: Git) -> Finding:
    state = git.roots.state
    owner = state if state.exists() else state.parent
    for spot in (owner, git.common / "objects", git.common / "refs"):
        if not os.access(spot, os.W_OK):
            why = "is mounted read-only" if os.statvfs(spot).f_flag & os.ST_RDONLY else "cannot be written"
            hint = f"mount -o remount,rw {_mount(spot)}" if "mounted" in why else "run grace as the repository's owner"
            return Finding("state", ok=False, detail=f"{spot} {why}", hint=hint, stops=True)
    if is_full(owner):
        return Finding("state", ok=False, detail=f"no room at {owner}", hint="free at least 64 MiB there", stops=True)
    return Finding("state", ok=True, detail=str(state))


def _mount(spot: Path) -> Path:
    return next(path for path in (spot, *spot.parents) if path.is_mount())


def _database(git: Git) -> Finding:
    path = git.roots.database
    begun = sorted(lock.parent.name for lock in git.roots.state.glob("runs/*/lock"))
    if not path.exists() or path.stat().st_size == 0:
        what = "empty" if path.exists() else "gone"
        if not begun and not _run_refs(git):
            return Finding("database", ok=True, detail="no run yet")
        return Finding("database", ok=False, detail=f"{path} is {what}, and there were runs", hint=_lost(path))
    said = faults(path)
    if not said:
        runs = _known(path)
        live = sum(state not in _OVER for state in runs.values())
        return Finding("database", ok=True, detail=f"sound; runs: {len(runs)}, not over: {live}")
    newer = "newer grace" in said[0]
    hint = "upgrade grace" if newer else _spoiled(path)
    return Finding("database", ok=False, detail=f"{path}: {'; '.join(said)}", hint=hint, stops=True)


def _lost(path: Path) -> str:
    return (
        f"put {path.name}, with its -wal file if there is one, back from where it went, or from a backup, to {path}\n"
        "or go on without: `grace run plan.yaml` begins anew; what the lost runs left is named below"
    )


def _spoiled(path: Path) -> str:
    away = path.with_name("damaged")
    return (
        f"mkdir -p {away} && mv {path}* {away}/\n"
        f"put a backup of {path.name} in its place, if there is one, and look again: grace doctor\n"
        "or go on without: `grace run plan.yaml` begins anew; what the runs left is named below, and stays"
    )


def _known(path: Path) -> dict[str, str]:
    """Return the runs that are remembered, with their states."""
    if not path.exists() or path.stat().st_size == 0:
        return {}
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        return dict(db.execute("SELECT run_id, state FROM runs").fetchall())
    except sqlite3.Error:
        return {}
    finally:
        db.close()


def _journals(git: Git, known: dict[str, str]) -> Finding:
    """Look at the journals of runs that are not over; one that a process writes is that process's business."""
    damaged = []
    looked = [run for run, state in known.items() if state not in _OVER and holder(git.roots.run(run)) is None]
    for run in looked:
        path = git.roots.run(run) / "engine.db"
        try:
            said = journal_fault(path) if path.exists() else ""
        except sqlite3.Error as fault:
            said = "" if machine(fault, path) else str(fault)  # a full or read-only disk is said above
        if said:
            damaged.append((run, f"{path}: {said}"))
    if not damaged:
        return Finding("journals", ok=True, detail=f"sound; looked at: {len(looked)}, of runs that stand still")
    hint = "\n".join(f"grace resume {run} moves it away and goes on; no work is lost" for run, _ in damaged)
    return Finding("journals", ok=False, detail="; ".join(said for _, said in damaged), hint=hint)


def _run_refs(git: Git) -> dict[str, list[str]]:
    """Return every ref of a run, by the run's id."""
    found: dict[str, list[str]] = {}
    for prefix in ("refs/heads/grace/", "refs/grace/runs/", "refs/grace/rescue/"):
        for ref in git.refs(prefix):
            found.setdefault(ref.removeprefix(prefix).partition("/")[0], []).append(ref)
    return found


def _strays(git: Git, known: dict[str, str]) -> Finding:
    """Name the branches, rescue refs and folders of runs that no state knows."""
    refs = _run_refs(git)
    folders = {path.name: path for path in git.roots.state.glob("runs/*") if path.is_dir()}
    strays = sorted((refs.keys() | folders.keys()) - known.keys())
    strays = [run for run in strays if holder(git.roots.run(run)) is None]
    if not strays:
        return Finding("strays", ok=True, detail="every branch and folder belongs to a run that is known")
    hint = "\n".join(line for run in strays for line in _steps(git, run, sorted(refs.get(run, [])), folders.get(run)))
    return Finding("strays", ok=False, detail=f"nothing remembers {', '.join(strays)}", hint=hint)


def _steps(git: Git, run: str, refs: list[str], folder: Path | None) -> Iterator[str]:
    yield f"{run} left: {', '.join(refs[:_MOST]) or 'no ref'}{f', {folder}' if folder else ''}"
    tips = [ref for ref in refs if ref.endswith("/integration")]
    yield from (f"  take over what was merged: git merge {ref}" for ref in tips)
    rescues = [ref for ref in refs if ref.startswith(refnames.rescues(run))]
    yield from (f"  look at what nobody accepted: git show {ref}" for ref in rescues[:_MOST])
    if folder and (work := sorted(folder.glob("work/*"))):
        yield from (f"  unfinished work lies in {path}" for path in work[:_MOST])
    if (readable := git.roots.readable(run)).is_dir():
        yield f"  packets and reviews: {readable}"
    prefixes = (refnames.branches(run), refnames.kept(run), refnames.rescues(run))
    below = " ".join(prefix.rstrip("/") for prefix in prefixes)
    gone = f"git for-each-ref --format='delete %(refname)' {below} | git update-ref --stdin"
    yield f"  drop it all: {gone}{f' && rm -rf {folder}' if folder else ''}"
