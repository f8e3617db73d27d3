"""What changed between two trees, put together to what a person would call one piece of news.

A new file or class is one, with all that it holds. So are a rename, and a dependency at the level at which it is new:
two files, or else two top-level definitions. What is finer, or lies within one file, or follows a rename, or is gone
with what held it, is no news of its own.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property

from controller.graph.language import family_of
from controller.graph.levels import Ends, depends, ends, place_of
from controller.graph.link import Linker
from controller.graph.model import Graph
from controller.graph.renames import Renames
from packets.deltas import GraphDelta, GraphVerb
from packets.graph import Rename
from reviewer.paths import is_test_path

_V = GraphVerb
Change = tuple[GraphVerb, str]
"""One line of a delta, and which of its lists it stands in."""


@dataclass
class Item:
    """One piece of news, written as a plan writes it; `whole`: only who says all of these has said it."""

    fact: str
    changes: set[Change] = field(default_factory=set)
    at: str = ""
    note: str = ""
    whole: frozenset[Change] = frozenset()


class News:
    """The news of one delta; `files` is the same delta at file level."""

    def __init__(
        self,
        base: tuple[Linker, Graph],
        head: tuple[Linker, Graph],
        *,
        actual: GraphDelta,
        files: GraphDelta,
        found: Renames,
    ) -> None:
        self.linkers = {_V.EDGE_ADDED: head[0], _V.EDGE_REMOVED: base[0]}
        self.base, self.head = base[1], head[1]
        self.actual = actual
        self.lifted = {_V.EDGE_ADDED: frozenset(files.edges_added), _V.EDGE_REMOVED: frozenset(files.edges_removed)}
        self.renames = found

    def items(self) -> list[Item]:
        """Return the news: renames, what came and went, then dependencies that came and went."""
        actual, renames = self.actual, self.renames
        added = self._nodes(_V.NODE_ADDED, (self.base, self.head), actual.nodes_added, renames.old_of)
        gone = self._nodes(_V.NODE_REMOVED, (self.head, self.base), actual.nodes_removed, renames.new_of)
        came = self._edges(_V.EDGE_ADDED, "{}", self._new_edges, self.head, self.base)
        went = self._edges(_V.EDGE_REMOVED, "not {}", self._lost_edges, self.base, self.head)
        return [*map(self._rename, self.renames.found), *added, *gone, *came, *went]

    def _rename(self, each: Rename) -> Item:
        pairs = [(old, new) for old, new in self.renames.new_of.items() if _within(old, each.before)]
        changes = {(_V.NODE_REMOVED, old) for old, _ in pairs} | {(_V.NODE_ADDED, new) for _, new in pairs}
        node = self.head.nodes[each.after]
        how = "the same" if each.likeness == 1 else f"{each.likeness:.0%} alike"
        whole = frozenset({(_V.NODE_REMOVED, each.before), (_V.NODE_ADDED, each.after)})
        return Item(f"{each.before} is now {each.after}", changes, f"{node.path}:{node.line}", how, whole)

    @staticmethod
    def _nodes(
        verb: GraphVerb, graphs: tuple[Graph, Graph], ids: Iterable[str], renamed: Iterable[str]
    ) -> Iterator[Item]:
        """Yield what only the second tree has, by what holds it: a definition, a file, a folder of several files."""
        there, here = graphs
        chosen = {each for each in ids if not each.startswith("ext:")} - set(renamed)
        tops = {each: _outermost(each, chosen) for each in sorted(chosen)}
        folders = _new_folders({top for top in tops.values() if "::" not in top}, there)
        found: dict[str, Item] = {}
        for each, top in tops.items():
            node, name = here.nodes[top], folders.get(top, top)
            fact = f"{'add' if verb is _V.NODE_ADDED else 'remove'} {name}"
            item = found.setdefault(name, Item(fact, at="" if name.endswith("/") else f"{node.path}:{node.line}"))
            item.changes.add((verb, each))
        yield from found.values()

    @cached_property
    def _carried(self) -> frozenset[tuple[str, str]]:
        """The dependencies that are what they were between things that have another name now: (before, after)."""
        came, image = frozenset(self.actual.edges_added), self.renames.image
        pairs = ((arrow, ends(arrow, self.base)) for arrow in self.actual.edges_removed)
        moved = ((arrow, Ends(image(each.source), image(each.target)).arrow()) for arrow, each in pairs)
        return frozenset(pair for pair in moved if pair[1] in came)

    @property
    def _new_edges(self) -> list[Ends]:
        carried = {after for _, after in self._carried}
        return [ends(arrow, self.head) for arrow in self.actual.edges_added if arrow not in carried]

    @property
    def _lost_edges(self) -> list[Ends]:
        carried = {before for before, _ in self._carried}
        lost = [ends(arrow, self.base) for arrow in self.actual.edges_removed if arrow not in carried]
        return [each for each in lost if self.renames.image(each.source) in self.head.nodes]

    def _edges(self, verb: GraphVerb, form: str, edges: list[Ends], here: Graph, there: Graph) -> Iterator[Item]:
        found: dict[tuple[bool, Ends], Item] = {}
        for each in edges:
            pair = Ends(place_of(here, each.source), place_of(here, each.target))
            if pair.source == pair.target or self._of_the_language(verb, pair):
                continue
            lifted = pair.arrow() in self.lifted[verb]
            row = pair if lifted else Ends(_top(each.source), _top(each.target))
            if lifted or (self._known(there, row.source) and row not in _tops(there, row.source)):
                item = found.setdefault((not lifted, row), Item(form.format(_plain(row))))
                item.changes.add((verb, each.arrow()))
                item.at = _first(item.at, here, each)
        told = {(place_of(here, row.source), row.target) for fine, row in found if fine and "::" in row.source}
        for (fine, row), item in sorted(found.items(), key=lambda entry: entry[0]):
            if not fine or "::" in row.source or (row.source, row.target) not in told:  # else the import beside its use
                yield item

    def _known(self, there: Graph, top: str) -> bool:
        """Tell whether a definition is news in itself, with all that it uses; those of tests always are."""
        same = {self.renames.old_of.get(top, top), self.renames.new_of.get(top, top)}
        return not is_test_path(top.partition("::")[0]) and any(each in there.nodes for each in same)

    def _of_the_language(self, verb: GraphVerb, pair: Ends) -> bool:
        """Tell an import of what the language brings along, which is nobody's news."""
        family, module = family_of(pair.source), pair.target.removeprefix("ext:")
        if not pair.target.startswith("ext:") or not family or module.startswith("."):
            return False
        return not self.linkers[verb].ecosystem(family).package(module, pair.source)


def _outermost(node_id: str, chosen: AbstractSet[str]) -> str:
    """Return what holds a node and is itself among the chosen."""
    top, holder = node_id, _holder(node_id)
    while holder in chosen:
        top, holder = holder, _holder(holder)
    return top


def _new_folders(paths: Iterable[str], there: Graph) -> dict[str, str]:
    """Return, for files that share a folder which the other tree has not, the outermost such folder."""
    known: set[str] = set()
    held: dict[str, list[str]] = {}
    for path in paths:
        known = known or {folder for each in there.by_path for folder in _folders(each)}
        if outer := next((folder for folder in _folders(path) if folder not in known), ""):
            held.setdefault(outer, []).append(path)
    return {path: folder for folder, inside in held.items() if len(inside) > 1 for path in inside}


def _folders(path: str) -> list[str]:
    """Return the folders above a file, the outermost first, each with its slash."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: length + 1]) + "/" for length in range(len(parts))]


def _tops(graph: Graph, top: str) -> frozenset[Ends]:
    """Return what a file or a top-level definition depends on, at that level."""
    inside = (top,) if "::" not in top else graph.inside(top)
    return frozenset(Ends(top, _top(e.target)) for node in inside for e in graph.outgoing.get(node, ()) if depends(e))


def _top(node_id: str) -> str:
    """Return the top-level definition that a node is in; a file and an external stay what they are."""
    path, mark, qual = node_id.partition("::")
    return node_id if node_id.startswith("ext:") or not mark else f"{path}::{qual.partition('.')[0]}"


def _holder(node_id: str) -> str:
    path, _, qual = node_id.partition("::")
    above = qual.rpartition(".")[0]
    return f"{path}::{above}" if above else path if qual else ""


def _within(node_id: str, holder: str) -> bool:
    return node_id == holder or node_id.startswith((f"{holder}.", f"{holder}::"))


def _plain(pair: Ends) -> str:
    return Ends(pair.source, pair.target.removeprefix("ext:")).arrow()


def _first(known: str, graph: Graph, each: Ends) -> str:
    """Return the earlier place in a file: the one that is known, or that of this edge."""
    lines = [e.line for e in graph.outgoing.get(each.source, ()) if e.target == each.target and depends(e)]
    path, _, line = known.rpartition(":")
    first = min([*lines, *([int(line)] if path else [])], default=0)
    return f"{graph.path_of(each.source)}:{first}"
