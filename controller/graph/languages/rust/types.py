"""What Rust writes as a type, a bound or a value, read as the dotted name that says what members it has."""

from typing import TYPE_CHECKING

from controller.graph.languages.blocks import Chain, Told

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 20
_HOLDS = frozenset({"Option", "Result"})
_SEES_THROUGH = frozenset({"Box", "Rc", "Arc"})
_LISTS = frozenset({"Vec", "VecDeque", "HashSet", "BTreeSet", "IndexSet"})
_MAPS = frozenset({"HashMap", "BTreeMap", "IndexMap"})
_INNER = {
    "reference_type": "type", "pointer_type": "type", "array_type": "element", "dynamic_type": "trait",
    "abstract_type": "trait", "generic_type_with_turbofish": "type", "higher_ranked_trait_bound": "type",
}  # fmt: skip


def type_told(node: "Node | None", depth: int = 0) -> Told | None:
    """Return the named type that a type is, refers to, holds or has elements of; None for the rest."""
    if node is None or depth > _DEEPEST:
        return None
    kind = node.type
    if kind in ("type_identifier", "identifier", "scoped_type_identifier", "scoped_identifier"):
        chain = path(node)
        return Told(chain) if chain else None
    if kind == "generic_type":
        return _generic(node, depth)
    if kind == "bounded_type":
        found = (type_told(each, depth + 1) for each in node.named_children)
        return next((each for each in found if each), None)
    inner = type_told(node.child_by_field_name(_INNER[kind]), depth + 1) if kind in _INNER else None
    return inner._replace(mark="[]" + inner.mark) if inner and kind == "array_type" else inner


def _generic(node: "Node", depth: int) -> Told | None:
    name, arguments = node.child_by_field_name("type"), node.child_by_field_name("type_arguments")
    chain = path(name) if name else ()
    types = [each for each in (arguments.named_children if arguments else ()) if each.type != "lifetime"]
    last = chain[-1] if chain else ""
    mark = "?" if last in _HOLDS else "[]" if last in _LISTS or last in _MAPS else "" if last in _SEES_THROUGH else None
    if mark is None:
        return Told(chain) if chain else None
    inner = type_told(types[1 if last in _MAPS else 0], depth + 1) if len(types) > (last in _MAPS) else None
    return inner._replace(mark=mark + inner.mark) if inner else None


def path(node: "Node") -> Chain:
    """Return the parts of a path without type arguments; nothing where it does not begin with a name."""
    parts: list[str] = []
    at: Node | None = node
    while at is not None and len(parts) <= _DEEPEST:
        if at.type == "generic_type":
            at = at.child_by_field_name("type")
        elif at.type in ("scoped_identifier", "scoped_type_identifier"):
            parts.append(text(at.child_by_field_name("name")))
            inner = at.child_by_field_name("path")
            if inner is None:
                break  # `::name`
            at = inner
        elif at.type in ("identifier", "type_identifier", "self", "super", "crate", "primitive_type", "metavariable"):
            parts.append(text(at))
            break
        else:
            return ()
    return tuple(reversed(parts))


def leftmost(node: "Node") -> "Node":
    """Return the token with which an expression begins."""
    while children := node.children:
        node = children[0]
    return node


def text(node: "Node | None") -> str:
    """Return what stands at a node, a raw name without its mark."""
    return node.text.decode("utf-8", "replace").removeprefix("r#") if node and node.text else ""
