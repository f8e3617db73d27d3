"""Finds a container's control group on this kernel, where Docker's interface does not tell what it counted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


class PidsHits:
    """Reads from the container's cgroup how often a process was refused; the file stays open while it lives."""

    def __init__(self, state: Callable[[], Mapping[str, Any]]) -> None:
        self._state = state
        self._file: Path | None = None
        self._looked = False

    def __call__(self) -> int | None:
        """Count; None where it cannot be known."""
        if not self._looked:
            self._looked = True
            self._file = _pids_events(int(self._state().get("Pid") or 0))
        if self._file is None:
            return None
        try:
            return int(self._file.read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return None


def _pids_events(pid: int) -> Path | None:
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = "pids/" if "pids" in controllers.split(",") else "" if not controllers else None
        if root is not None:
            file = Path(f"/sys/fs/cgroup/{root}{path.lstrip('/')}/pids.events")
            if file.exists():
                return file
    return None
