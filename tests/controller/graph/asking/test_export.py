"""Pictures in four languages, read back by others where others are there."""

import json
import re

import networkx as nx
import pytest

from controller.graph.asking.export import FORMATS, dot, graphml, mermaid
from controller.graph.asking.lifted import Arrow, Level, Picture, Unit
from controller.graph.asking.zoom import zoom

ODD = 'a"b\\c\x1b]0;x<y>&|[]{}.py'


@pytest.fixture
def odd():
    unit = Unit(ODD, "file", ODD, ODD)
    other = Unit("b.py", "file", "b.py", "b.py")
    return Picture(Level.FILE, {ODD: unit, "b.py": other}, (Arrow(ODD, "b.py", 3, ("calls",)),))


def test_json_has_all_nodes_and_edges(shop):
    shown = zoom(shop, "file")
    found = json.loads(FORMATS["json"](shown))
    assert {node["id"] for node in found["nodes"]} == set(shown.units)
    (arrow,) = [edge for edge in found["edges"] if (edge["source"], edge["target"]) == ("app/cart.py", "app/tax.py")]
    assert (arrow["count"], arrow["kinds"]) == (3, ["calls", "imports"])


def test_graphml_is_read_by_networkx(shop, odd):
    shown = zoom(shop, "symbol")
    graph = nx.parse_graphml(graphml(shown))
    assert set(graph) == set(shown.units)
    assert graph.number_of_edges() == len(shown.arrows)
    assert graph.nodes["app/money.py::Money"]["kind"] == "class"
    assert nx.parse_graphml(graphml(odd)).number_of_edges() == 1


@pytest.mark.parametrize("write", [dot, mermaid])
def test_drawings_name_every_node_once_and_only_known_ones(shop, write):
    shown = zoom(shop, "file")
    text = write(shown)
    declared = re.findall(r"^\s*(n\d+) ?\[", text, re.MULTILINE)
    used = set(re.findall(r"\bn\d+\b", re.sub(r'"[^"]*"', "", text)))
    assert len(declared) == len(set(declared)) == len(shown.units)
    assert used == set(declared)
    assert "checkout.py" in text


def test_odd_names_cannot_leave_their_label(odd):
    assert '"a\\"b\\\\c' in dot(odd)
    drawn = mermaid(odd)
    assert "<y>" not in drawn
    assert drawn.count('"') == 4
    assert "\x1b" not in drawn
