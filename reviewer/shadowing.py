"""What the names in unchanged Python tests lead to: a test can be detached from its subject without touching it.

A definition of the same name in the test file hides what the test imports; a fixture that is used automatically, or a
set-up function, can replace it. Names are looked up at the top of the file only: what a test binds itself is its own.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reviewer.assertions import text_of
from reviewer.scenarios import python_parser, statements

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = frozenset(
    {"setup_module", "setup_function", "setup_method", "setup_class", "setUp", "setUpClass", "setUpModule"}
)
_HERE = ""


class Shadow(NamedTuple):
    """A name that leads elsewhere now; `how` says what that does to tests, empty where it may be harmless."""

    name: str
    line: int
    how: str


class _File:
    """What a test file binds at its top, each name to where it comes from (empty: from here); what runs unasked."""

    def __init__(self, source: bytes) -> None:
        self.binds: dict[str, tuple[str, int]] = {}
        self.fixtures: set[str] = set()
        self.around: dict[str, int] = {}
        self.uses: dict[str, tuple[set[str], set[str]]] = {}
        self._block(python_parser().parse(source).root_node, "")

    def _block(self, block: "Node", prefix: str) -> None:
        for whole in statements(block):
            node = (whole.child_by_field_name("definition") or whole) if whole.type == "decorated_definition" else whole
            if node.type == "function_definition":
                self._function(whole, node, prefix)
            elif node.type == "class_definition":
                name = text_of(node.child_by_field_name("name"))
                self._bind(name, _HERE, node, prefix)
                if body := node.child_by_field_name("body"):
                    self._block(body, f"{prefix}{name}::")
            elif not prefix:
                self._other(node)

    def _function(self, whole: "Node", node: "Node", prefix: str) -> None:
        name = text_of(node.child_by_field_name("name"))
        header = text_of(whole).partition("def ")[0]
        if "autouse" in header or name in _AROUND:
            self.around[f"{prefix}{name}"] = node.start_point.row + 1
        if "fixture" in header:
            self.fixtures.add(name)
        self._bind(name, _HERE, node, prefix)
        own, used = _own(node), _identifiers(node)
        self.uses[f"{prefix}{name}"] = used - own, _parameters(node)

    def _other(self, node: "Node") -> None:
        if node.type in ("import_statement", "import_from_statement"):
            module = text_of(node.child_by_field_name("module_name"))
            for part in node.children_by_field_name("name"):
                alias = part.child_by_field_name("alias")
                named = text_of(part.child_by_field_name("name") or part)
                bound = text_of(alias) if alias else named if module else named.partition(".")[0]
                self._bind(bound, f"{module}:{named}" if module else named, node, "")
        elif node.type == "expression_statement" and node.named_children:
            first = node.named_children[0]
            if first.type == "assignment" and (left := first.child_by_field_name("left")):
                for name in _identifiers(left):
                    self._bind(name, _HERE, node, "")

    def _bind(self, name: str, origin: str, node: "Node", prefix: str) -> None:
        if not prefix:
            self.binds[name] = origin, node.start_point.row + 1


def shadows(before: bytes, after: bytes, unchanged: Collection[str]) -> Iterator[Shadow]:
    """Yield each name by which tests that did not change (by their names in the file) come to something else."""
    old, new = _File(before), _File(after)
    kept = [name for name in unchanged if name in new.uses]
    if not kept:
        return
    for name, line in sorted(new.around.items()):
        if name not in old.around:
            yield Shadow(name, line, "it runs around existing tests, which did not ask for it")
    used = set().union(*(new.uses[name][0] for name in kept))
    asked = set().union(*(new.uses[name][1] for name in kept))
    for name in sorted((used | (asked & new.fixtures)) & new.binds.keys()):
        origin, line = new.binds[name]
        was = old.binds.get(name, (None, 0))[0]
        if origin == was or (was is None and origin):
            continue
        if origin:
            yield Shadow(name, line, "")
        elif name not in old.uses or was is not None:
            source = f"what {was.replace(':', '.')} has" if was else "what they named before"
            yield Shadow(name, line, f"existing tests come to this one now instead of {source}")


def _identifiers(node: "Node") -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type == "identifier":
            found.add(text_of(each))
        elif each.type == "attribute":
            waiting += [part for part in [each.child_by_field_name("object")] if part]
        elif each.type == "keyword_argument":
            waiting += [part for part in [each.child_by_field_name("value")] if part]
        else:
            waiting += each.named_children
    return found


def _parameters(node: "Node") -> set[str]:
    parameters = node.child_by_field_name("parameters")
    return _identifiers(parameters) if parameters else set()


def _own(node: "Node") -> set[str]:
    """Return what a function binds itself: parameters, assignments, loops, imports."""
    found = _parameters(node) | {text_of(node.child_by_field_name("name"))}
    waiting = [node]
    while waiting:
        each = waiting.pop()
        waiting += each.named_children
        if each.type in ("assignment", "for_statement", "for_in_clause"):
            found |= _identifiers(left) if (left := each.child_by_field_name("left")) else set()
        elif each.type in ("as_pattern_target", "import_statement", "import_from_statement"):
            found |= _identifiers(each)
    return found
