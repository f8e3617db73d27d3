import pytest

from app.domain.money import Money


def test_nothing_is_the_least_that_is_left():
    assert Money(300).less(Money(500)) == Money(0)


@pytest.mark.parametrize(("cents", "percent", "share"), [(1000, 15, 150), (999, 10, 100), (5, 10, 1), (4, 10, 0)])
def test_a_share_is_rounded_to_the_cent(cents, percent, share):
    assert Money(cents).share(percent) == Money(share)


def test_money_reads_as_a_price():
    assert str(Money(1205)) == "12.05"
