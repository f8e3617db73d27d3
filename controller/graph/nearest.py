"""What is wrong with a name, in words: the candidates with their places, or the nearest name that there is."""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from controller.graph.names import Ambiguous, Meaning, NameKind, Names, Unknown
from packets.graph import Node

_SHOWN = 5
_CLOSE = 0.75
"""How alike two names are when one may be a slip for the other."""

_LONGER = 3
"""Characters by which a slip may be longer or shorter."""


def unclear(names: Names, name: str, meaning: Meaning, where: str = "result") -> str:
    """Say why a name cannot be used in a tree and what may have been meant; nothing where it is clear."""
    match meaning:
        case Ambiguous(candidates):
            listed = [_placed(names, each) for each in candidates[:_SHOWN]]
            more = f" and {len(candidates) - _SHOWN} more" if len(candidates) > _SHOWN else ""
            return f"{name} is ambiguous: {', '.join(listed)}{more}; write one of them, or a dotted name"
        case Unknown(kind):
            return f"no {kind} {name} in the {where}{meant(names, name, kind)}"
    return ""


def meant(names: Names, name: str, kind: NameKind) -> str:
    """Return `; did you mean …?` with its place, or nothing where no name is near."""
    found = nearest(names, name, kind) if names.may_suggest(name) else ""
    return f"; did you mean {found}?" if found else ""


def nearest(names: Names, name: str, kind: NameKind) -> str:
    """Return the nearest name that the tree has, with its place; nothing where none is near."""
    modules = names.territory.scopes
    if kind is NameKind.MODULE or (kind is NameKind.PATH and _closest(name, modules)):
        return _closest(name, modules)
    if "/" in name:
        path, _, inside = name.partition("::")
        if inside and path in names.graph.by_path:
            return _symbol(names, inside.replace("::", "."), names.graph.by_path[path][1:])
        return _closest(path.rstrip("/"), _paths(names, path.rstrip("/")))
    dotted = name.replace("::", ".")
    leaf = dotted.rpartition(".")[2]
    nodes = names.graph.by_leaf.get(leaf, ()) if leaf != dotted else ()
    if not nodes:
        nodes = names.graph.by_leaf.get(_closest(leaf, names.graph.by_leaf), ())
    return _symbol(names, dotted, nodes)


def _symbol(names: Names, dotted: str, nodes: Iterable[Node]) -> str:
    """Return the node whose name is nearest, written as short as it is unique."""
    likeness = _Likeness(dotted)
    best = max(
        ((likeness.to(written), written, node) for node in nodes for written in _written(node)),
        key=lambda each: (each[0], each[2].id),
        default=None,
    )
    if best is None or best[0] < _CLOSE:
        return ""
    _, written, node = best
    clear = not isinstance(names.resolve(written), Ambiguous | Unknown)
    return f"{written if clear else node.id} ({node.path}:{node.line})"


def _written(node: Node) -> Iterator[str]:
    """Yield the ways in which somebody may write a node's name."""
    yield node.name
    if "." in node.name:
        yield node.name.rpartition(".")[2]
    module = node.path.rpartition(".")[0].replace("/", ".")
    yield f"{module}.{node.name}"
    yield f"{module.rpartition('.')[2]}.{node.name}"


def _paths(names: Names, path: str) -> Iterator[str]:
    """Yield paths and folders that share a part with this one."""
    folder, _, leaf = path.rpartition("/")
    for each in names.graph.by_path:
        above, _, name = each.rpartition("/")
        if name == leaf or above == folder:
            yield each
        elif above and above != folder and abs(len(above) - len(path)) <= _LONGER:
            yield above


def _closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like it, the first of equals; nothing where none is."""
    best, found = 0.0, ""
    likeness = _Likeness(name)
    for each in known:
        if abs(len(each) - len(name)) <= _LONGER + len(name) // 4 and each != name:
            alike = likeness.to(each, at_least=max(best, _CLOSE))
            if alike > best:
                best, found = alike, each
    return found


class _Likeness:
    """How alike names are to one: 0 to 1, upper and lower case much alike."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._matcher = SequenceMatcher(None, "", name.lower(), autojunk=False)

    def to(self, other: str, at_least: float = 0.0) -> float:
        """Return the likeness, or 0 as soon as it cannot reach `at_least`."""
        self._matcher.set_seq1(other.lower())
        if self._matcher.real_quick_ratio() < at_least or self._matcher.quick_ratio() < at_least:
            return 0.0
        found = self._matcher.ratio()
        return found - 0.01 if found == 1.0 and other != self.name else found if found >= at_least else 0.0


def _placed(names: Names, node_id: str) -> str:
    node = names.graph.nodes.get(node_id)
    return f"{node_id} (line {node.line})" if node and "::" in node_id else node_id
