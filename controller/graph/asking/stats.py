"""What a graph holds, in numbers."""

from collections import Counter
from typing import Any

from controller.graph.asking.meaning import Asked
from controller.graph.language import kind_of
from packets.graph import EdgeKind

_HUBS = 10


def stats(asked: Asked) -> dict[str, Any]:
    """Return counts by kind, and what most depends on: `{at, files, nodes, edges, third_party, hubs}`.

    A hub is a symbol or file with the number of other files that lead to it.
    """
    graph = asked.graph
    users: dict[str, set[str]] = {}
    edges: Counter[str] = Counter()
    for edge in graph.edges:
        edges[edge.kind.value if edge.resolved else "by_name"] += 1
        if edge.resolved and edge.kind is not EdgeKind.DEFINES and not edge.target.startswith("ext:"):
            path = graph.path_of(edge.source)
            if path != graph.path_of(edge.target):
                users.setdefault(edge.target, set()).add(path)
    hubs = sorted(users, key=lambda node: (-len(users[node]), node))[:_HUBS]
    nodes = Counter(node.kind.value for node in graph.nodes.values())
    return {
        "at": asked.at,
        "files": _counted(Counter(kind_of(path) for path in graph.by_path)),
        "nodes": _counted(nodes),
        "edges": _counted(edges),
        "third_party": nodes["external"],
        "hubs": [{"id": node, "users": len(users[node])} for node in hubs],
    }


def _counted(found: "Counter[str]") -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def text(found: dict[str, Any]) -> str:
    """Write the numbers to be read."""
    lines = [f"the graph at {found['at']}"]
    for what in ("files", "nodes", "edges"):
        listed = ", ".join(f"{count} {kind}" for kind, count in found[what].items())
        lines.append(f"  {sum(found[what].values()):>8} {what}: {listed}")
    if found["hubs"]:
        lines.append("used from most files:")
        lines += [f"  {hub['users']:>8} {hub['id']}" for hub in found["hubs"]]
    return "\n".join(lines) + "\n"
