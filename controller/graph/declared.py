"""What one file declares and another defines, as C and C++ have it, taken together as the one thing that it is."""

from collections.abc import Collection

from controller.graph.language import includes
from controller.graph.model import Graph
from packets.graph import Node


def declares(node: Node) -> bool:
    """Tell whether a node only says that there is something: `int pay(struct order *);`."""
    return node.signature.endswith(";") and includes(node.path)


def one_thing(graph: Graph, ids: Collection[str]) -> bool:
    """Tell whether nodes are one definition and its declarations, or the declarations of what is defined elsewhere."""
    nodes = [graph.nodes[each] for each in ids if each in graph.nodes]
    names = {node.name for node in nodes}
    return len(nodes) == len(ids) and len(names) == 1 and sum(not declares(node) for node in nodes) <= 1 < len(nodes)


def whole(graph: Graph, ids: Collection[str]) -> frozenset[str]:
    """Return nodes with all that they define, be it in another file: a class in a header, its methods in a source."""
    found = {each for node_id in ids for each in graph.inside(node_id)}
    declared = [graph.nodes[each] for each in found if each in graph.nodes and declares(graph.nodes[each])]
    for node in declared:
        for each in graph.by_leaf.get(node.name.rpartition(".")[2], ()):
            if each.name == node.name and includes(each.path) and not declares(each):
                found.update(graph.inside(each.id))
    return frozenset(found)
