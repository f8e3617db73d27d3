from app.checkout import Checkout, Item
from app.domain.money import Money
from app.domain.pricing.discount_policy import Discount, Kind

BASKET = [Item("tea", Money(450), pieces=2), Item("cup", Money(1100))]


def test_a_basket_is_added_up():
    assert Checkout().subtotal(BASKET) == Money(2000)


def test_a_gift_code_is_taken_off():
    assert Checkout().total(BASKET, [Discount("WELCOME", Kind.GIFT, 5)]) == Money(1900)
