"""What is gone in one tree and there in the other under another name: files, then what they define.

A file is the same when most of its lines are, as git has it; a definition by its text, its own name left out. Names
that are short of text, or like several others, are nobody's: a rename that is not seen is shown as gone and added.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from controller.graph.likeness import Passages, alike
from controller.graph.model import Graph
from controller.graph.texts import Texts
from packets.deltas import GraphDelta
from packets.graph import Node, NodeKind, Rename

_FILE = 0.5
_SAME_NAME = 0.4
_SAME_HOME = 0.7
_OTHERWISE = 0.85
_STRANGERS = 0.9
"""How alike two texts must be: of files; of definitions of one name; of one home, by names that are near and by others;
and with neither in common."""

_NEAR = 0.6
"""How alike two names are when one may be made of the other."""

_SHORT = 12
_LITTLE = 25
"""Runs of text that are too few to tell by: with the name or the holder in common, and with neither."""

_CROWD = 200
"""Definitions of one holder that are too many to compare each with each."""

_FEW = 3
"""Definitions of a file that are too few to tell it by."""

_CLEAR = 0.02
"""By so much the best of several must be better than the next."""

_MOST = 40_000
"""Pairs that are compared by their text; beyond it only those of one name."""

_CALLABLE = (NodeKind.FUNCTION, NodeKind.METHOD)


@dataclass
class Renames:
    """Old ids by new ones and back; `found` are those that are said, the rest came along with what holds it."""

    new_of: dict[str, str] = field(default_factory=dict)
    old_of: dict[str, str] = field(default_factory=dict)
    found: list[Rename] = field(default_factory=list)

    def image(self, node_id: str) -> str:
        """Return what became of a node of the base: its new id, or the same one."""
        return self.new_of.get(node_id, node_id)


def renames(delta: GraphDelta, base: Graph, head: Graph, texts: Texts) -> Renames:
    """Recognise what of the delta is one thing under two names."""
    gone = [base.nodes[each] for each in delta.nodes_removed if not each.startswith("ext:")]
    new = [head.nodes[each] for each in delta.nodes_added if not each.startswith("ext:")]
    search = _Search(base, head, gone, new, texts)
    if gone and new:
        search.files()
        search.symbols()
    return search.result()


@dataclass(frozen=True)
class _Pair:
    likeness: float
    same_name: bool
    before: Node
    after: Node


class _Search:
    def __init__(self, base: Graph, head: Graph, gone: Sequence[Node], new: Sequence[Node], texts: Texts) -> None:
        self.texts = texts
        self.gone = {node.id: node for node in gone}
        self.new = {node.id: node for node in new}
        self.pairs: dict[str, tuple[str, float]] = {}
        self.taken: set[str] = set()
        self.carried: dict[str, int] = defaultdict(int)
        paths = sorted({node.path for node in gone}), sorted({node.path for node in new})
        self.before = Passages(base, texts.before(paths[0]) if all(paths) else {})
        self.after = Passages(head, texts.after(paths[1]) if all(paths) else {})

    def result(self) -> Renames:
        """Return what was found, in order of the old ids."""
        made = Renames()
        for before, (after, _) in self.pairs.items():
            made.new_of[before], made.old_of[after] = after, before
        said = [each for each in sorted(self.pairs) if not self._came_along(each)]
        for before in said:
            after, likeness = self.pairs[before]
            made.found.append(Rename(before=before, after=after, likeness=likeness, inside=self._inside(before)))
        return made

    def _came_along(self, before: str) -> bool:
        """Tell whether a thing has its old place in what holds it, and that was renamed."""
        holder, after = _holder(before), self.pairs[before][0]
        return holder in self.pairs and _holder(after) == self.pairs[holder][0] and _leaf(before) == _leaf(after)

    def _inside(self, before: str) -> int:
        marks = (f"{before}.",) if "::" in before else (f"{before}::",)
        return sum(each.startswith(marks) and self._came_along(each) for each in self.pairs)

    def _take(self, before: Node, after: Node, likeness: float) -> None:
        self.pairs[before.id] = (after.id, round(likeness, 2))
        self.taken.add(after.id)

    def files(self) -> None:
        """Match files: the same bytes first, then by their lines."""
        gone = [node for node in self.gone.values() if node.kind is NodeKind.FILE]
        new = [node for node in self.new.values() if node.kind is NodeKind.FILE]
        self._same_bytes(gone, new)
        left = [node for node in gone if node.id not in self.pairs], [n for n in new if n.id not in self.taken]
        lines = {
            side: {node.id: _file_runs(passages.lines(node.path)) for node in nodes}
            for side, nodes, passages in (("before", left[0], self.before), ("after", left[1], self.after))
        }
        pairs = []
        for a, b in _candidates(*left):
            if _kind(a.path) == _kind(b.path):
                likeness = max(alike(lines["before"][a.id], lines["after"][b.id]), self._names(a, b))
                if likeness >= _FILE:
                    pairs.append(_Pair(likeness, _leaf(a.id) == _leaf(b.id), a, b))
        self._best(pairs)

    def _names(self, a: Node, b: Node) -> float:
        """Return how alike two files of one name are in what they define."""
        if _leaf(a.id) != _leaf(b.id):
            return 0.0
        before, after = (_names(p.graph.by_path[path]) for p, path in ((self.before, a.path), (self.after, b.path)))
        return alike(before, after) if min(before.total(), after.total()) >= _FEW else 0.0

    def _same_bytes(self, gone: Sequence[Node], new: Sequence[Node]) -> None:
        places: dict[str, list[Node]] = defaultdict(list)
        for node in new:
            if node.path in self.texts.changes:
                places[self.texts.changes[node.path].new_blob].append(node)
        for node in gone:
            blob = self.texts.changes[node.path].old_blob if node.path in self.texts.changes else ""
            free = [each for each in places.get(blob, ()) if each.id not in self.taken]
            named = [each for each in free if _leaf(each.id) == _leaf(node.id)]
            if len(named or free) == 1 and self.before.texts.get(node.path, "-"):
                self._take(node, (named or free)[0], 1.0)

    def symbols(self) -> None:
        """Match definitions from the outside in: what holds a thing is known before the thing."""
        for depth in range(1 + max((node.name.count(".") for node in self.gone.values()), default=0)):
            gone = [node for node in self.gone.values() if self._at(node, depth)]
            self._along(gone)
            left = [node for node in gone if node.id not in self.pairs]
            new = [node for node in self.new.values() if node.kind is not NodeKind.FILE and node.id not in self.taken]
            self._best(list(self._likely(left, new)))

    @staticmethod
    def _at(node: Node, depth: int) -> bool:
        return node.kind is not NodeKind.FILE and node.name.count(".") == depth

    def _along(self, gone: Iterable[Node]) -> None:
        """Take what has its old name in the new place of its holder."""
        for node in gone:
            holder = self.pairs.get(_holder(node.id))
            if holder:
                place = f"{holder[0]}{'.' if '::' in holder[0] else '::'}{_leaf(node.id)}"
                if place in self.new and place not in self.taken:
                    self._take(node, self.new[place], 1.0)

    def _likely(self, gone: Sequence[Node], new: Sequence[Node]) -> Iterator[_Pair]:
        for a, b in _candidates(gone, new, self._home):
            if a.kind is not b.kind and not (a.kind in _CALLABLE and b.kind in _CALLABLE):
                continue
            same_name, same_home = _leaf(a.id) == _leaf(b.id), self._home(a.id) == _holder(b.id)
            if not same_home and ("." in a.name) is not ("." in b.name):
                continue
            least, enough = _bounds(a, b, same_name=same_name, same_home=same_home)
            texts = self.before.runs(a), self.after.runs(b)
            likeness = alike(*texts)
            short = min(texts[0].total(), texts[1].total()) < enough
            if likeness >= (_STRANGERS if short and same_name else least) and (same_name or not short):
                yield _Pair(likeness, same_name, a, b)

    def _home(self, before: str) -> str:
        """Return where what holds a thing is now."""
        holder = _holder(before)
        return self.pairs[holder][0] if holder in self.pairs else holder

    def _best(self, pairs: list[_Pair]) -> None:
        """Take the likeliest pairs first; of equals none, unless the name decides."""
        scores: dict[str, list[float]] = defaultdict(list)
        for pair in pairs:
            scores[f"<{pair.before.id}"].append(_score(pair))
            scores[f">{pair.after.id}"].append(_score(pair))
        for pair in sorted(pairs, key=lambda p: (-_score(p), p.before.id, p.after.id)):
            rivals = scores[f"<{pair.before.id}"], scores[f">{pair.after.id}"]
            near = _score(pair) - (0.0 if pair.likeness == 1.0 else _CLEAR)
            if any(sum(score >= near for score in each) > 1 for each in rivals):
                continue
            if pair.before.id not in self.pairs and pair.after.id not in self.taken:
                self._take(pair.before, pair.after, pair.likeness)


def _bounds(node: Node, other: Node, *, same_name: bool, same_home: bool) -> tuple[float, int]:
    """Return how alike two texts must be, and how long, for what they have in common besides."""
    if same_name and "." not in node.name:
        return _SAME_NAME, _SHORT
    if same_home:
        near = SequenceMatcher(None, _leaf(node.id).lower(), _leaf(other.id).lower()).ratio() >= _NEAR
        return (_SAME_HOME if near else _OTHERWISE), _SHORT if node.kind is NodeKind.VARIABLE else 1
    return _STRANGERS, _LITTLE


def _score(pair: _Pair) -> float:
    return pair.likeness + (1.0 if pair.same_name else 0.0)


def _candidates(
    gone: Sequence[Node], new: Sequence[Node], home: Callable[[str], str] | None = None
) -> Iterator[tuple[Node, Node]]:
    """Yield the pairs worth comparing; of too many, those of one name, and those of one home that are not too many."""
    if len(gone) * len(new) <= _MOST:
        yield from ((a, b) for a in gone for b in new)
        return
    named: dict[str, list[Node]] = defaultdict(list)
    held: dict[str, list[Node]] = defaultdict(list)
    for node in new:
        named[_leaf(node.id)].append(node)
        held[_holder(node.id)].append(node)
    most = _MOST // len(gone) + 1
    for a in gone:
        beside = held.get(home(a.id), ()) if home else ()
        near = [*named.get(_leaf(a.id), ())[:most], *(beside if len(beside) <= _CROWD else ())]
        yield from ((a, b) for b in dict.fromkeys(near))


def _names(nodes: Sequence[Node]) -> Counter[tuple[str, ...]]:
    return Counter((node.name,) for node in nodes if node.kind is not NodeKind.FILE)


def _file_runs(lines: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter((line.strip(),) for line in lines if line.strip())


def _kind(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _holder(node_id: str) -> str:
    """Return what defines a symbol: a class, or the file."""
    path, _, qual = node_id.partition("::")
    above = qual.rpartition(".")[0]
    return f"{path}::{above}" if above else path if qual else ""


def _leaf(node_id: str) -> str:
    """Return the last part of a name."""
    path, _, qual = node_id.partition("::")
    return qual.rpartition(".")[2] if qual else path.rpartition("/")[2]
