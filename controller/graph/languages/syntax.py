r"""One sweep from the captures of a query file to facts, for every language with blocks, members and dotted names.

A language is a `Syntax`: a grammar, a query file and a few answers. `read` parses, runs the query, and sweeps what it
captured once, in order of bytes. The query says what a node is by the name of its capture.

Things: the node is the thing, and what is captured beside it in the same pattern belongs to it. Several patterns may
match one thing; they add up.

    @class @namespace   a class; a namespace (or module), whose members are seen bare inside it. With @name
    @function           a function; a method where it stands in a class. With @name @owner @returns
    @method @field      count directly inside a class, object or namespace, or with @owner. With @name @type @returns
    @variable           counts at the top of a file or namespace, else it is a local. With @name @type @made @result
                        @like; with @body (an object literal) it has members
    @closure            a function where a variable would count, a method in a class, else a local. With @name @returns
    @inside             no thing, but @name goes before the names inside it, as in Rust's `impl`
    @block @lambda @anonymous @object   scopes without a name: a block, a function that keeps `this`, a function that
                        has its own, a nameless class or object
    @bind @hoisted      the identifier of a local of the innermost frame, or of the nearest function: parameters,
                        patterns, type parameters. With @type @made @result @like
    @property           the identifier of a field that no @field declares: `this.x = new Money()`. With the same
    @import             is given to `Syntax.imports`, and what is inside is not looked at again
    @export             is given to it too, binds nothing here, and what is inside is looked at

    @name     the identifier
    @owner    the name that goes before it: the class of a receiver, `Money` in `Money::add`
    @type     the declared type, as a dotted name: where `m: Money`, `m.add()` is a reference to `Money.add`
    @made     the class in `m = new Money()`;  @result  the function in `m = money()`;  @like  the name in `this.m = m`
    @returns  the declared type that a function returns, as a dotted name

Places: alone in their pattern, many, cheap.

    @root       an identifier that may begin a dotted name; what is a name or bound above needs no @skip
    @attribute  an identifier after a separator
    @arguments  the arguments of a call: they make a call of the name before them
    @generic    type arguments between a name and what follows it
    @new        the beginning of a name that is called though it only names a class: after `new`, in JSX, before `{…}`
    @base       the beginning of a name from which the class around inherits
    @self       `this`, `self`, `super`
    @assigned   a name that gets another value: what it was made of is no longer known
    @skip       an identifier that is no use: a label, a keyword argument

To add a language: write `<language>.scm` in its family's folder; in `extract.py` make a `Syntax` and call `read`; write
`imports` for its statements, and `ecosystem.py`; add a row to `language.KINDS`; copy a fixture test. docs/languages.md
goes through it step by step.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module, resources
from typing import TYPE_CHECKING, NamedTuple

from controller.graph.facts import NOTHING, FileFacts, Import

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_DEEPEST = 1000
"""Syntax nodes inside syntax nodes; what is deeper costs its square, and nobody wrote it by hand."""

_RUBBLE = 100_000_000
"""About half a second. A file beyond it is no source; it stays at file level."""

_GAP = rb"(?:\s++|//[^\n]{0,300}+\n|/\*[^*]{0,300}+\*/)*+"
_PLACES = frozenset({"root", "attribute", "arguments", "generic", "new", "base", "self", "assigned", "skip"})
_BESIDE = frozenset({"name", "owner", "type", "made", "result", "like", "returns", "body"})


class Statement(NamedTuple):
    """An import or export on its way to facts.

    `scope` is the definition that holds it, empty for the file; `top` says that it stands in no block either.
    """

    node: "Node"
    source: bytes
    scope: str
    top: bool

    def text(self, node: "Node | None") -> str:
        """Return what stands at a node; nothing where there is none."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""

    @property
    def line(self) -> int:
        """The line on which it begins, counted from 1."""
        return self.node.start_point.row + 1


@dataclass(frozen=True)
class Syntax:
    """What `read` must know of a language besides its query.

    `grammar` is `module:function` of the grammar's wheel; `queries` are files in `package`, read as one. `imports`
    reads a statement; its rows may be of another scope, such as what a file exports. `separator` is what stands between
    the parts of a dotted name. `unbound` keeps names that nothing in the file binds: other files may. `bare` says that
    members are seen without `this` in their class. `bases` are the words of `@self` that mean the bases. `prefixes`
    are kinds of nodes before a definition that its signature leaves out.
    """

    grammar: str
    package: str
    queries: tuple[str, ...]
    imports: Callable[[Statement], Iterable[Import]]
    separator: bytes = rb"\."
    unbound: bool = False
    bare: bool = False
    bases: tuple[str, ...] = ("super",)
    prefixes: frozenset[str] = frozenset({"decorator", "comment"})

    @cached_property
    def between(self) -> re.Pattern[bytes]:
        """What stands between two parts of a dotted name, with blanks and comments around it."""
        return re.compile(_GAP + rb"(?:" + self.separator + rb")" + _GAP)

    def parts(self, written: bytes) -> tuple[str, ...]:
        """Return the parts of a dotted name; nothing where it is none."""
        found = tuple(part.decode("utf-8", "replace") for part in self.between.split(written))
        return found if all(_WORD.fullmatch(part) for part in found) else ()


_ASIDE = re.compile(rb';[^\n]*|"(?:[^"\\]|\\.)*"')
_CAPTURE = re.compile(rb"@(\w+)")
_BLANK = re.compile(_GAP)
_GAP_STARTS = frozenset((b" ", b"\n", b"\t", b"\r", b"/", b"\f", b"\v"))
ENDS = frozenset((b",", b")", b";", b"]", b"}", b"=", b":", b"+", b"|", b"&", b">"))
"""What ends a dotted name when it stands right behind it, in any language."""
_WORD = re.compile(r"[#@$]?[\w$]+")


def past_gap(source: bytes, at: int) -> int:
    """Return the next byte that is neither blank nor comment."""
    if source[at : at + 1] not in _GAP_STARTS:
        return at
    gap = _BLANK.match(source, at)
    return gap.end() if gap else at


class Thing(NamedTuple):
    """What a pattern found: the capture that says what it is, its node, and the nodes beside it."""

    kind: str
    node: "Node"
    beside: dict[str, "Node"]


class Captured(NamedTuple):
    """What the query found in one file: things in any order, and the bytes of places from start to end."""

    things: list[Thing]
    places: dict[str, dict[int, int]]


@cache
def _tools(syntax: Syntax) -> "tuple[Language, Query, Query]":
    """Return the grammar, the query for things and the query for places: two readings of one file."""
    from tree_sitter import Language, Query

    module, _, function = syntax.grammar.partition(":")
    language = Language(getattr(import_module(module), function)())
    folder = resources.files(syntax.package)
    text = "\n".join(folder.joinpath(name).read_text("utf-8") for name in syntax.queries)
    things, places = Query(language, text), Query(language, text)
    for pattern in range(things.pattern_count):
        written = text.encode()[things.start_byte_for_pattern(pattern) : things.end_byte_for_pattern(pattern)]
        names = {name.decode() for name in _CAPTURE.findall(_ASIDE.sub(b"", written)) if name[:1] != b"_"}
        (things if names <= _PLACES else places).disable_pattern(pattern)
    return language, things, places


def grammar_version(syntax: Syntax) -> str:
    """Name the grammar's version: other facts may come of another one."""
    return ".".join(str(part) for part in _tools(syntax)[0].semantic_version or ())


def read(syntax: Syntax, source: bytes) -> FileFacts:
    """Read one file. Never raises for bad input; what a syntax error hides is left out."""
    from tree_sitter import Parser

    from controller.graph.languages.sweep import facts_of

    source = _readable(source)
    tree = Parser(_tools(syntax)[0]).parse(source)
    error, rubble = _errors(tree.root_node) if tree.root_node.has_error else (0, 0)
    found = facts_of(syntax, source, _captured(syntax, tree.root_node)) if rubble <= _RUBBLE else NOTHING
    return found._replace(error_line=error)


def _readable(source: bytes) -> bytes:
    """Return the source as UTF-8: a query that compares text raises for anything else."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return source.decode("utf-8", "replace").encode()
    return source


def _captured(syntax: Syntax, root: "Node") -> Captured:
    from tree_sitter import QueryCursor

    _, things, places = _tools(syntax)
    cursor = QueryCursor(things)
    cursor.set_max_start_depth(_DEEPEST)
    merged: dict[tuple[str, int], Thing] = {}
    for thing in _things(cursor.matches(root)):
        known = merged.setdefault((thing.kind, thing.node.id), thing)
        if known is not thing:
            known.beside.update(thing.beside)
    cursor = QueryCursor(places)
    cursor.set_max_start_depth(_DEEPEST)
    captures = cursor.captures(root)
    return Captured(
        list(merged.values()),
        {name: dict(node.byte_range for node in captures.get(name, ())) for name in _PLACES},
    )


def _things(matches: "Iterable[tuple[int, dict[str, list[Node]]]]") -> Iterator[Thing]:
    for _, found in matches:
        beside = {name: nodes[0] for name, nodes in found.items() if name in _BESIDE}
        for name, nodes in found.items():
            if name not in _BESIDE and name[:1] != "_":
                for node in nodes:
                    yield Thing(name, node, beside if len(nodes) == 1 else dict(beside))


def _errors(root: "Node") -> tuple[int, int]:
    """Return the line of the first syntax error, and what a query over all of them would cost.

    A query asks for the siblings of each token; in a run of tokens that nothing could join, the cost is its square.
    """
    first, rubble, todo = 0, 0, [root]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            line = node.start_point.row + 1
            first = min(first or line, line)
            rubble += (node.child_count - node.named_child_count) ** 2
        todo += [child for child in node.children if child.has_error or child.is_missing]
    return first or root.start_point.row + 1, rubble
