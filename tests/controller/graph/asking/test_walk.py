"""Steps along dependencies, in both directions, and the shortest way."""

from controller.graph.asking.walk import dependencies, dependents, shortest


def reached(found):
    return {(each.id, each.distance) for each in found}


def test_dependents_come_nearest_first_and_stop_at_the_border(shop):
    start = shop.meant("app/money.py")
    near = reached(dependents(shop.graph, start, 1))
    assert near == {("app/tax.py", 1), ("app/tax.py::tax", 1)}
    farther = reached(dependents(shop.graph, start, 2)) - near
    assert {name for name, _ in farther} >= {"app/cart.py::Cart.total", "tests/test_tax.py::test_tax", "app/cart.py"}
    assert {distance for _, distance in farther} == {2}
    assert not {name for name, _ in farther} & {"app/checkout.py::checkout"}
    assert ("app/checkout.py::checkout", 3) in reached(dependents(shop.graph, start, None))


def test_dependencies_hold_what_is_needed_and_third_parties(shop):
    found = reached(dependencies(shop.graph, shop.meant("app/cart.py"), None))
    assert ("ext:requests", 1) in found
    assert ("app/tax.py::tax", 1) in found
    assert ("app/money.py::Money.add", 2) in found
    assert not {name for name, _ in found} & {"app/checkout.py", "app/cart.py"}


def test_the_shortest_way_names_each_step(shop):
    way = shortest(shop.graph, shop.meant("checkout"), shop.meant("Money"))
    assert [(edge.source, edge.target) for edge in way] == [
        ("app/checkout.py::checkout", "app/cart.py::Cart"),
        ("app/cart.py::Cart.total", "app/tax.py::tax"),
        ("app/tax.py::tax", "app/money.py::Money"),
    ]


def test_no_way_and_no_need_of_one(shop):
    assert shortest(shop.graph, shop.meant("Money"), shop.meant("checkout")) is None
    assert shortest(shop.graph, shop.meant("app/money.py"), shop.meant("Money")) == ()


def test_circles_end(shop):
    assert reached(dependents(shop.graph, shop.meant("app/one.py"), None)) == {("app/two.py", 1)}
