"""Where each part of a plan stands in its file, and the plan once it is loaded."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from controller.plan.nodes import Items, Keys, Node
from packets.plan import Plan
from packets.problem import Problem

MAX_PROBLEMS = 100
"""More are counted as one."""

Loc = tuple[str | int, ...]
"""The way from the root: keys, and indexes from 0."""


class Places:
    """Finds lines and columns; a part that is not in the file has the place of what would hold it."""

    def __init__(self, file: str, root: Node) -> None:
        self.file = file
        self.root = root

    def find(self, loc: Loc) -> Node | None:
        """Return the node at `loc`, or None."""
        node: Node | None = self.root
        for step in loc:
            node = _child(node, step)
        return node

    def at(self, loc: Loc) -> tuple[int, int]:
        """Return the place of the value at `loc`, or of the nearest part around it."""
        place, node = (self.root.line, self.root.column), self.root
        for step in loc:
            following = _child(node, step)
            if following is None:
                break
            # An empty value stands nowhere, and a block's value stands on the next line: its key is the better place.
            named = isinstance(node, Keys) and (not isinstance(following, Items | Keys) and not following.text)
            place = node.places[str(step)] if named and isinstance(node, Keys) else (following.line, following.column)
            node = following
        return place

    def key(self, loc: Loc) -> tuple[int, int]:
        """Return the place of the last key of `loc`, or of the value where there is none."""
        holder = self.find(loc[:-1]) if loc else None
        if isinstance(holder, Keys) and loc[-1] in holder.places:
            return holder.places[str(loc[-1])]
        if loc and holder is not None and _child(holder, loc[-1]) is None:
            return self.key(loc[:-1])
        return self.at(loc)

    def problem(
        self,
        loc: Loc,
        code: str,
        message: str,
        hint: str = "",
        *,
        on_key: bool = False,
        severity: Literal["error", "warning", "note"] = "error",
    ) -> Problem:
        """Return a problem with its place."""
        line, column = self.key(loc) if on_key else self.at(loc)
        return Problem(
            file=self.file, line=line, column=column, code=code, message=message, hint=hint, severity=severity
        )


def _child(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, Keys):
        return node.pairs.get(str(step))
    if isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


@dataclass(frozen=True)
class LoadedPlan:
    """A valid plan, its digest (sha256 of its canonical JSON), and where it came from."""

    plan: Plan
    digest: str
    path: Path
    text: bytes = field(repr=False)
    positions: Places = field(repr=False)


def in_order(problems: list[Problem]) -> tuple[Problem, ...]:
    """Sort by place, each once."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda p: (p.line, p.column, p.code, p.message)))


def bounded(problems: list[Problem]) -> tuple[Problem, ...]:
    """Sort by place, and say of what is too much to read only that there is more; errors come before the rest."""
    errors = in_order([problem for problem in problems if problem.severity == "error"])
    ordered = in_order(problems) if len(problems) <= MAX_PROBLEMS else errors or in_order(problems)
    if len(ordered) <= MAX_PROBLEMS:
        return ordered
    last = ordered[MAX_PROBLEMS - 1]
    more = {"code": "plan.more", "message": "there are more problems than these", "hint": "mend these first"}
    return (*ordered[:MAX_PROBLEMS], last.model_copy(update=more))
