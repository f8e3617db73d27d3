"""What must hold when a run has ended, however often it was killed; asked of git, of the disk and of the records.

Each fault is a line that begins with what it is: `lost`, `doubled`, `left over`.
"""

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from soaking.job import EDITED, NOTES, Module, git

PROMISED = ("refs/heads/main", "refs/grace/runs/", "refs/grace/rescue/")
_OURS = ("submit.lock", "supervisor.lock")  # files that are locked, and stay; a lock of git's is the file itself
_LEGAL = {
    "queued": {"working", "paused", "cancelled"},
    "working": {"waiting", "asleep", "failed", "queued", "paused", "cancelled"},
    "waiting": {"queued", "working", "asleep", "failed", "paused", "cancelled"},
    "paused": {"queued", "cancelled"},
    "asleep": {"queued", "failed", "done", "cancelled"},
}  # once more, so that a change of the product's own table shows


def audit(repo: Path, listed: Sequence[Module]) -> list[str]:
    """Return every fault of a run that has ended with all of its modules done."""
    database = repo / ".git" / "grace" / "state.db"
    if not database.exists():
        return ["lost: there is no state.db"]
    with closing(sqlite3.connect(database)) as db:
        db.row_factory = sqlite3.Row
        runs = [row["run_id"] for row in db.execute("SELECT run_id FROM runs")]
        if len(runs) != 1:
            return [f"doubled: {len(runs)} runs of one plan: {runs}"]
        rows = _Rows(db, runs[0])
        return [
            *_landed(repo, listed, rows),
            *_attempts(listed, rows),
            *_journal(listed, rows),
            *_saga(repo, listed, rows),
            *_left_over(repo),
            *_users(repo),
        ]


class _Rows:
    """The rows of one run."""

    def __init__(self, db: sqlite3.Connection, run_id: str) -> None:
        self._db = db
        self.run_id = run_id

    def __call__(self, table: str, order: str = "rowid") -> list[sqlite3.Row]:
        sql = f"SELECT * FROM {table} WHERE run_id=? ORDER BY {order}"
        return self._db.execute(sql, (self.run_id,)).fetchall()


def _landed(repo: Path, listed: Sequence[Module], rows: _Rows) -> Iterator[str]:
    """Tell where a module is not on the user's branch once, whole, from the packet that the record names."""
    accepted = {(r["module"], r["attempt"]): r["packet_id"] for r in rows("attempts") if r["verdict"]}
    there = set(git(repo, "ls-tree", "-r", "--name-only", "main").splitlines())
    for module in listed:
        if module.path not in there:
            yield f"lost: {module.name} has no file on main"
            continue
        said = git(repo, "show", f"main:{module.path}").split()
        if said[:1] != [module.name] or len(said) != 3:  # noqa: PLR2004 - module, attempt, packet
            yield f"lost: {module.name} landed half-done: {said}"
        elif accepted.get((module.name, int(said[1]))) != said[2]:
            yield f"lost: {module.name} landed from a packet that is not the one recorded: {said}"
    for extra in there - {m.path for m in listed} - {EDITED, "plan.yaml"}:
        yield f"doubled: main holds {extra}, which nobody planned"
    merged = Counter(git(repo, "log", "--format=%(trailers:key=Grace-Module,valueonly)", "main").split())
    yield from (f"lost: {m.name} has no merge on main" for m in listed if m.name not in merged)
    yield from (f"doubled: {name} was merged {n} times" for name, n in merged.items() if n > 1)
    yield from (f"lost: {r['module']} is {r['state']}" for r in rows("modules") if r["state"] != "done")


def _attempts(listed: Sequence[Module], rows: _Rows) -> Iterator[str]:
    """Tell where attempts do not count from one without a gap, or lack a packet, outcome or verdict of their own."""
    found = rows("attempts")
    numbers: dict[str, list[int]] = {}
    for row in found:
        numbers.setdefault(row["module"], []).append(row["attempt"])
        for column in ("outcome", "verdict"):
            if not row[column]:
                yield f"lost: the {column} of {row['module']} attempt {row['attempt']}"
    for module in listed:
        had = numbers.get(module.name, [])
        if had != list(range(1, len(had) + 1)):
            yield f"lost: the attempts of {module.name} are {had}"
        if len(had) > module.attempts:
            codes = [_codes(r["verdict"]) for r in found if r["module"] == module.name]
            yield f"lost: an attempt of {module.name}: it had {len(had)}, its work needs {module.attempts}; {codes}"
    packets = Counter(row["packet_id"] for row in found)
    yield from (f"doubled: packet {packet} was issued {n} times" for packet, n in packets.items() if n > 1)


def _codes(verdict: str | None) -> list[str]:
    return [f"{f['code']}: {f['message']}" for f in json.loads(verdict or "{}").get("findings", [])]


def _journal(listed: Sequence[Module], rows: _Rows) -> Iterator[str]:
    """Tell where an intent lacks its one outcome, an attempt its verdict, a module its merge, or transitions a link."""
    events = rows("events", "seq")
    judged = Counter((e["module"], e["attempt"]) for e in events if e["type"] == "attempt.judged")
    yield from (f"doubled: {m} attempt {n} was judged {times} times" for (m, n), times in judged.items() if times > 1)
    had = {(r["module"], r["attempt"]) for r in rows("attempts")}
    yield from (f"lost: {m} attempt {n} was never judged" for m, n in had - set(judged))
    for kind in ("merge.done", "run.started", "run.finished", "landing.done"):
        times = Counter(e["module"] or e["action"] for e in events if e["type"] == kind)
        wanted = {"merge.done": len(listed), "landing.done": len({m.phase for m in listed})}.get(kind, 1)
        if (number := times.total()) != wanted:
            yield f"{'lost' if number < wanted else 'doubled'}: {kind}: {number}, not {wanted}"
    yield from (f"lost: the outcome of {r['action']}" for r in rows("actions") if r["outcome"] is None)
    yield from (f"left over: a question: {r['subject']}" for r in rows("approvals") if r["state"] == "open")
    for module in listed:
        steps = [(r["before"], r["after"]) for r in rows("transitions") if r["module"] == module.name]
        if not steps or steps[0][0] != "queued" or any(a[1] != b[0] for a, b in pairwise(steps)):
            yield f"lost: a transition of {module.name}: {steps}"
        yield from (f"doubled: {module.name} went {a} -> {b}" for a, b in steps if b not in _LEGAL.get(a, ()))


def _saga(repo: Path, listed: Sequence[Module], rows: _Rows) -> Iterator[str]:
    """Tell where the saga is no chain of one merge a module, or git's first-parent line is not that very chain."""
    done = [r for r in rows("saga", "n") if r["state"] == "done"]
    merges = [r for r in done if r["kind"] == "merge"]
    yield from (f"lost: the saga breaks before {b['module']}" for a, b in pairwise(merges) if a["after"] != b["before"])
    times = Counter(r["module"] for r in merges)
    yield from (f"lost: {m.name} has no saga step" for m in listed if m.name not in times)
    yield from (f"doubled: {name} has {n} saga steps" for name, n in times.items() if n > 1)
    line = git(repo, "rev-list", "--reverse", "--first-parent", "main").splitlines()[1:]
    if line != [r["after"] for r in merges]:
        yield f"lost: main holds {len(line)} merges in an order that the saga does not tell"


def _left_over(repo: Path) -> Iterator[str]:
    """Tell what of the run lies about: refs, folders, locks, half-made files."""
    for line in git(repo, "for-each-ref", "--format=%(refname)").splitlines():
        if not line.startswith(PROMISED):
            yield f"left over: ref {line}"
    state = repo / ".git" / "grace"
    yield from (f"left over: folder {path}" for path in state.glob("runs/*/work/*"))
    for path in (repo / ".git").rglob("*"):
        if path.name.endswith(".lock") and path.name not in _OURS:
            yield f"left over: lock {path}"
        elif path.name.endswith(".new"):  # git's own tmp_obj_* are git's to prune
            yield f"left over: half-made {path}"
    yield from (f"left over: cache {p}" for p in (*state.glob("cache/trees/*"), *state.glob("cache/git/*"))
                if not _is_whole(p))  # fmt: skip
    if len(git(repo, "worktree", "list").splitlines()) != 1:
        yield f"left over: a worktree: {git(repo, 'worktree', 'list')}"


def _is_whole(path: Path) -> bool:
    return len(path.name) == 40 and path.is_dir()  # noqa: PLR2004 - an object id


def _users(repo: Path) -> Iterator[str]:
    """Tell where the checkout is not on its branch, or lacks what landed or the user's own edits."""
    status = git(repo, "status", "--porcelain").splitlines()
    if status != [f" M {EDITED}", f"?? {NOTES}"]:
        yield f"lost: the checkout is not in order: {status}"
    if "edited by its owner" not in (repo / EDITED).read_text() or "owner's" not in (repo / NOTES).read_text():
        yield "lost: the user's edits"
    if git(repo, "symbolic-ref", "HEAD") != "refs/heads/main" or git(repo, "stash", "list"):
        yield "lost: the user's HEAD or stash is not what it was"
    broken = [line for line in git(repo, "fsck", "--no-dangling", "--no-progress").splitlines() if line]
    yield from (f"lost: git fsck: {line}" for line in broken)


def processes(marker: str) -> list[str]:
    """Name the processes that carry the bench's marker in their environment, this one aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if marker.encode() in (folder / "environ").read_bytes():
                said = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if never_began(int(folder.name)):
                    continue
                found.append(f"left over: process {folder.name}: {said[:120]}")
        except OSError:
            continue
    return found


def never_began(pid: int) -> bool:
    """Tell a start that a killed engine left half way, of which nothing ever ran, and end it."""
    try:
        said = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").strip()
        if said != b"runc init":
            return False
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended by itself
    return True


def ran_twice(lines: Sequence[tuple[str, str, int]], spared: Any = ()) -> list[str]:
    """Tell workers that were begun again after they had come to their end.

    Each line is (begin|end, module, attempt), in order; `spared` names those whose remains the bench itself destroyed.
    """
    ended: set[tuple[str, int]] = set()
    faults = []
    for what, module, attempt in lines:
        if what == "begin" and (module, attempt) in ended and (module, attempt) not in spared:
            faults.append(f"doubled: {module} attempt {attempt} was worked again after its end")
        if what == "end":
            ended.add((module, attempt))
    return faults
