"""What bubblewrap tells of a sandbox while it runs it."""

import json
import os


class Status:
    """What bubblewrap reports on a descriptor of its own: the inner process 1 first, the exit code at the end."""

    def __init__(self) -> None:
        reading, self.inside = os.pipe()
        self._reports = os.fdopen(reading, "rb")
        self.inner = 0
        self.exit_code: int | None = None

    def begin(self) -> None:
        """Wait for the first report; there is none when bubblewrap failed."""
        os.close(self.inside)
        self._take(self._reports.readline())

    def abandon(self) -> None:
        """Close both ends: there is no child."""
        os.close(self.inside)
        self._reports.close()

    def close(self) -> None:
        """Read the rest; twice is fine."""
        if not self._reports.closed:
            for line in self._reports:
                self._take(line)
            self._reports.close()

    def _take(self, line: bytes) -> None:
        report = json.loads(line or b"{}")
        self.inner = int(report.get("child-pid", self.inner))
        self.exit_code = report.get("exit-code", self.exit_code)
