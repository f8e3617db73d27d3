"""Questions in words."""

import pytest

from controller.graph.asking.query import FORMS, answer
from packets.errors import UsageError


def test_dependents_of_a_module_of_the_plan(shop):
    rows = answer(shop, "dependents of Billing")
    assert {row.id for row in rows} == {
        "app/cart.py", "app/cart.py::Cart.total", "tests/test_tax.py", "tests/test_tax.py::test_tax"
    }  # fmt: skip
    (total,) = [row for row in rows if row.id == "app/cart.py::Cart.total"]
    assert (total.at, total.kind, total.target) == ("app/cart.py:7", "calls", "app/tax.py::tax")


def test_uses_name_every_place_outside(shop):
    rows = answer(shop, "uses of tax.tax")
    assert [row.at for row in rows if row.kind == "calls"] == ["app/cart.py:7", "tests/test_tax.py:5"]
    assert all(not row.source.startswith("app/tax.py") for row in rows)


def test_third_parties_of_all_and_of_one(shop):
    assert [(row.id, row.at) for row in answer(shop, "third-party")] == [("ext:requests", "app/cart.py:1")]
    assert [row.id for row in answer(shop, "third-party of app/cart.py")] == ["ext:requests"]
    assert answer(shop, "third-party of Billing") == []


def test_cycles_of_all_and_of_one(shop):
    rows = answer(shop, "cycles")
    assert [(row.id, row.group, row.distance, row.at) for row in rows] == [
        ("app/one.py", 1, 2, "app/one.py:1"),
        ("app/two.py", 1, 2, "app/two.py:1"),
    ]
    assert answer(shop, "cycles of Billing") == []
    assert answer(shop, "cycles of app/two.py") == rows


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("who uses Money", "cannot read"),
        ("dependents", "dependents of what"),
        ("uses of Money within 2", "`within` says nothing"),
        ("dependents of Nothing", "nothing is called Nothing at HEAD"),
        ("dependents of total2", "nothing is called total2"),
    ],
)
def test_what_cannot_be_answered_says_what_could(shop, question, said):
    with pytest.raises(UsageError, match=said) as told:
        answer(shop, question)
    assert told.value.hint


def test_a_misspelt_name_is_told_its_neighbour(shop):
    with pytest.raises(UsageError) as told:
        answer(shop, "uses of Mony")
    assert "Money" in told.value.hint


def test_every_form_is_one_that_is_read(shop):
    for form in FORMS:
        verb = form.split(" [")[0].replace("NAME", "Money")
        answer(shop, verb)
        answer(shop, form.replace("NAME", "Money").replace("N|all", "2").replace("[", "").replace("]", ""))
