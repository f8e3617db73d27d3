"""What a discount is, and who decides which of them count."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Where a discount comes from."""

    GIFT = "gift"
    LOYALTY = "loyalty"
    SEASONAL = "seasonal"


@dataclass(frozen=True)
class Discount:
    """A share of the subtotal that a customer need not pay."""

    name: str
    kind: Kind
    percent: int


class DiscountPolicy:
    """Decides which discounts count together: here, all of them."""

    def choose(self, discounts: Sequence[Discount]) -> tuple[Discount, ...]:
        """Return the discounts that count."""
        return tuple(discounts)
