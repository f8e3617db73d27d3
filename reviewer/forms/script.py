"""JavaScript and TypeScript: `describe` and `it`, whatever the runner, with their tables, `skip`, `todo` and `only`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewer.assertions import NO_SKIP, Skip
from reviewer.forms.sweep import Captures, Found, Links, read
from reviewer.forms.tree import framed, is_literal, string, text
from reviewer.scenarios import TestFile
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

GRAMMARS = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    "tsx": "tsx",
}
_GROUPS = frozenset({"describe", "context", "suite", "fdescribe", "xdescribe", "xcontext"})
_SKIPPING = frozenset({"skip", "todo", "fails", "failing", "skipIf", "runIf"})
_CONDITIONAL = frozenset({"skipIf", "runIf"})
_LITERALS = frozenset(
    {"number", "string_fragment", "escape_sequence", "true", "false", "null", "undefined", "regex", "regex_pattern",
     "regex_flags", "property_identifier", "-", "+", "!"}
)  # fmt: skip
_CONTAINERS = frozenset({"string", "template_string", "array", "object", "pair", "unary_expression"})
_FORMAT = re.compile(r"%[sdifjoOp#]|%%|\$\{?(\w+)\}?")
_CHAIN = 12  # links of `expect(x).not.resolves.toBe(…)` that are followed upward
_THROWING = frozenset({"toThrow", "toThrowError", "rejects", "throws", "throw"})


def read_script(path: str, source: bytes) -> TestFile | None:
    """Read one file."""
    return read(path, source, _interpret, form="script", grammar=GRAMMARS[path.rpartition(".")[2].lower()])


def _interpret(kind: str, node: "Node", captures: Captures, links: Links) -> Iterator[Found]:
    if kind == "test":
        yield from _call(node)
    elif kind == "support":
        for name in captures.get("name", ())[:1]:
            yield Found("support", node, text(name), at=name)
    elif kind == "assertion":
        yield from _assertion(node, links)
    elif kind == "skip":
        yield Found("skip", node, skip=Skip(text(node), conditional=True))


def _call(node: "Node") -> Iterator[Found]:
    words, tables = _callee(node.child_by_field_name("function"))
    given = node.child_by_field_name("arguments")
    arguments = [child for child in given.named_children if child.type != "comment"] if given else []
    if not arguments or (words[-1] == "each" and not tables):  # the table itself: `it.each(rows)` is called once more
        return
    title = _title(arguments[0])
    if title is None:
        return
    word, marks = words[0], set(words[1:])
    skip = next((Skip(".".join(words), mark in _CONDITIONAL) for mark in words[1:] if mark in _SKIPPING), NO_SKIP)
    if word.startswith("x"):
        skip = Skip(word)
    kind = "group" if word in _GROUPS else "test"
    if kind == "test" and len(arguments) == 1 and word != "xit" and not skip.reason:
        skip = Skip(f"{word}(…) without a body")
    rows = tuple(_rows(title, tables[0])) if tables and kind == "test" else ()
    yield Found(
        kind,
        node,
        title.replace("::", ":"),
        skip=skip,
        only="only" in marks or word in ("fit", "fdescribe"),
        rows=rows,
        table=tables[0] if tables else None,
        at=arguments[0],
    )


def _callee(node: "Node | None") -> "tuple[list[str], list[Node]]":
    """Return the words of `it.only.each(table)`, and the tables in it."""
    words: list[str] = []
    tables: list[Node] = []
    while node is not None:
        if node.type == "call_expression":
            arguments = node.child_by_field_name("arguments")
            if arguments is not None:
                tables.append(arguments)
            node = node.child_by_field_name("function")
        elif node.type == "member_expression":
            words.append(text(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        else:
            words.append(text(node))
            node = None
    return words[::-1] or [""], tables


def _title(node: "Node") -> str | None:
    said = string(node)
    if said is not None:
        return re.sub(r"\\(.)", r"\1", said)
    if node.type == "template_string":
        return text(node)[1:-1]
    return text(node) if node.type in ("identifier", "member_expression") else None


def _rows(title: str, table: "Node") -> "Iterator[tuple[str, Node]]":
    """Give the literal rows of a table, each with the title that it gets, where that is plain."""
    listed = next((child for child in table.named_children if child.type == "array"), None)
    if listed is None:
        return
    for row in listed.named_children:
        if row.type != "comment":
            yield _formatted(title, row), row


def _formatted(title: str, row: "Node") -> str:
    if not is_literal(row, _LITERALS, _CONTAINERS):
        return ""
    if row.type == "object":
        pairs = [child for child in row.named_children if child.type == "pair"]
        named = {text(pair.child_by_field_name("key")): _plain(pair.child_by_field_name("value")) for pair in pairs}
        return _FORMAT.sub(lambda m: named.get(m[1] or "", m[0]), title)
    cells = [_plain(c) for c in (row.named_children if row.type == "array" else [row]) if c.type != "comment"]

    def cell(match: re.Match[str]) -> str:
        return cells.pop(0) if cells and match[0].startswith("%") and match[0] not in ("%%", "%#") else match[0]

    return _FORMAT.sub(cell, title)


def _plain(node: "Node | None") -> str:
    said = string(node)
    return said if said is not None else text(node)


def _assertion(node: "Node", links: Links) -> Iterator[Found]:
    """Take the whole chain: what stands around `expect(x)` up to the last call."""
    subject, words, values, whole = node, [], [], node
    arguments = node.child_by_field_name("arguments")
    for _ in range(_CHAIN):
        above = links.get(whole.id)
        if above is None:
            break
        if above.type == "member_expression":
            words.append(text(above.child_by_field_name("property")))
        elif above.type == "call_expression":
            arguments = above.child_by_field_name("arguments")
            values = _values(words[-1] if words else "", arguments)
        whole = above
    function = node.child_by_field_name("function")
    if node.type == "member_expression":  # x.should
        subject = node.child_by_field_name("object") or node
    elif function is not None and function.type == "member_expression":  # assert.equal(x, 1)
        words, values = [text(function.child_by_field_name("property"))], _values("", arguments)
        subject = _first(arguments, values) or node
    elif text(function).startswith("assert"):
        words, values = ["truthy"], []
    if (node.type == "call_expression" and not words) or _cannot_fail(node, arguments, values):
        return
    parts = tuple((role, text(value)) for role, value in values)
    verb = ".".join(word for word in words if word not in ("to", "be", "resolves", "rejects"))
    frame = framed(whole, [value for _, value in values])
    yield Found("assertion", whole, assertion=Assertion(text(whole), text(subject), verb, frame, parts))


def _cannot_fail(node: "Node", arguments: "Node | None", values: "list[tuple[str, Node]]") -> bool:
    """Say whether nothing in it can change: `expect(1).toBe(1)`, `assert.equal(1, 1)`, `assert(true)`."""
    own = node.child_by_field_name("arguments")
    if own is None:
        return False
    said = [each for each in (own, arguments) if each is not None]
    count = len(arguments.named_children) if arguments else 0
    fixed = all(is_literal(c, _LITERALS, _CONTAINERS) for each in said for c in each.named_children)
    return bool(said) and bool(said[0].named_children) and len(values) <= count and fixed


def _values(word: str, arguments: "Node | None") -> "list[tuple[str, Node]]":
    found = []
    for number, child in enumerate(arguments.named_children if arguments else []):
        role = "match" if word in _THROWING else "digits" if word == "toBeCloseTo" and number else ""
        if is_literal(child, _LITERALS, _CONTAINERS):
            found.append((role, child))
    return found


def _first(arguments: "Node | None", values: "list[tuple[str, Node]]") -> "Node | None":
    known = {value.id for _, value in values}
    return next((child for child in (arguments.named_children if arguments else []) if child.id not in known), None)
