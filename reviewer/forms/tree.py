"""What the languages share of syntax trees: parsing in bounds, text, digests of meaning, literals."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

MOST = 1 << 20
"""Bytes of a file; what is longer is not read."""

_DEEPEST = 400
_MOST_NODES = 600_000
_LAYOUT = frozenset({",", ";", '"', "'", "comment", "line_comment", "block_comment", "empty_statement"})
_TEXT = 400
_RUBBLE = 2000
_OPENED = 500
_BRACKET = re.compile(rb"[()\[\]{}]")


@cache
def language(name: str) -> "Language":
    """Return a grammar by its name: javascript, typescript, tsx, go, rust, java."""
    import tree_sitter

    if name in ("typescript", "tsx"):
        import tree_sitter_typescript as grammar

        return tree_sitter.Language(getattr(grammar, f"language_{name}")())
    module = __import__(f"tree_sitter_{name}")
    return tree_sitter.Language(module.language())


@cache
def query(name: str, grammar: str) -> "Query":
    """Return the query file NAME.scm for one grammar."""
    import tree_sitter

    text = (files("reviewer.forms") / f"{name}.scm").read_text("utf-8")
    return tree_sitter.Query(language(grammar), text)


def parse(source: bytes, grammar: str) -> "Node | None":
    """Return the root, or None for what is too long, too deep or too broken for a source that somebody wrote."""
    import tree_sitter

    if len(source) > MOST or _is_endless(source):
        return None
    tree = tree_sitter.Parser(language(grammar)).parse(source)
    return tree.root_node if _is_shallow(tree.root_node) else None


def _is_endless(source: bytes) -> bool:
    """Say whether brackets are opened and opened: a grammar that recovers from that takes the square of it."""
    depth = 0
    for bracket in _BRACKET.finditer(source):
        depth += 1 if bracket[0] in b"([{" else -1
        if depth > _OPENED:
            return True
    return False


def _is_shallow(root: "Node") -> bool:
    if root.descendant_count > _MOST_NODES:
        return False
    broken = root.has_error
    cursor = root.walk()
    while True:
        if cursor.depth > _DEEPEST or (broken and _is_rubble(cursor.node)):
            return False
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return True


def _is_rubble(node: "Node | None") -> bool:
    """Say whether it is a long run of tokens that nothing could join: a query over it costs its square."""
    return node is not None and node.type == "ERROR" and node.child_count > _RUBBLE


def text(node: "Node | None", most: int = _TEXT) -> str:
    """Return the node's source on one line, at most so many characters."""
    if node is None:
        return ""
    return " ".join((node.text or b"")[: 4 * most].decode("utf-8", "replace").split())[:most]


def string(node: "Node | None") -> str | None:
    """Return what a plain string literal says, quotes taken off; None for anything else."""
    if node is None or "string" not in node.type or any(c.type == "template_substitution" for c in node.named_children):
        return None
    said = (node.text or b"").decode("utf-8", "replace").strip("rb#")
    return said[1:-1].replace("\\'", "'").replace('\\"', '"') if len(said) > 1 else None


def meaning(node: "Node", without: Collection[int] = ()) -> str:
    """Return a digest that a formatter leaves alone: no layout, comments, quotes, commas, semicolons, brackets."""
    mark = hashlib.sha256()
    waiting: list[Node | None] = [node]
    while waiting:
        current = waiting.pop()
        if current is None:
            mark.update(b")")
        elif current.id in without or current.type in _LAYOUT:
            continue
        elif current.type == "parenthesized_expression":
            waiting.extend(reversed(current.named_children))
        elif current.child_count:
            mark.update(b"(" + current.type.encode())
            waiting.append(None)
            waiting.extend(reversed(current.children))
        else:
            mark.update(b"\0" + b" ".join((current.text or b"").split()))
    return mark.hexdigest()


def below(node: "Node") -> "Iterator[Node]":
    """Give the node and all named nodes in it."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.named_children))


def is_literal(node: "Node", literals: Collection[str], containers: Collection[str]) -> bool:
    """Say whether it is a constant, or a collection of nothing else."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in containers:
            waiting.extend(current.named_children)
        elif current.type not in literals:
            return False
    return True


def framed(node: "Node", values: "Iterable[Node]") -> str:
    """Return the node's text with the values in it left out."""
    data, start = node.text or b"", node.start_byte
    for value in sorted(values, key=lambda each: each.start_byte, reverse=True):
        data = data[: value.start_byte - start] + b"\xe2\x80\xa6" + data[value.end_byte - start :]
    return " ".join(data[: 4 * _TEXT].decode("utf-8", "replace").split())[:_TEXT]
