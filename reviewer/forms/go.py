"""Go: functions of the testing package, `t.Run` with a literal name, tables of cases."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from reviewer.assertions import Skip
from reviewer.forms.sweep import Captures, Found, Links, read
from reviewer.forms.tree import framed, is_literal, string, text
from reviewer.scenarios import TestFile
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset(
    {"int_literal", "float_literal", "rune_literal", "true", "false", "nil", "iota", "escape_sequence",
     "interpreted_string_literal_content", "raw_string_literal_content", "imaginary_literal"}
)  # fmt: skip
_CONTAINERS = frozenset({"interpreted_string_literal", "raw_string_literal", "unary_expression"})
_NAMES = frozenset({"name", "desc", "title", "description", "label"})
_TESTIFY = frozenset({"assert", "require"})


def read_go(path: str, source: bytes) -> TestFile | None:
    """Read one file."""
    found = read(path, source, _interpret, form="go", grammar="go", joint="/")
    return found if found is None else _with_rows(found)


def _interpret(kind: str, node: "Node", captures: Captures, links: Links) -> Iterator[Found]:
    names = captures.get("name", [])
    if kind == "test":
        subtest = node.type == "call_expression"
        said = (string(names[0]) or "").replace(" ", "_") if subtest else text(names[0])
        yield Found("test", node, said, at=names[0])
    elif kind == "table":
        yield Found("table", node, rows=tuple(_rows(node)))
    elif kind == "support":
        yield Found("support", node, text(names[0]), at=names[0])
    elif kind == "assertion":
        yield from _assertion(node, links)
    elif kind == "skip":
        yield Found("skip", node, skip=Skip(text(node), conditional=not _is_plain(node, links)))


def _is_plain(node: "Node", links: Links) -> bool:
    """Say whether a call is a statement of the test itself, under no condition."""
    return node.id in links and links[node.id].type in ("function_declaration", "func_literal")


def _with_rows(found: TestFile) -> TestFile:
    for name, scenario in found.scenarios.items():
        found.scenarios[name] = replace(scenario, cases=tuple((row.replace(" ", "_"), d) for row, d in scenario.cases))
    return found


def _rows(table: "Node") -> "Iterator[tuple[str, Node]]":
    """Give the cases with their names: the key of a map, a field called `name`, or the first text in it."""
    for element in table.named_children:
        if element.type == "keyed_element":
            key = element.named_children[0]
            yield string(key.named_children[0] if key.named_children else key) or "", element
        elif element.type == "literal_element":
            yield _name(element), element


def _name(element: "Node") -> str:
    body = element.named_children[0] if element.named_children else element
    first = ""
    for field in body.named_children:
        inner = [child.named_children[0] if child.named_children else child for child in field.named_children]
        if field.type == "keyed_element" and len(inner) > 1:
            if text(inner[0]).lower() in _NAMES or text(field.named_children[0]).lower() in _NAMES:
                return string(inner[1]) or ""
        elif field.type == "literal_element" and not first:
            first = string(field.named_children[0] if field.named_children else None) or ""
    return first


def _assertion(node: "Node", links: Links) -> Iterator[Found]:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    owner = text(function.child_by_field_name("operand") if function else None)
    verb = text(function.child_by_field_name("field") if function else None)
    given = arguments.named_children if arguments else []
    if owner in _TESTIFY or verb not in ("Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"):
        operands = given[1:3] if owner in _TESTIFY else given[:2]
        yield _found(node, verb, operands)
        return
    condition = links.get(node.id)
    if condition is None or condition.type in ("function_declaration", "func_literal"):
        yield Found("assertion", node, assertion=Assertion(text(node)))
        return
    sides = [condition.child_by_field_name(side) for side in ("left", "right")]
    sign = text(condition.child_by_field_name("operator"))
    # What fails when it differs is what expects it to be equal.
    verb = {"!=": "==", "==": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}.get(sign, sign)
    if any(side is None for side in sides):
        yield Found("assertion", node, assertion=Assertion(f"if {text(condition)}", text(condition), "truthy"))
        return
    yield _found(condition, verb, [side for side in sides if side is not None], prefix="if ", place=node)


def _found(node: "Node", verb: str, operands: "list[Node]", prefix: str = "", place: "Node | None" = None) -> Found:
    values = [operand for operand in operands if is_literal(operand, _LITERALS, _CONTAINERS)]
    rest = [operand for operand in operands if operand not in values]
    assertion = Assertion(
        f"{prefix}{text(node)}",
        text(rest[0]) if rest else "",
        verb,
        f"{prefix}{framed(node, values)}",
        tuple(("", text(value)) for value in values),
    )
    return Found("assertion", place or node, assertion=assertion)
