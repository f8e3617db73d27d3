"""A picture of the graph as JSON, DOT, Mermaid or GraphML."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from controller.graph.asking.lifted import Arrow, Level, Picture, Unit

_FLOWING = re.compile(r"[^A-Za-z0-9 /_.…-]")


def as_json(shown: Picture) -> str:
    """Return one object: `{level, nodes: [{id, kind, label, path, line, holds}], edges: [{source, target, …}]}`."""
    nodes = [vars(unit) for unit in shown.units.values()]
    edges = [{**vars(arrow), "kinds": list(arrow.kinds)} for arrow in shown.arrows]
    return json.dumps({"level": shown.level.value, "nodes": nodes, "edges": edges}, ensure_ascii=False) + "\n"


def dot(shown: Picture) -> str:
    """Return a Graphviz digraph; what lies in one folder or file stands together."""
    names = _names(shown)
    lines = ["digraph graph_of_code {", "  rankdir=LR;", "  node [shape=box, fontname=sans];"]
    for number, (home, units) in enumerate(_homes(shown).items()):
        inside = [f"  {names[unit.id]} [label={_quoted(_label(unit, home))}{_style(unit)}];" for unit in units]
        if home:
            lines += [
                f"  subgraph cluster_{number} {{",
                f"    label={_quoted(home)};",
                *(f"  {x}" for x in inside),
                "  }",
            ]
        else:
            lines += inside
    lines += [f"  {names[a.source]} -> {names[a.target]}{_weight(a.count)};" for a in _between(shown)]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(shown: Picture) -> str:
    """Return a Mermaid flowchart; what lies in one folder or file stands together."""
    names = _names(shown)
    lines = ["flowchart LR"]
    for number, (home, units) in enumerate(_homes(shown).items()):
        inside = [f'  {names[unit.id]}["{_flowing(_label(unit, home))}"]' for unit in units]
        if home:
            lines += [f'  subgraph s{number}["{_flowing(home)}"]', *(f"  {each}" for each in inside), "  end"]
        else:
            lines += inside
    for arrow in _between(shown):
        count = f"|{arrow.count}|" if arrow.count > 1 else ""
        lines.append(f"  {names[arrow.source]} -->{count} {names[arrow.target]}")
    return "\n".join(lines) + "\n"


def graphml(shown: Picture) -> str:
    """Return GraphML, for Gephi, yEd and the like."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for unit in shown.units.values():
        graph.add_node(unit.id, **{key: _valid(value) for key, value in vars(unit).items() if key != "id"})
    for arrow in shown.arrows:
        graph.add_edge(arrow.source, arrow.target, count=arrow.count, kinds=",".join(arrow.kinds))
    return "\n".join(nx.generate_graphml(nx.relabel_nodes(graph, {node: _valid(node) for node in graph}))) + "\n"


FORMATS: Mapping[str, Callable[[Picture], str]] = {"json": as_json, "dot": dot, "mermaid": mermaid, "graphml": graphml}
DRAWN = ("dot", "mermaid")
"""Formats that are looked at: too many nodes make them useless."""


def _names(shown: Picture) -> dict[str, str]:
    return {unit: f"n{number}" for number, unit in enumerate(shown.units)}


def _homes(shown: Picture) -> dict[str, list[Unit]]:
    """Group symbols by their file, files by their folder; modules stand alone."""
    homes: dict[str, list[Unit]] = {}
    for unit in shown.units.values():
        home = unit.path if shown.level is Level.SYMBOL else unit.path.rpartition("/")[0]
        homes.setdefault(home, []).append(unit)
    return dict(sorted(homes.items()))


def _between(shown: Picture) -> Iterator[Arrow]:
    """Yield the arrows that say something beside the grouping."""
    for arrow in shown.arrows:
        if arrow.kinds != ("defines",):
            yield arrow


def _label(unit: Unit, home: str) -> str:
    name = unit.label.removeprefix(f"{home}/") if home else unit.label
    return f"{name} ({unit.holds})" if unit.kind == "module" else name


def _style(unit: Unit) -> str:
    return ", style=dashed" if unit.kind == "external" else ", style=rounded" if unit.kind == "module" else ""


def _weight(count: int) -> str:
    return f' [label="{count}"]' if count > 1 else ""


def _flowing(label: str) -> str:
    """Escape for Mermaid: everything that it or HTML reads becomes a numbered entity."""
    return _FLOWING.sub(lambda found: found[0] if found[0].isalnum() else f"#{ord(found[0])};", label)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _valid(value: object) -> object:
    """Write text so that XML can hold it: control characters have no form there."""
    if not isinstance(value, str):
        return value
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in value)
