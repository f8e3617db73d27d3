"""One problem of a user's file, with its place."""

from typing import Literal, NamedTuple

from packets.value import Value


class Problem(Value):
    """`line` and `column` count from 1; code is stable (`plan.unknown_key`). Only an `error` refuses the file."""

    file: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning", "note"] = "error"

    def text(self) -> str:
        """Return the one line that is shown: file:line:column: code: message (hint)."""
        hint = f" ({self.hint})" if self.hint else ""
        kind = "" if self.severity == "error" else f"{self.severity}: "
        return f"{self.file}:{self.line}:{self.column}: {kind}{self.code}: {self.message}{hint}"


class NameProblem(NamedTuple):
    """What is wrong with a name in the `nth` graph expectation of a module: unknown, ambiguous, or a likely slip.

    `undeclared`: the name is clear, but of a module that the plan entry does not declare to depend on.
    """

    module: str
    nth: int
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"
    undeclared: bool = False
