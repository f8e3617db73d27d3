"""Python's assertions taken apart: what is looked at, how, and what is expected of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset({"integer", "float", "true", "false", "none", "string_content", "string_start", "string_end"})
_CONTAINERS = frozenset(
    {"string", "concatenated_string", "list", "tuple", "set", "dictionary", "pair", "unary_operator",
     "parenthesized_expression", "expression_list"}
)  # fmt: skip
_BOUNDS = frozenset(
    {"rel", "abs", "rtol", "atol", "delta", "places", "decimal", "significant", "rel_tol", "abs_tol", "match"}
)
_RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns"})
_TEXT = 400
_COMPARED = 2  # `assertEqual(a, b, message)`: what comes after is no part of the comparison


def taken_apart(node: "Node") -> Assertion:
    """Take an `assert` statement or a call apart; what is not understood is only its text."""
    whole = _text(node)
    if node.type == "assert_statement":
        condition = _bare(node.named_children[0])
        if condition.type != "comparison_operator":
            negated = condition.type == "not_operator"
            return Assertion(whole, _text(condition), "falsy" if negated else "truthy", "")
        return _comparison(whole, node, condition)
    return _call(whole, node)


def _bare(node: "Node") -> "Node":
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return node


def _comparison(whole: str, node: "Node", condition: "Node") -> Assertion:
    operands = condition.named_children
    verb = " ".join(_text(child) for child in condition.children if not child.is_named or child.type.endswith("not"))
    if verb == "is not" and len(operands) > 1 and operands[1].type == "none":
        verb = "not-none"
    values = [value for operand in operands for value in _expected(operand)]
    rest = [operand for operand in operands if not _is_literal(operand)]
    return _made(whole, _text(rest[0]) if rest else "", verb, node, values)


def _call(whole: str, call: "Node") -> Assertion:
    name = _text(call.child_by_field_name("function")).rpartition(".")[2]
    arguments = call.child_by_field_name("arguments")
    given = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
    plain = [child for child in given if child.type != "keyword_argument"]
    values: list[tuple[str, Node]] = []
    if name in _RAISING:
        values += [("raises", child) for child in plain[:1]]
        values += [("match", child) for child in plain[1:2] if name.endswith("Regex")]
        subject = name
    else:
        values += [value for child in plain[:_COMPARED] for value in _expected(child)]
        rest = [child for child in plain[:_COMPARED] if not _is_literal(child)]
        subject = _text(rest[0]) if rest else ""
    values += [value for child in given if child.type == "keyword_argument" for value in _bound(child)]
    return _made(whole, subject, name, call, values)


def _expected(node: "Node") -> "Iterator[tuple[str, Node]]":
    """Give the values of an operand that is a constant, or a constant within a tolerance."""
    node = _bare(node)
    if _is_literal(node):
        yield "", node
    elif node.type == "call" and _text(node.child_by_field_name("function")).endswith("approx"):
        arguments = node.child_by_field_name("arguments")
        for number, child in enumerate(arguments.named_children if arguments else []):
            if child.type == "keyword_argument":
                yield from _bound(child)
            elif _is_literal(child):
                yield ("", "rel", "abs")[min(number, 2)], child


def _bound(argument: "Node") -> "Iterator[tuple[str, Node]]":
    name, value = _text(argument.child_by_field_name("name")), argument.child_by_field_name("value")
    if name in _BOUNDS and value is not None and _is_literal(value):
        yield name, value


def _is_literal(node: "Node") -> bool:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _CONTAINERS:
            waiting.extend(current.named_children)
        elif current.type not in _LITERALS:
            return False
    return True


def _made(whole: str, subject: str, verb: str, node: "Node", values: "list[tuple[str, Node]]") -> Assertion:
    values.sort(key=lambda value: value[1].start_byte)
    data, start = node.text or b"", node.start_byte
    for _, value in reversed(values):
        data = data[: value.start_byte - start] + b"\xe2\x80\xa6" + data[value.end_byte - start :]
    frame = " ".join(data[: 4 * _TEXT].decode("utf-8", "replace").split())[:_TEXT]
    return Assertion(whole, subject, verb, frame, tuple((role, _text(value)) for role, value in values))


def _text(node: "Node | None") -> str:
    if node is None:
        return ""
    return " ".join((node.text or b"")[: 4 * _TEXT].decode("utf-8", "replace").split())[:_TEXT]
