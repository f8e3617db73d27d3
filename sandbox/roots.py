"""Where things lie on our side. What may not be lost is in `grace/` inside git's common directory."""

from pathlib import Path
from typing import NamedTuple

from packets.ids import slug


class Roots(NamedTuple):
    """`common` is git's common directory; readable copies go to `.grace/` in `main`, the main working tree."""

    common: Path
    main: Path

    @property
    def state(self) -> Path:
        """The folder of everything that may not be lost."""
        return self.common / "grace"

    @property
    def database(self) -> Path:
        """Our own tables."""
        return self.state / "state.db"

    @property
    def trees(self) -> Path:
        """Read-only checkouts of base trees, one folder a tree id, shared by all runs."""
        return self.state / "cache" / "trees"

    @property
    def templates(self) -> Path:
        """Private repositories of base commits, one folder a commit id, copied for each worker."""
        return self.state / "cache" / "git"

    def run(self, run_id: str) -> Path:
        """Everything durable of one run."""
        return self.state / "runs" / run_id

    def work(self, run_id: str, module_id: str, attempt: int, purpose: str = "work") -> Path:
        """Give the folder of one attempt's sandbox; removed when its content hangs on a ref."""
        return self.run(run_id) / "work" / f"{slug(module_id)}--{attempt}--{purpose}"

    def logs(self, run_id: str) -> Path:
        """Give the folder of captured output; kept."""
        return self.run(run_id) / "logs"

    def readable(self, run_id: str) -> Path:
        """Readable copies; written again from the state when gone."""
        return self.main / ".grace" / "runs" / run_id
