"""One problem of a user's file, with its place."""

from packets.value import Value


class Problem(Value):
    """`line` and `column` count from 1; code is stable (`plan.unknown_key`)."""

    file: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""

    def text(self) -> str:
        """Return the one line that is shown: file:line:column: code: message (hint)."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line}:{self.column}: {self.code}: {self.message}{hint}"
