"""Facts of one Python file by tree-sitter: definitions, imports, references with their roots looked up lexically.

One query captures the positions that matter; they are sorted and swept once. A walk over every node takes 2.5 times
as long. Most identifiers are plain locals that lead nowhere: their nodes are not asked for. Where the syntax has no
error, the words that may lead somewhere are found in the text itself, with strings and comments blanked out
(`words.py`).
"""

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING

from controller.graph.facts import NOTHING, Definition, FileFacts, Import
from controller.graph.languages.python.imports import read_import
from controller.graph.languages.python.references import References
from controller.graph.languages.python.scopes import Frame, Seen, Sweep
from controller.graph.languages.python.text import SourceText
from controller.graph.languages.python.words import Words

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_QUERY = """
[(import_statement) (import_from_statement) (future_import_statement)] @import
(function_definition) @function
(class_definition) @class
(decorated_definition definition: (_) @decorated) @decorators
(lambda) @lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(keyword_argument name: (identifier) @skip)
(keyword_pattern . (identifier) @skip)
(global_statement (identifier) @outer)
(nonlocal_statement (identifier) @outer)
(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))
(type) @type
(assignment right: (call function: [(identifier) (attribute)] @constructor))
(assignment right: (identifier) @alias)
(attribute object: (call function: [(identifier) (attribute)]) @made)
(assignment left: (identifier) @bind @variable)
(type_alias_statement left: (type (identifier) @bind @variable))
(augmented_assignment left: (identifier) @bind)
(pattern_list (identifier) @bind)
(tuple_pattern (identifier) @bind)
(list_pattern (identifier) @bind)
(list_splat_pattern (identifier) @bind)
(dictionary_splat_pattern (identifier) @bind)
(for_statement left: (identifier) @bind)
(for_in_clause left: (identifier) @bind)
(as_pattern_target (identifier) @bind)
(as_pattern_target (_ (identifier) @bind))
(as_pattern (identifier) @bind .)
(named_expression name: (identifier) @bind)
(parameters (identifier) @bind)
(lambda_parameters (identifier) @bind)
(default_parameter name: (identifier) @bind)
(typed_default_parameter name: (identifier) @bind)
(typed_parameter . (identifier) @bind)
(case_pattern . (dotted_name . (identifier) @bind .) .)
(splat_pattern (identifier) @bind)
(type_parameter (type (identifier) @skip))
(delete_statement (identifier) @bind)
[(string) (comment) (format_specifier) (type_conversion)] @opaque
[(interpolation) (format_expression)] @clear
"""

_EVERY = "(identifier) @name"
"""For files with errors, where a word need not be what it looks like, and with stars, where any may lead somewhere."""

_MARKS = ("skip", "outer", "base", "type", "constructor", "alias", "bind", "variable")
_STAR = re.compile(rb"import[ \t\\\r\n(]*\*")
_SIGNATURE_MAX = 300
_DEEPEST = 1000
"""Syntax nodes inside syntax nodes; what is deeper costs its square, and nobody wrote it by hand."""

_RUBBLE = 400_000_000
"""About half a second. A file beyond it is no source; it stays at file level."""

_VARIABLE_MAX = 120


@cache
def _language() -> "Language":
    import tree_sitter_python
    from tree_sitter import Language

    return Language(tree_sitter_python.language())


@cache
def _queries() -> "tuple[Query, Query]":
    from tree_sitter import Query

    return Query(_language(), _QUERY), Query(_language(), _EVERY)


def grammar(kind: str) -> str:
    """Name the grammar's version: other facts may come of another one."""
    del kind
    return ".".join(str(part) for part in _language().semantic_version or ())


def extract(kind: str, source: bytes) -> FileFacts:
    """Read one Python source; what a syntax error hides is left out."""
    del kind
    from tree_sitter import Parser

    root = Parser(_language()).parse(source).root_node
    error, rubble = _errors(root) if root.has_error else (0, 0)
    if rubble > _RUBBLE:
        return NOTHING._replace(error_line=error)
    structure, every = _queries()
    captures = _captured(structure, root)
    whole = error or _STAR.search(source)
    names = _captured(every, root).get("name", []) if whole else None
    return _File(source, root, captures, names).facts()._replace(error_line=error)


def _captured(query: "Query", root: "Node") -> "dict[str, list[Node]]":
    from tree_sitter import QueryCursor

    cursor = QueryCursor(query)
    cursor.set_max_start_depth(_DEEPEST)
    return cursor.captures(root)


def _errors(root: "Node") -> tuple[int, int]:
    """Return the line of the first syntax error, and what a query over all of them would cost.

    A query asks for the siblings of each token; in one long run of tokens that nothing could join, the cost is its
    square.
    """
    first, rubble = 0, 0
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            line = node.start_point.row + 1
            first = min(first or line, line)
            rubble += (node.child_count - node.named_child_count) ** 2
        todo += [child for child in node.children if child.has_error or child.is_missing]
    return first or root.start_point.row + 1, rubble


class _File:
    """One file on its way from captures to facts. `names` are all identifiers, where they were asked for."""

    def __init__(
        self, source: bytes, root: "Node", captures: "dict[str, list[Node]]", names: "list[Node] | None"
    ) -> None:
        self.root = root
        self.captures = captures
        self.names = names
        self.marks = {name: {node.start_byte for node in captures.get(name, ())} for name in _MARKS}
        self.marks["constructed"] = {node.end_byte for node in captures.get("constructor", ())}
        self.text = SourceText(source, self.marks)
        for node in captures.get("made", ()):
            start, end = node.start_byte, node.end_byte
            self.text.made[start] = min(end, self.text.made.get(start, end))
        self.definitions: dict[str, Definition] = {}
        self.imports: list[Import] = []
        self.told: dict[int, tuple[str, ...]] = {}

    def facts(self) -> FileFacts:
        frames = self._frames()
        seen = self._sweep(frames)
        for frame in sorted(frames, key=lambda frame: frame.keyword):  # of two definitions the first one counts
            self._define(frame)
        stars = any(found.bound == "*" and not found.scope for found in self.imports)
        references = References(self.text, seen, stars=stars).collect()
        definitions = sorted(self.definitions.values(), key=lambda d: (d.line, d.qual))
        return FileFacts(tuple(definitions), tuple(self.imports), references, self.text.exports())

    def _frames(self) -> list[Frame]:
        headers = {}
        for node in self.captures.get("decorators", ()):
            if inner := node.child_by_field_name("definition"):
                headers[inner.start_byte] = node.start_byte
        frames = [Frame("module", -1, -1, -1, len(self.text.source) + 1)]
        for kind in ("class", "function", "lambda", "comprehension"):
            frames += [self._frame(kind, node, headers) for node in self.captures.get(kind, ())]
        return frames

    def _frame(self, kind: str, node: "Node", headers: dict[int, int]) -> Frame:
        start, end = node.start_byte, node.end_byte
        if kind == "comprehension":
            return Frame(kind, start, start, start, end)
        body = node.child_by_field_name("body")
        inside = body.start_byte if body else end
        name = node.child_by_field_name("name") if kind != "lambda" else None
        if name is None:
            return Frame(kind, start, start, inside, end)
        self.marks["skip"].add(name.start_byte)
        return Frame(
            kind, headers.get(start, start), start, inside, end, self.text.text(name.start_byte, name.end_byte)
        )

    def _places(self, frames: list[Frame]) -> list[tuple[int, int, str]]:
        """Return the identifiers that matter: all that bind, and of the others those that may lead somewhere."""
        text = self.text.text
        if self.names is not None:
            spans = ((node.start_byte, node.end_byte) for node in self.names)
            return [(start, -end, text(start, end)) for start, end in spans]
        binding = {node.start_byte: node.end_byte for name in ("bind", "outer") for node in self.captures.get(name, ())}
        binds = [(start, -end, text(start, end)) for start, end in binding.items()]
        found = Words(self.text.source, self.captures, self.root).leading(self._interesting(frames, binds))
        return [*binds, *(place for place in found if place[0] not in binding)]

    def _interesting(self, frames: list[Frame], binds: list[tuple[int, int, str]]) -> set[str]:
        """Return the names that may lead somewhere in this file: the others are plain locals."""
        names = {"super", *(frame.name for frame in frames if frame.name)}
        for node in self.captures.get("import", ()):
            names.update(found.bound for found in read_import(node, self.text.source, ""))
        starts = sorted(binds)
        for frame in frames:
            at = bisect_left(starts, (frame.keyword, 0, "")) if frame.kind == "function" else len(starts)
            if at < len(starts):
                names.add(starts[at][2])  # the first parameter, if it has any
        for start, end, name in binds:
            if told := self.text.told(-end):
                self.told[start] = told
                names.add(name)
        return names | self._named_at_top(frames, binds)

    def _named_at_top(self, frames: list[Frame], binds: list[tuple[int, int, str]]) -> set[str]:
        """Return the variables of the module: those that no class and no function holds."""
        ends: list[int] = []
        starts: list[int] = []
        for frame in sorted(frames[1:], key=lambda each: each.start):
            if not ends or frame.start >= ends[-1]:
                starts.append(frame.start)
                ends.append(frame.end)
        variables = self.marks["variable"]
        found = set()
        for start, _, name in binds:
            at = bisect_right(starts, start) - 1
            if start in variables and (at < 0 or start >= ends[at]):
                found.add(name)
        return found

    def _sweep(self, frames: list[Frame]) -> list[Seen]:
        """Place every identifier and import in its frame; bindings are noted, the rest is returned."""
        statements = {node.start_byte: node for node in self.captures.get("import", ())}
        places = [*self._places(frames), *((node.start_byte, -node.end_byte, "") for node in statements.values())]
        places.sort()
        sweep = Sweep(frames)
        seen: list[Seen] = []
        until = -1
        for start, end, name in places:
            if start < until:
                continue
            frame = sweep.at(start)
            if not name:
                until = -end
                self._import(statements[start], frame.owner())
            elif (one := self._place(start, -end, name, frame)) is not None:
                seen.append(one)
        sweep.finish()
        return seen

    def _place(self, start: int, end: int, text: str, frame: Frame) -> Seen | None:
        if start in self.marks["outer"]:
            frame.outer.add(text)
        elif start in self.marks["bind"]:
            self._bind(start, end, text, frame)
        elif start not in self.marks["skip"]:
            header = start < frame.body
            return Seen(start, end, text, frame, frame.parent if header and frame.parent else frame)
        return None

    def _bind(self, start: int, end: int, text: str, frame: Frame) -> None:
        if frame.kind == "function" and not frame.binds and start < frame.body:
            decorators = self.text.source[frame.start : frame.keyword]
            frame.first = "" if b"@staticmethod" in decorators else text
        frame.binds[text] = frame.binds.get(text, 0) + 1
        if start in self.marks["variable"] and frame.kind == "module" and text != "__all__":
            frame.named.add(text)
            signature = self.text.rest_of_line(start, _VARIABLE_MAX)
            self.definitions.setdefault(text, Definition(text, "variable", self.text.line(start), signature))
        told = self.text.told(end) if self.names is not None else self.told.get(start)
        if told:
            frame.types[text] = told

    def _define(self, frame: Frame) -> None:
        if not frame.name or frame.parent is None:
            return
        method = frame.kind == "function" and frame.parent.kind == "class"
        signature = " ".join(self.text.text(frame.keyword, frame.body).split()).removesuffix(":").rstrip()
        known = self.definitions.get(frame.qual)
        if known is None or known.kind == "variable":
            self.definitions[frame.qual] = Definition(
                frame.qual,
                "method" if method else frame.kind,
                self.text.line(frame.keyword),
                signature[:_SIGNATURE_MAX],
            )

    def _import(self, node: "Node", frame: Frame) -> None:
        for found in read_import(node, self.text.source, frame.qual):
            self.imports.append(found)
            frame.imported.add(found.bound)
