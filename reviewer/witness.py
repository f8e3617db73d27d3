"""What a check left behind in a folder that foreign code could write, and what of it counts as evidence.

A pytest session signs its beginning and its end (`inside/grace_witness.py`). The key lies inside the sandbox, so code
that knows this protocol can forge it; what does not know it, such as `os._exit(0)` or a written JUnit file, cannot.
"""

import hashlib
import hmac
import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packets.proof import ScenarioRun
from reviewer import junit, reports
from reviewer.inert import inert

_HEAD, _TAIL, _SHOWN = 8 << 20, 1 << 20, 4000
_SMALL = 64 << 10
_NAME = 500
_MOST_LINES = 20
_MOST_REPORTS = 500
_PRINTING = {
    re.compile(r"\bgo\s+test\b.*\s-json\b"): reports.go,
    re.compile(r"\bcargo\s+(?:\+\S+\s+)?test\b"): reports.cargo,
}
_PYTEST = re.compile(r"(?:^|[\s;&|(/\"'])(?:pytest|py\.test)(?=$|[\s;&|)\"'])")
_SHELL = re.compile(r"[|;&\n!]")


@dataclass
class Runs:
    """The test sessions of one check. `faults` say why they are no evidence; scenario ids are inert."""

    started: int = 0
    ended: int = 0
    statuses: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    told: dict[str, ScenarioRun] = field(default_factory=dict)
    """More of the scenarios that failed; where they are proved under pytest, of all."""

    def take(self, report: junit.Report) -> None:
        """Add a report: the worst that is said of a scenario counts."""
        for rank, ids in enumerate((report.passed, report.skipped, report.failed)):
            for each in ids:
                name = inert(each, limit=_NAME)
                self.outcomes[name] = max(rank, self.outcomes.get(name, 0))
        for each, (cause, asserted) in report.causes.items():
            name = inert(each, limit=_NAME)
            self.told[name] = ScenarioRun(id=name, outcome="failed", cause=inert(cause, limit=_NAME), asserted=asserted)

    def take_told(self, data: bytes) -> None:
        """Add what grace's own plugin told of the scenarios to be proved; raises ValueError for anything else."""
        for name, given in json.loads(data).items():
            each = ScenarioRun.model_validate_json(json.dumps({"id": inert(name, limit=_NAME), **given}))
            lines = tuple(inert(line, limit=_NAME) for line in each.lines[:_MOST_LINES])
            self.told[each.id] = each.model_copy(update={"cause": inert(each.cause, limit=_NAME), "lines": lines})

    def _with(self, rank: int) -> tuple[str, ...]:
        return tuple(name for name, worst in self.outcomes.items() if worst == rank)

    @property
    def passed(self) -> tuple[str, ...]:
        """Return ids of scenarios that passed."""
        return self._with(0)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Return ids of scenarios that were skipped, or failed as expected."""
        return self._with(1)

    @property
    def failed(self) -> tuple[str, ...]:
        """Return ids of scenarios that failed."""
        return self._with(2)


def judge_runs(command: str, exit_code: int | None, runs: Runs) -> tuple[bool | None, str]:
    """Say whether the runner came to its end (None: no runner that tells), and if not, why."""
    if runs.faults:
        return False, runs.faults[0]
    if not runs.started:
        if exit_code == 0 and _PYTEST.search(command) and "--version" not in command and "--help" not in command:
            return False, (
                "pytest ran without grace's plugin: keep PYTHONPATH and PYTEST_ADDOPTS"
                " (write PYTHONPATH=src:$PYTHONPATH where a script sets it)"
            )
        return None, ""
    if runs.ended < runs.started:
        return False, "the test runner did not come to its end: something ended it from within"
    if exit_code == 0 and any(runs.statuses) and not _SHELL.search(command):
        return False, f"the test runner itself ended with {max(runs.statuses)}"
    return True, ""


class Left:
    """Reads `/grace/out` of an ended job without following anything, and in bounds."""

    def __init__(self, out: Path, word: str) -> None:
        self._out = out
        self._word = word.encode()

    def exit_codes(self, log: Path) -> dict[int, int]:
        """Return the exit codes that the driver said; a number said twice with two codes is none."""
        found: dict[int, set[int]] = {}
        text = log.read_bytes() if log.exists() else b""
        for match in re.finditer(rb"^" + self._word + rb" (\d+) (\d+)\r?$", text, re.MULTILINE):
            found.setdefault(int(match[1]), set()).add(int(match[2]))
        return {number: codes.pop() for number, codes in found.items() if len(codes) == 1}

    def began(self, number: int) -> bool:
        """Say whether the driver came to this command."""
        return (self._out / f"{number}.begin").is_symlink() or (self._out / f"{number}.begin").exists()

    def duration(self, number: int, whole: float) -> float:
        """Return seconds; of a command that did not end, what is known at most."""
        try:
            begin = (self._out / f"{number}.begin").lstat().st_mtime
            return max(0.0, round((self._out / f"{number}.end").lstat().st_mtime - begin, 3))
        except OSError:
            return round(whole, 3) if self.began(number) else 0.0

    def keep_log(self, number: int, target: Path) -> tuple[str, str]:
        """Copy the output, its middle left out where it is long; return where it is and its inert end."""
        opened = self._open(f"{number}.log")
        if opened is None:
            return "", ""
        with os.fdopen(opened, "rb") as file:
            size = os.fstat(opened).st_size
            data = file.read(_HEAD)
            if size > _HEAD:
                file.seek(max(_HEAD, size - _TAIL))
                left_out = max(0, size - _HEAD - _TAIL)
                data += b"\n[grace: %d bytes left out]\n" % left_out + file.read(_TAIL)
        target.write_bytes(data)
        text = inert(data[-4 * _SHOWN :].decode("utf-8", "replace"), limit=16 * _SHOWN, lines=True)
        return str(target), text[-_SHOWN:]

    def runs(self, number: int, target: Path) -> Runs:
        """Read the signed sessions of one check and the reports that they signed; keep these reports."""
        runs = Runs()
        names = sorted(f.name for f in self._out.iterdir() if re.fullmatch(rf"{number}\.\d+\.start", f.name))
        for name in names:
            pid = int(name.split(".")[1])
            if self._signed(name, "start", pid) is None:
                continue
            runs.started += 1
            end = self._signed(f"{number}.{pid}.end", "end", pid)
            if end is None:
                continue
            runs.ended += 1
            runs.statuses.append(max(0, int(end.get("status", 0))))
            if end.get("report"):
                self._report(f"{number}.{pid}.xml", str(end["report"]), target, runs)
            if end.get("told"):
                self._told(f"{number}.{pid}.told", str(end["told"]), runs)
        # A runner that is not pytest may write reports of its own where grace says. Nobody signs those.
        if not runs.started:
            self._report(f"{number}.own.xml", "", target, runs)
            for name in self._listed(f"{number}.reports"):
                self._report(name, "", target, runs)
        return runs

    def printed(self, number: int, command: str, runs: Runs) -> None:
        """Read what a runner says of its tests in its output, where it is one that says so in a form."""
        reader = next((read for word, read in _PRINTING.items() if word.search(command)), None)
        data = self._read(f"{number}.log", junit.MOST) if reader and not runs.outcomes else None
        if reader and data is not None:
            runs.take(reader(data))

    def _listed(self, folder: str) -> list[str]:
        """Name the reports that were left in a folder, a bounded number of them, none through a link."""
        place = self._out / folder
        if place.is_symlink() or not place.is_dir():
            return []
        names = sorted(f.name for f in place.iterdir() if f.name.endswith((".xml", ".json", ".jsonl")))
        return [f"{folder}/{name}" for name in names[:_MOST_REPORTS]]

    def _report(self, name: str, digest: str, target: Path, runs: Runs) -> None:
        data = self._read(name, junit.MOST + 1)
        if data is None and not digest:
            return
        if data is None or (digest and hashlib.sha256(data).hexdigest() != digest):
            runs.faults.append("the JUnit report is not the one that the test runner wrote")
            return
        try:
            runs.take(reports.read(name, data))
        except junit.BadReport as fault:
            runs.faults.append(str(fault))
            return
        if not name.endswith(".xml"):
            return
        kept = target.with_name(f"{target.name}-{len(runs.kept)}.xml")
        kept.write_bytes(data)
        runs.kept = (*runs.kept, str(kept))

    def _told(self, name: str, digest: str, runs: Runs) -> None:
        data = self._read(name, junit.MOST)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            runs.faults.append("what was told of the scenarios is not what the test runner wrote")
            return
        try:
            runs.take_told(data)
        except (ValueError, AttributeError, TypeError, RecursionError):
            runs.faults.append("what was told of the scenarios cannot be read")

    def _signed(self, name: str, kind: str, pid: int) -> dict[str, Any] | None:
        data = self._read(name, _SMALL)
        if data is None:
            return None
        mark, _, body = data.partition(b"\n")
        if not hmac.compare_digest(mark, hmac.new(self._word, body, hashlib.sha256).hexdigest().encode()):
            return None
        facts: dict[str, Any] = json.loads(body)
        return facts if facts.get("kind") == kind and facts.get("pid") == pid else None

    def _open(self, name: str) -> int | None:
        try:
            opened = os.open(self._out / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            return None
        return opened

    def _read(self, name: str, most: int) -> bytes | None:
        opened = self._open(name)
        if opened is None:
            return None
        with os.fdopen(opened, "rb") as file:
            return file.read(most)
