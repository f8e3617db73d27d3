"""Read what came out of a sandbox: the worker's report and the end of its output. Both are a stranger's words."""

import os
import stat
from pathlib import Path

from pydantic import ValidationError

from packets.report import WorkerReport

_MAX_REPORT = 1 << 20
_TAIL = 4096


def read_report(out: Path) -> tuple[WorkerReport | None, str]:
    """Return (report, fault): no file is (None, ""), a file that is no report is (None, why)."""
    try:
        out.chmod(0o700)  # whatever the worker left; the folder itself is ours
        folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as fault:
        return None, f"/grace/out: {fault.strerror}"
    try:
        raw, fault_text = _bounded(folder, "report.json")
    finally:
        os.close(folder)
    if raw is None:
        return None, fault_text
    try:
        return WorkerReport.model_validate_json(raw), ""
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "report.json"
        return None, inert(f"{place}: {first['msg']}")[:500]


def _bounded(folder: int, name: str) -> tuple[bytes | None, str]:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None, ""
    except OSError as fault:
        return None, f"report.json cannot be read: {fault.strerror}"
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None, "report.json is not a plain file"
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(_MAX_REPORT + 1)
    return (None, f"report.json is larger than {_MAX_REPORT} bytes") if len(raw) > _MAX_REPORT else (raw, "")


def read_tail(log: Path) -> str:
    """Return the last 4 KB of the output, harmless to a terminal."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            return inert(file.read().decode("utf-8", "replace"))
    except FileNotFoundError:
        return ""


def inert(text: str) -> str:
    """Write control characters as escapes; lines and tabs stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
