"""Numbers that join and leave the lists of a shelf."""

from collections.abc import Iterable
from typing import Any

from controller.graph.store.shelf import Shelf


class Moves:
    """Numbers that join and leave the lists of a shelf whose values are lists of numbers, one or two keys deep."""

    def __init__(self) -> None:
        self.joins: dict[str, dict[tuple[str, ...], set[int]]] = {}
        self.leaves: dict[str, dict[tuple[str, ...], set[int]]] = {}

    def move(self, number: int, old: Iterable[tuple[str, ...]], new: Iterable[tuple[str, ...]]) -> None:
        """Take a number from where it was to where it is."""
        was, comes = set(old), set(new)
        for home, *inner in was - comes:
            self.leaves.setdefault(home, {}).setdefault(tuple(inner), set()).add(number)
        for home, *inner in comes - was:
            self.joins.setdefault(home, {}).setdefault(tuple(inner), set()).add(number)

    def applied(self, shelf: Shelf) -> dict[str, Any]:
        """Return the values that change, by key; None for one that is empty now."""
        changes: dict[str, Any] = {}
        for home in self.joins.keys() | self.leaves.keys():
            after: dict[str, Any] = dict(shelf.get(home) or {})
            copied: set[str] = set()
            for inner in self.joins.get(home, {}).keys() | self.leaves.get(home, {}).keys():
                level = after
                if len(inner) > 1:
                    if inner[0] not in copied:
                        copied.add(inner[0])
                        after[inner[0]] = dict(after.get(inner[0], {}))
                    level = after[inner[0]]
                numbers = set(level.get(inner[-1], ())) - self.leaves.get(home, {}).get(inner, set())
                numbers |= self.joins.get(home, {}).get(inner, set())
                if numbers:
                    level[inner[-1]] = sorted(numbers)
                else:
                    level.pop(inner[-1], None)
            changes[home] = {key: value for key, value in after.items() if value} or None
        return changes
