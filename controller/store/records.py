"""Packets, outcomes, verdicts, saga steps and check evidence: what the actions of a run leave behind."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from pydantic import TypeAdapter

from controller.store.store import Store
from packets.outcome import AttemptOutcome
from packets.packet import ExecutionPacket
from packets.verdict import CheckResult, Verdict
from sandbox.effect import effect

_CHECKS = TypeAdapter(tuple[CheckResult, ...])


class AttemptRecord(NamedTuple):
    """One attempt: its packet, and as far as it came its outcome, verdict and candidate commit."""

    packet: ExecutionPacket
    packet_yaml: str
    outcome: AttemptOutcome | None
    verdict: Verdict | None
    commit: str


class SagaStep(NamedTuple):
    """One effect: kind merge, sync, land, revert or rollback; the commits before and after.

    `state` is done or undone; a rollback is intended first (its target in `module` or `phase`), then done or void.
    A hook is intended first too: its idempotency key in `module`, and once it ended how in `after`; it is never undone.
    """

    n: int
    kind: str
    module: str
    wave: int
    phase: str
    before: str
    after: str
    state: str


class Records:
    """The documents of one run. Writing the same thing twice changes nothing."""

    def __init__(self, store: Store, run_id: str) -> None:
        self.store = store
        self.run_id = run_id

    def put_packet(self, packet: ExecutionPacket, yaml: str) -> None:
        """Keep the packet of an attempt; the first one written stays."""
        row = (self.run_id, packet.module_id, packet.attempt, packet.packet_id, packet.model_dump_json(), yaml)
        columns = "run_id, module, attempt, packet_id, packet, packet_yaml"
        sql = f"INSERT OR IGNORE INTO attempts ({columns}) VALUES (?,?,?,?,?,?)"  # noqa: S608 - own columns
        with effect("packet.store"), self.store.db.transaction() as db:
            db.execute(sql, row)

    def put_outcome(self, module: str, attempt: int, outcome: AttemptOutcome, commit: str) -> None:
        """Keep how the attempt ended."""
        with effect("outcome.store"):
            self._update("outcome=?, commit_id=?", [outcome.model_dump_json(), commit], module, attempt)

    def put_verdict(self, module: str, attempt: int, verdict: Verdict) -> None:
        """Keep what the reviewer said."""
        with effect("verdict.store"):
            self._update("verdict=?", [verdict.model_dump_json()], module, attempt)

    def _update(self, columns: str, values: list[str], module: str, attempt: int) -> None:
        sql = f"UPDATE attempts SET {columns} WHERE run_id=? AND module=? AND attempt=?"  # noqa: S608 - own columns
        with self.store.db.transaction() as db:
            db.execute(sql, (*values, self.run_id, module, attempt))

    def attempts(self, module: str | None = None) -> list[AttemptRecord]:
        """Return the attempts in order."""
        sql = "SELECT * FROM attempts WHERE run_id=? AND (? IS NULL OR module=?) ORDER BY rowid"
        return [
            AttemptRecord(
                ExecutionPacket.model_validate_json(row["packet"]),
                row["packet_yaml"],
                AttemptOutcome.model_validate_json(row["outcome"]) if row["outcome"] else None,
                Verdict.model_validate_json(row["verdict"]) if row["verdict"] else None,
                row["commit_id"],
            )
            for row in self.store.db.rows(sql, self.run_id, module, module)
        ]

    def attempt(self, module: str, attempt: int) -> AttemptRecord | None:
        """Return one attempt or None."""
        return next((a for a in self.attempts(module) if a.packet.attempt == attempt), None)

    # --- saga ---------------------------------------------------------------------------------------------------

    def saga(self) -> list[SagaStep]:
        """Return the steps in order."""
        rows = self.store.db.rows("SELECT * FROM saga WHERE run_id=? ORDER BY n", self.run_id)
        return [SagaStep(*tuple(row)[1:]) for row in rows]

    def add_step(self, kind: str, module: str, wave: int, phase: str, before: str, after: str) -> None:  # noqa: PLR0917 - one row
        """Write down an effect with the commits before and after it; a step that is there is not added again."""
        if any((s.kind, s.module, s.after, s.state) == (kind, module, after, "done") for s in self.saga()):
            return
        with effect("saga.record"), self.store.db.transaction() as db:
            n = db.execute("SELECT COALESCE(MAX(n), 0) + 1 FROM saga WHERE run_id=?", (self.run_id,)).fetchone()[0]
            row = (self.run_id, n, kind, module, wave, phase, before, after, "done")
            db.execute("INSERT INTO saga VALUES (?,?,?,?,?,?,?,?,?)", row)

    def intend(self, kind: str, module: str, phase: str, before: str = "", after: str = "") -> int:
        """Write down that an effect is about to begin, from where to where, and return the step's number."""
        with effect("saga.intend"), self.store.db.transaction() as db:
            n = int(db.execute("SELECT COALESCE(MAX(n), 0) + 1 FROM saga WHERE run_id=?", (self.run_id,)).fetchone()[0])
            row = (self.run_id, n, kind, module, 0, phase, before, after, "intended")
            db.execute("INSERT INTO saga VALUES (?,?,?,?,?,?,?,?,?)", row)
        return n

    def aim(self, n: int, before: str, after: str) -> None:
        """Write down that an intended step goes from and to elsewhere: what it is made of was made anew."""
        with effect("saga.intend"), self.store.db.transaction() as db:
            db.execute("UPDATE saga SET before=?, after=? WHERE run_id=? AND n=?", (before, after, self.run_id, n))

    def settle_step(self, n: int, state: str) -> None:
        """Write down what became of an intent: done, or void when nothing was changed."""
        with effect("saga.settle"), self.store.db.transaction() as db:
            db.execute("UPDATE saga SET state=? WHERE run_id=? AND n=?", (state, self.run_id, n))

    def end_step(self, n: int, after: str) -> None:
        """Write down that an intended step came to its end, and how."""
        with effect("saga.settle"), self.store.db.transaction() as db:
            db.execute("UPDATE saga SET state='done', after=? WHERE run_id=? AND n=?", (after, self.run_id, n))

    def leave(self, considered: Collection[str], stuck: Mapping[str, str]) -> None:
        """Write down whose merge, of the modules that were to be undone, a person has to undo: by module its commit."""
        there = {s.module: s for s in self.saga() if (s.kind, s.state) == ("undo", "stuck") and s.module in considered}
        over = [s.n for module, s in there.items() if stuck.get(module) != s.after]
        fresh = [module for module, commit in stuck.items() if module not in there or there[module].after != commit]
        with effect("saga.record"), self.store.db.transaction() as db:
            db.executemany("UPDATE saga SET state='void' WHERE run_id=? AND n=?", [(self.run_id, n) for n in over])
            for module in fresh:
                db.execute(
                    "INSERT INTO saga SELECT run_id, (SELECT MAX(n) + 1 FROM saga WHERE run_id=?), 'undo', module,"
                    " wave, phase, before, after, 'stuck' FROM saga"
                    " WHERE run_id=? AND kind='merge' AND module=? AND after=?",
                    (self.run_id, self.run_id, module, stuck[module]),
                )

    def replace_saga(self, undone: set[int], rewritten: dict[int, tuple[str, str]]) -> None:
        """Mark steps as undone, and give those that were made anew their new commits."""
        with effect("saga.replace"), self.store.db.transaction() as db:
            for n in undone:
                db.execute("UPDATE saga SET state='undone' WHERE run_id=? AND n=?", (self.run_id, n))
            for n, (before, after) in rewritten.items():
                db.execute("UPDATE saga SET before=?, after=? WHERE run_id=? AND n=?", (before, after, self.run_id, n))

    # --- evidence -----------------------------------------------------------------------------------------------

    def evidence(self, key: str) -> tuple[CheckResult, ...] | None:
        """Return the results of checks that ran on exactly this tree, image and command list."""
        row = self.store.db.row("SELECT body FROM evidence WHERE key=?", key)
        return _CHECKS.validate_json(row["body"]) if row else None

    def put_evidence(self, key: str, results: tuple[CheckResult, ...]) -> None:
        """Keep the results; only greens are worth keeping, a red may be the machine's fault."""
        with effect("evidence.store"), self.store.db.transaction() as db:
            db.execute("INSERT OR REPLACE INTO evidence VALUES (?,?)", (key, _CHECKS.dump_json(results).decode()))
