"""Amounts of money, exact to the cent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    """An amount in cents."""

    cents: int

    def add(self, other: Money) -> Money:
        """Return the sum."""
        return Money(self.cents + other.cents)

    def less(self, other: Money) -> Money:
        """Return what is left when `other` is taken off: nothing at the least."""
        return Money(max(0, self.cents - other.cents))

    def times(self, count: int) -> Money:
        """Return the amount `count` times."""
        return Money(self.cents * count)

    def share(self, percent: int) -> Money:
        """Return `percent` of the amount, half a cent rounded up."""
        return Money((self.cents * percent + 50) // 100)

    def __str__(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02d}"
