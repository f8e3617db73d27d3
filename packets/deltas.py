"""Graph and verification deltas: what the plan expects, what the worker claims, what the trees show.

Grammar of an expectation (one line each):

graph:         `A -> B` an edge is added      `not A -> B` an edge is removed     `add A`      `remove A`
verification:  `add|remove|change scenario NAME`   `add|remove marker [X][Y]`     `add|remove check CMD`
"""

import re
from enum import StrEnum

from packets.value import Value


class GraphDelta(Value):
    """Nodes and edges added and removed. An edge is written `A -> B`."""

    nodes_added: tuple[str, ...] = ()
    nodes_removed: tuple[str, ...] = ()
    edges_added: tuple[str, ...] = ()
    edges_removed: tuple[str, ...] = ()


class VerificationDelta(Value):
    """Scenarios (`path::name`), checks and markers, added and removed; `skipped` and `weakened` name scenarios.

    Of what actually happened, markers are those that the plan or the worker names, in the changed sources.
    """

    scenarios_added: tuple[str, ...] = ()
    scenarios_removed: tuple[str, ...] = ()
    scenarios_changed: tuple[str, ...] = ()
    scenarios_skipped: tuple[str, ...] = ()
    scenarios_weakened: tuple[str, ...] = ()
    markers_added: tuple[str, ...] = ()
    markers_removed: tuple[str, ...] = ()
    checks_added: tuple[str, ...] = ()
    checks_removed: tuple[str, ...] = ()


class GraphVerb(StrEnum):
    """What a graph expectation asks for."""

    EDGE_ADDED = "edge_added"
    EDGE_REMOVED = "edge_removed"
    NODE_ADDED = "node_added"
    NODE_REMOVED = "node_removed"


class GraphExpectation(Value):
    """One parsed line; `target` is empty for nodes."""

    text: str
    verb: GraphVerb
    source: str
    target: str = ""


class VerificationExpectation(Value):
    """One parsed line: verb add|remove|change, kind scenario|marker|check."""

    text: str
    verb: str
    kind: str
    name: str


_NAME = r"[^\s>]+(?: [^\s>]+)*?"


def parse_graph(text: str) -> GraphExpectation:
    """Parse one line; raises ValueError that names the grammar."""
    line = " ".join(text.split())
    # `add A -> B` is a slip for `A -> B`; taken as it stands it would look for a thing named `add A`.
    if match := re.fullmatch(rf"(not )?(?!not |add |remove )({_NAME}) -> ({_NAME})", line):
        verb = GraphVerb.EDGE_REMOVED if match[1] else GraphVerb.EDGE_ADDED
        return GraphExpectation(text=text, verb=verb, source=match[2], target=match[3])
    if match := re.fullmatch(r"(add|remove) (\S+)", line):
        verb = GraphVerb.NODE_ADDED if match[1] == "add" else GraphVerb.NODE_REMOVED
        return GraphExpectation(text=text, verb=verb, source=match[2])
    raise ValueError(f"cannot read {text[:80]!r}: write `A -> B`, `not A -> B`, `add A` or `remove A`")


def parse_verification(text: str) -> VerificationExpectation:
    """Parse one line; raises ValueError that names the grammar."""
    line = text.strip()
    match = re.fullmatch(r"(add|remove|change) (scenario) (\S.*)|(add|remove) (marker|check) (\S.*)", line)
    if not match:
        raise ValueError(
            f"cannot read {text[:80]!r}: write `add|remove|change scenario NAME`, `add|remove marker [X]`"
            " or `add|remove check CMD`"
        )
    verb, kind, name = match[1] or match[4], match[2] or match[5], match[3] or match[6]
    return VerificationExpectation(text=text, verb=verb, kind=kind, name=name)
