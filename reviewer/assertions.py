"""How strong a test is: what it asserts, what it swallows, whether it runs at all. Read from the syntax tree alone."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reviewer.parts import taken_apart
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_ASSERTING = re.compile(r"assert.*|_assert.*|raises|warns|deprecated_call|fail|(?:check|verify|expect|ensure)(?:_.*)?")
_SKIP_CALLS = re.compile(r"(?:pytest\.)?(?:skip|xfail|importorskip)|self\.skipTest|(?:unittest\.)?SkipTest")
_SKIP_MARKS = re.compile(r"\b(skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b")
_BROAD = re.compile(r"\b(Exception|BaseException)\b")
_LAYOUT = frozenset({"comment", ",", ";", "->", "string_end", "line_continuation"})
_ENDS = ("return_statement", "raise_statement", "continue_statement", "break_statement")
_MOVING_KINDS = frozenset({"identifier", "call", "attribute", "subscript", "await", "yield", "named_expression"})


@dataclass(frozen=True)
class Strength:
    """`asserts`: the text of every assertion that can fail; `swallows`: handlers and `raises` as wide as Exception.

    `parts` are the same assertions taken apart.
    """

    asserts: tuple[str, ...] = ()
    swallows: int = 0
    parts: tuple[Assertion, ...] = ()


def text_of(node: "Node | None") -> str:
    """Return the node's source."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def digest(node: "Node", without: frozenset[int] = frozenset(), *, docs: bool = False) -> str:
    """Return a digest of what code means, the same after a formatter: layout, quotes, commas, brackets play no part.

    Nor do comments, its own name, what it is said to return, its docstring unless `docs`, and the nodes `without`.
    """
    definition = node.child_by_field_name("definition") or node
    own_name = definition.child_by_field_name("name") if definition.type == "function_definition" else None
    told = definition.child_by_field_name("return_type") if own_name else None
    skip = set(without) | {each.id for each in (own_name, told) if each}
    body = definition.child_by_field_name("body")
    first = body.named_children[0] if body is not None and body.named_children else None
    if first is not None and not docs and _is_docstring(first):
        skip.add(first.id)
    mark = hashlib.sha256()
    waiting: list[Node | None] = [node]
    while waiting:
        current = waiting.pop()
        if current is None:
            mark.update(b")")
        elif current.type == "parenthesized_expression":
            waiting.extend(reversed(current.named_children))
        elif current.type == "string_start":
            mark.update(b"\0" + (current.text or b"").rstrip(b"'\"").lower())
        elif current.id not in skip and current.type not in _LAYOUT:
            if current.child_count:
                mark.update(b"(" + current.type.encode())
                waiting.append(None)
                waiting.extend(reversed(current.children))
            else:
                mark.update(b"\0" + (current.text or b""))
    return mark.hexdigest()


def _is_docstring(node: "Node") -> bool:
    return node.type == "expression_statement" and [c.type for c in node.named_children] == ["string"]


def strength(function: "Node") -> Strength:
    """Measure one function; what can never run does not count."""
    parts: list[Assertion] = []
    swallows = 0
    for node in reachable(function.child_by_field_name("body")):
        if node.type == "assert_statement":
            condition = node.named_children[0] if node.named_children else None
            if condition is not None and not _always_true(condition):
                parts.append(taken_apart(node))
        elif node.type == "call":
            name = text_of(node.child_by_field_name("function")).rpartition(".")[2]
            if _ASSERTING.fullmatch(name) and not _says_nothing(node):
                parts.append(taken_apart(node))
            if name in ("raises", "assertRaises", "suppress") and _BROAD.search(_first_argument(node)):
                swallows += 1
        elif node.type == "except_clause":
            swallows += _swallows(node)
    return Strength(tuple(sorted(part.text for part in parts)), swallows, tuple(parts))


def reachable(block: "Node | None") -> Iterator["Node"]:
    """Give all nodes below, without what stands after a `return` or `raise`, or under `if False`."""
    waiting = [block] if block is not None else []
    while waiting:
        node = waiting.pop()
        yield node
        children = node.named_children
        if node.type == "block":
            cut = next((i for i, child in enumerate(children) if _ends(child)), len(children))
            children = children[: cut + 1]
        elif node.type in ("if_statement", "while_statement") and _never(node.child_by_field_name("condition")):
            children = [c for c in children if c.type in ("else_clause", "elif_clause")]
        waiting.extend(reversed(children))


def _ends(statement: "Node") -> bool:
    if statement.type in _ENDS:
        return True
    return statement.type == "expression_statement" and bool(
        re.match(r"(?:pytest\.(?:skip|xfail)|self\.skipTest)\(", text_of(statement))
    )


def _never(condition: "Node | None") -> bool:
    return text_of(condition).strip("() ") in ("False", "0", "None", '""', "''", "not True")


def _always_true(condition: "Node") -> bool:
    """Say whether a condition cannot fail: a constant, `x or True`, `x == x`, a filled tuple."""
    while condition.type == "parenthesized_expression" and condition.named_children:
        condition = condition.named_children[0]
    if condition.type in ("tuple", "list", "lambda") and condition.named_children:
        return True
    if condition.type == "boolean_operator" and text_of(condition.child_by_field_name("operator")) == "or":
        return any(map(_always_true, condition.named_children))
    if condition.type == "comparison_operator":
        sides = [text_of(child) for child in condition.named_children]
        if len(sides) == 2 and sides[0] == sides[1]:  # noqa: PLR2004 - a == a
            return True
    return _is_constant(condition)


def _is_constant(node: "Node") -> bool:
    return not any(child.type in _MOVING_KINDS for child in reachable(node))


def _says_nothing(call: "Node") -> bool:
    """Say whether it is like `assertTrue(True)` or `assertEqual(x, x)`: constants only, or the same thing twice."""
    arguments = call.child_by_field_name("arguments")
    given = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
    if not given:
        return False
    name = text_of(call.child_by_field_name("function")).rpartition(".")[2]
    if not name.lower().startswith("assert"):
        return False
    return all(map(_is_constant, given)) or (len(given) > 1 and len({text_of(child) for child in given}) == 1)


def _first_argument(call: "Node") -> str:
    arguments = call.child_by_field_name("arguments")
    return text_of(arguments.named_children[0]) if arguments and arguments.named_children else ""


def _swallows(clause: "Node") -> int:
    body = next((child for child in clause.named_children if child.type == "block"), None)
    caught = text_of(clause).partition(":")[0]
    wide = caught.strip() == "except" or _BROAD.search(caught)
    raises = body is not None and any(node.type == "raise_statement" for node in reachable(body))
    return int(bool(wide) and not raises)


class Skip(NamedTuple):
    """How a test is kept from running or failing, in its own words; '' if it is not. `conditional`: only sometimes."""

    reason: str = ""
    conditional: bool = False


NO_SKIP = Skip()


def skip_of(whole: "Node", definition: "Node") -> Skip:
    """Say how a test or class is skipped or expected to fail: by a decorator, or by a call in a test's body."""
    for child in whole.named_children:
        if child.type == "decorator" and (found := _SKIP_MARKS.search(text_of(child))):
            return Skip(text_of(child).strip(), found[1] in ("skipif", "skipIf", "skipUnless"))
    body = definition.child_by_field_name("body") if definition.type == "function_definition" else None
    for node in reachable(body):
        called = node.type == "call" and _SKIP_CALLS.fullmatch(text_of(node.child_by_field_name("function")))
        if called or (node.type == "raise_statement" and "SkipTest" in text_of(node)):
            statement = node if node.type == "raise_statement" else node.parent
            return Skip(text_of(node), statement is None or statement.parent != body or "importorskip" in text_of(node))
    return NO_SKIP


@dataclass(frozen=True)
class Cases:
    """The literal rows of one `parametrize`: (id or '', digest of the row) each; `nodes` are what was read for them."""

    rows: tuple[tuple[str, str], ...] = ()
    nodes: frozenset[int] = frozenset()


def literal_cases(whole: "Node") -> Cases:
    """Read the rows of a test's only `parametrize` where they are a literal list; anything else has no rows."""
    marks = [c for c in whole.named_children if c.type == "decorator" and ".parametrize" in text_of(c)]
    call = marks[0].named_children[0] if len(marks) == 1 and marks[0].named_children else None
    arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
    if arguments is None:
        return Cases()
    named = {
        text_of(a.child_by_field_name("name")): a.child_by_field_name("value")
        for a in arguments.named_children
        if a.type == "keyword_argument"
    }
    plain = [a for a in arguments.named_children if a.type not in ("keyword_argument", "comment")]
    values = named.get("argvalues") or (plain[1] if len(plain) > 1 else None)
    ids = named.get("ids")
    if values is None or values.type not in ("list", "tuple"):
        return Cases()
    rows = _rows(values)
    names = [_id_of(row) or "" for row in rows]
    nodes = {values.id}
    if ids is not None:
        given = _rows(ids) if ids.type in ("list", "tuple") else []
        if len(given) != len(rows):
            return Cases()
        names = [_string(node) or "" for node in given]
        nodes.add(ids.id)
    marks_of = (digest(row, _name_of(row)) for row in rows)
    return Cases(tuple(zip(names, marks_of, strict=True)), frozenset(nodes))


def _name_of(row: "Node") -> frozenset[int]:
    """Return the `id=` of a `pytest.param`: a row with another name is the same row."""
    arguments = row.child_by_field_name("arguments") if row.type == "call" else None
    named = [a for a in (arguments.named_children if arguments else []) if a.type == "keyword_argument"]
    return frozenset(a.id for a in named if text_of(a.child_by_field_name("name")) == "id")


def _rows(values: "Node") -> "list[Node]":
    return [child for child in values.named_children if child.type != "comment"]


def _string(node: "Node") -> str | None:
    if node.type != "string" or any(c.type in ("interpolation", "escape_sequence") for c in node.named_children):
        return None
    return "".join(text_of(c) for c in node.named_children if c.type == "string_content")


def _id_of(value: "Node") -> str | None:
    if value.type in ("integer", "float", "true", "false", "none"):
        return text_of(value)
    if value.type == "string":
        return _string(value)
    if value.type == "call" and text_of(value.child_by_field_name("function")).endswith("param"):
        arguments = value.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments else []:
            if argument.type == "keyword_argument" and text_of(argument.child_by_field_name("name")) == "id":
                given = argument.child_by_field_name("value")
                return _string(given) if given is not None else None
    return None
