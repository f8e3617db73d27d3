"""Source bytes to the captures of a query, whatever the bytes are."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_DEEPEST = 1000
"""Syntax nodes inside syntax nodes; what is deeper costs its square, and nobody wrote it by hand."""

_RUBBLE = 400_000_000
"""About half a second. A file beyond it is no source; it stays at file level."""


class Parsed(NamedTuple):
    """What a query captures, the line of the first syntax error or 0, and how many bytes are no syntax."""

    captures: "dict[str, list[Node]]"
    error_line: int = 0
    lost: int = 0


@cache
def tools(grammar: str, *queries: str) -> "tuple[Language, Query]":
    """Return a grammar by the name of its wheel, and the query that these files make together."""
    from tree_sitter import Language, Query

    language = Language(import_module(grammar).language())
    return language, Query(language, "\n".join(Path(each).read_text(encoding="utf-8") for each in queries))


def read(source: bytes, grammar: str, *queries: str) -> Parsed:
    """Parse a source and run the query over it."""
    from tree_sitter import Parser, QueryCursor

    language, query = tools(grammar, *queries)
    root = Parser(language).parse(source).root_node
    error, rubble, lost = _errors(root) if root.has_error else (0, 0, 0)
    if rubble > _RUBBLE:
        return Parsed({}, error, lost)
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(_DEEPEST)
    return Parsed(cursor.captures(root), error, lost)


def in_order(captures: "dict[str, list[Node]]", first: Sequence[str]) -> "Iterator[tuple[str, Node, int, int]]":
    """Yield name, node, start and end of all captures as they stand in the file, what holds before what is held.

    Of captures of the same bytes those come first that are named so.
    """
    ranked = {name: index for index, name in enumerate((*first, *sorted(captures.keys() - set(first))))}
    places = [
        (node.start_byte, -node.end_byte, ranked[name], name, node) for name in captures for node in captures[name]
    ]
    for start, end, _, name, node in sorted(places, key=itemgetter(0, 1, 2)):
        yield name, node, start, -end


def _errors(root: "Node") -> tuple[int, int, int]:
    """Return the line of the first syntax error, what a query over all of them would cost, and their bytes.

    A query asks for the siblings of each token; in one long run of tokens that nothing could join, the cost is its
    square.
    """
    first, rubble, lost = 0, 0, 0
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            line = node.start_point.row + 1
            first = min(first or line, line)
            rubble += (node.child_count - node.named_child_count) ** 2
            lost += node.end_byte - node.start_byte + 1
        todo += [child for child in node.children if child.has_error or child.is_missing]
    return first or root.start_point.row + 1, rubble, lost
