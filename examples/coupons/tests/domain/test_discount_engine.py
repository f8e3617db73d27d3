from app.domain.money import Money
from app.domain.pricing.discount_engine import DiscountEngine
from app.domain.pricing.discount_policy import Discount, Kind

GIFT = Discount("WELCOME", Kind.GIFT, 5)
LOYALTY = Discount("silver", Kind.LOYALTY, 10)


def test_no_discount():
    assert DiscountEngine().total(Money(2000), []) == Money(2000)


def test_gift_plus_loyalty():
    assert DiscountEngine().total(Money(2000), [GIFT, LOYALTY]) == Money(1700)
