"""From the items in a basket to what is to pay."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.money import Money
from app.domain.pricing.discount_engine import DiscountEngine
from app.domain.pricing.discount_policy import Discount


@dataclass(frozen=True)
class Item:
    """Some pieces of one product."""

    name: str
    price: Money
    pieces: int = 1

    @property
    def amount(self) -> Money:
        """The price of all pieces."""
        return self.price.times(self.pieces)


class Checkout:
    """Adds up a basket and lets the engine take the discounts off."""

    def __init__(self, engine: DiscountEngine | None = None) -> None:
        self._engine = engine or DiscountEngine()

    def subtotal(self, items: Sequence[Item]) -> Money:
        """Return the sum before discounts."""
        total = Money(0)
        for item in items:
            total = total.add(item.amount)
        return total

    def total(self, items: Sequence[Item], discounts: Sequence[Discount] = ()) -> Money:
        """Return what is to pay."""
        return self._engine.total(self.subtotal(items), discounts)
