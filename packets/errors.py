"""The one error tree. A job that failed is a value; broken machinery or wrong input is one of these.

GraceError                exit 1  the work failed and cannot go on
├── UsageError            exit 2  wrong command line, wrong repository, wrong plan
│   └── PlanInvalid       exit 2  a plan with problems, each with its place; all at once
├── MachineLacks          exit 3  docker, git, an image, a permission: the machine lacks something
│   ├── Damaged           exit 3  the state on disk cannot be read; `grace doctor` says how to recover
│   └── Transient         exit 3  it may be better in a moment: tried again, then told to a person
│       ├── EngineLost    exit 3  the engine went away while it worked (told apart from a worker's failure)
│       └── DiskFull      exit 3  no room to write
├── NotPermitted          exit 1  something irreversible, and no stored approval of it
├── WaitingForPerson      exit 4  only a person can go on: an approval, a dirty tree at landing
└── Interrupted           exit 130

One handler in `controller.main` prints `grace: <message>` and `  hint: <hint>` to stderr and exits with `exit_code`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a quick command must not load pydantic to be able to fail
    from packets.problem import Problem


class GraceError(Exception):
    """One line that says what is wrong and where; `hint` says what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GraceError):
    """Wrong input: nothing was created."""

    exit_code = 2


class PlanInvalid(UsageError):  # noqa: N818 - reads as what it says
    """A plan that is refused; `problems` holds every one, in file order."""

    def __init__(self, problems: "tuple[Problem, ...]") -> None:
        count = len(problems)
        super().__init__(f"the plan has {count} problem{'s' if count != 1 else ''}")
        self.problems = problems


class MachineLacks(GraceError):  # noqa: N818
    """What the plan asked for is not to be had on this machine; no silent fallback."""

    exit_code = 3


class Damaged(MachineLacks):
    """What grace remembers cannot be read any more: truncated, overwritten, a bad disk."""


class Transient(MachineLacks):
    """A fault of the machine that may be over in a moment; `controller.patience` tries again, for a while."""


class DiskFull(Transient):
    """There is no room to write; what was written before is whole."""


class EngineLost(Transient):
    """The sandbox engine went away: transient, never counted as the worker's failure."""


class NotPermitted(GraceError):  # noqa: N818
    """An irreversible effect without a stored approval, which is a fault of grace: nothing was done."""


class WaitingForPerson(GraceError):  # noqa: N818
    """The run stands still until somebody decides."""

    exit_code = 4


class Interrupted(GraceError):  # noqa: N818
    """Stopped by the user; the run can be resumed."""

    exit_code = 130
