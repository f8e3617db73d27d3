"""Takes discounts off a subtotal."""

from collections.abc import Sequence

from app.domain.money import Money
from app.domain.pricing.discount_policy import Discount, DiscountPolicy


class DiscountEngine:
    """Knows what is to pay after all discounts that its policy lets count."""

    def __init__(self, policy: DiscountPolicy | None = None) -> None:
        self._policy = policy or DiscountPolicy()

    def total(self, subtotal: Money, discounts: Sequence[Discount]) -> Money:
        """Return what is to pay: each discount is a share of the subtotal."""
        total = subtotal
        for discount in self._policy.choose(discounts):
            total = total.less(subtotal.share(discount.percent))
        return total
