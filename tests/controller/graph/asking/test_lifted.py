"""Farther views: modules, files, symbols; and which of them is shown."""

import pytest

from controller.graph.asking.lifted import Level, folders, picture
from controller.graph.asking.zoom import zoom
from packets.errors import UsageError


def arrows(shown):
    return {(arrow.source, arrow.target) for arrow in shown.arrows}


def test_edges_are_lifted_by_containment(shop):
    files = picture(shop.graph, Level.FILE, shop.territory)
    assert ("app/checkout.py", "app/cart.py") in arrows(files)
    assert ("app/checkout.py", "app/money.py") not in arrows(files)
    (arrow,) = [each for each in files.arrows if (each.source, each.target) == ("app/tax.py", "app/money.py")]
    assert arrow.kinds == ("calls", "imports", "uses")


def test_modules_are_the_plan_s_and_folders_else(shop):
    shown = picture(shop.graph, Level.MODULE, shop.territory)
    assert set(shown.units) == {"Billing", "app/", "tests/", "./"}
    assert arrows(shown) == {("app/", "Billing"), ("tests/", "Billing")}
    assert shown.units["Billing"].holds == 2


def test_third_parties_only_on_demand(shop):
    assert ("app/cart.py", "ext:requests") not in arrows(picture(shop.graph, Level.FILE, shop.territory))
    assert ("app/cart.py", "ext:requests") in arrows(picture(shop.graph, Level.FILE, shop.territory, third_party=True))


def test_the_fullest_folder_is_opened_first_and_the_bound_holds():
    paths = [f"big/{i % 5}/{i}.py" for i in range(50)] + [f"small/{i}/{i}.py" for i in range(4)] + ["top.py"]
    homes = folders(paths, 8)
    assert len(set(homes.values())) <= 8
    assert homes["big/3/3.py"] == "big/3/"
    assert homes["small/1/1.py"] == "small/"
    assert homes["top.py"] == "./"
    assert set(folders(paths, 1).values()) == {"./"}
    assert set(folders(["a/b/c/d.py", "a/b/c/e.py"], 1).values()) == {"a/b/c/"}


def test_zoom_takes_the_nearest_level_that_fits(shop):
    assert zoom(shop, "", most=300).level is Level.SYMBOL
    assert zoom(shop, "", most=10).level is Level.FILE
    assert zoom(shop, "", most=4).level is Level.MODULE


def test_a_focus_keeps_what_is_near(shop):
    shown = zoom(shop, "file", focus="app/tax.py", within=1)
    assert set(shown.units) == {"app/tax.py", "app/money.py", "app/cart.py", "tests/test_tax.py"}
    assert set(zoom(shop, "module", focus="app/cart.py", within=0).units) == {"app/"}
    assert set(zoom(shop, "module", focus="Billing", within=0).units) == {"Billing"}


def test_too_much_to_look_at_is_said(shop):
    with pytest.raises(UsageError, match="9 nodes at the file level; more than 3"):
        zoom(shop, "file", most=3)
    with pytest.raises(UsageError, match="no level"):
        zoom(shop, "planet")


def test_a_drawing_leaves_out_what_stands_beside_it(shop):
    assert "README.md" in zoom(shop, "file").units
    assert set(zoom(shop, "file").units) - set(zoom(shop, "file", drawn=True).units) == {"README.md"}
