"""Modules for a plan, proposed from what the code of a repository holds together by itself.

Files that use each other more than the rest are a community (Louvain's method, Blondel et al. 2008, by networkx);
lying in one folder counts a little, too. A test file goes with the code that it uses most. What a proposal depends on
are the dependencies that are there, without the weakest ones of each circle.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from controller.graph.asking.lifted import folders
from controller.graph.language import kind_of
from controller.graph.model import Graph
from controller.plan.survey import ASIDE
from packets.graph import EdgeKind
from packets.protected import is_protected
from packets.scope import escape

MOST = 12
"""Proposals: more than a person reads at once helps nobody."""

_UNITS = 400
"""Files up to this number are joined one by one, in larger repositories folder by folder."""

_LEAST = 2
_NEIGHBOURS = 0.3
"""What two files of one folder weigh together beside one use of each other."""

_MANY = 3
"""Files beside each other of which one entry of a scope is made."""

Uses = Mapping[tuple[str, str], int]
"""How often one thing uses another."""


class Proposal(NamedTuple):
    """One module: `files` are sources, `tests` the test files with them, `depends_on` other proposals by number.

    `heart` is the source that most uses of other files lead to.
    """

    heart: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    scope: tuple[str, ...]
    depends_on: tuple[int, ...]


def propose(graph: Graph, is_test: Collection[str], most: int = MOST, besides: str = "") -> list[Proposal]:
    """Return modules such that none depends on a later one; nothing where the code is too small to be parted.

    `besides` is a path that no scope may hold: the plan's own.
    """
    tested = set(is_test)
    sources = [path for path in graph.by_path if kind_of(path) != "file" and path not in tested and _is_source(path)]
    uses = file_uses(graph)
    homes = {path: path for path in sources} if len(sources) <= _UNITS else folders(sources, _UNITS)
    groups = _communities(homes, uses, most)
    if len(groups) < _LEAST:
        return []
    owner = {path: number for number, group in enumerate(groups) for path in group}
    tests = _tests(is_test, owner, uses)
    everything = {**owner, **tests, **({besides: -1} if besides else {})}
    between: Counter[tuple[int, int]] = Counter()
    for (source, target), count in uses.items():
        if source in owner and target in owner and owner[source] != owner[target]:
            between[owner[source], owner[target]] += count
    order, needs = acyclic(len(groups), between)
    place = {number: index for index, number in enumerate(order)}
    used: Counter[str] = Counter()
    for (_, target), count in uses.items():
        used[target] += count
    return [
        Proposal(
            heart=min(groups[number], key=lambda path: (-used[path], path)),
            files=tuple(sorted(groups[number])),
            tests=tuple(sorted(path for path, home in tests.items() if home == number)),
            scope=cover({path for path, home in everything.items() if home == number}, everything),
            depends_on=tuple(sorted(place[other] for other in needs[number])),
        )
        for number in order
    ]


def _is_source(path: str) -> bool:
    return path.partition("/")[0] not in ASIDE and not is_protected(path)


def file_uses(graph: Graph) -> Counter[tuple[str, str]]:
    """Count the resolved dependencies between files."""
    found: Counter[tuple[str, str]] = Counter()
    for edge in graph.edges:
        source, target = graph.path_of(edge.source), graph.path_of(edge.target)
        if edge.resolved and edge.kind is not EdgeKind.DEFINES and target and source != target:
            found[source, target] += 1
    return found


def _communities(homes: Mapping[str, str], uses: Uses, most: int) -> list[set[str]]:
    """Part the files, the largest community first; those with few files go to whom they are nearest."""
    import networkx as nx

    net: nx.Graph[str] = nx.Graph()
    net.add_nodes_from(sorted(set(homes.values())))
    weights: Counter[tuple[str, str]] = Counter()
    for (source, target), count in uses.items():
        if source in homes and target in homes and homes[source] != homes[target]:
            weights[min(homes[source], homes[target]), max(homes[source], homes[target])] += count
    beside: dict[str, list[str]] = defaultdict(list)
    for home in sorted(set(homes.values())):
        beside[home.rstrip("/").rpartition("/")[0]].append(home)
    links: dict[tuple[str, str], float] = {pair: float(count) for pair, count in weights.items()}
    for group in beside.values():
        for pair in pairwise(group):
            links[pair] = links.get(pair, 0) + _NEIGHBOURS * len(group) ** 0.5
    net.add_weighted_edges_from((*pair, links[pair]) for pair in sorted(links))
    found = nx.community.louvain_communities(net, weight="weight", seed=0)
    groups = sorted((set(each) for each in found), key=lambda each: (-len(each), min(each)))
    units = _fewer(groups, links, most)
    inside: dict[str, set[str]] = defaultdict(set)
    for path, home in homes.items():
        inside[home].add(path)
    return [{path for home in group for path in inside[home]} for group in units]


def _fewer(groups: list[set[str]], links: Mapping[tuple[str, str], float], most: int) -> list[set[str]]:
    """Join the smallest group with its nearest neighbour until there are few enough; drop one that has none."""
    groups = [set(group) for group in groups]
    while len(groups) > 1:
        smallest = min(range(len(groups)), key=lambda at: (len(groups[at]), min(groups[at])))
        if len(groups) <= most and len(groups[smallest]) >= _LEAST:
            break
        small = groups.pop(smallest)
        near = [
            sum(w for (a, b), w in links.items() if (a in small and b in g) or (b in small and a in g)) for g in groups
        ]
        if any(near):
            groups[max(range(len(groups)), key=lambda at: (near[at], -at))] |= small
    return sorted(groups, key=lambda each: (-len(each), min(each)))


def _tests(is_test: Iterable[str], owner: Mapping[str, int], uses: Uses) -> dict[str, int]:
    """Give each test file to the module that it uses most; one that uses none stays out."""
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    tests = {path for path in is_test if not is_protected(path)}
    for (source, target), count in uses.items():
        if source in tests and target in owner:
            votes[source][owner[target]] += count
    return {path: min(found, key=lambda number: (-found[number], number)) for path, found in sorted(votes.items())}


def acyclic(count: int, between: Mapping[tuple[int, int], int]) -> tuple[list[int], dict[int, set[int]]]:
    """Return an order in which each comes after what it needs, and the needs, without the weakest of each circle."""
    import networkx as nx

    net: nx.DiGraph[int] = nx.DiGraph()
    net.add_nodes_from(range(count))
    for pair in sorted(between, key=lambda each: (-between[each], each)):  # the strongest first: the weakest gives way
        if not nx.has_path(net, pair[1], pair[0]):
            net.add_edge(*pair)
    order = list(reversed(list(nx.lexicographical_topological_sort(net, key=lambda number: -number))))
    reduced = {number: set(net.successors(number)) for number in net}
    return order, reduced


def cover(ours: Collection[str], everything: Collection[str]) -> tuple[str, ...]:
    """Return scope entries that hold exactly these of all files: whole folders, all files of a folder, single files."""
    return tuple(sorted(_covered("", set(ours), sorted(everything))))


def _covered(folder: str, ours: set[str], within: Sequence[str]) -> list[str]:
    mine = [path for path in within if path in ours]
    if folder and len(mine) == len(within):
        return [f"{escape(folder.rstrip('/'))}/"]
    direct = [path for path in within if "/" not in path[len(folder) :]]
    beneath: dict[str, list[str]] = defaultdict(list)
    for path in within:
        head, slash, _ = path[len(folder) :].partition("/")
        if slash:
            beneath[f"{folder}{head}/"].append(path)
    own = [path for path in direct if path in ours]
    found = [escape(path) for path in own]
    if folder and len(own) == len(direct) >= _MANY:
        found = [f"{escape(folder.rstrip('/'))}/*"]
    for child, paths in beneath.items():
        if any(path in ours for path in paths):
            found += _covered(child, ours, paths)
    return found
