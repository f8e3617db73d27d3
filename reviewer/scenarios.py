"""Scenarios of a Python test file, read from its bytes by tree-sitter, which also takes syntax newer than ours.

A scenario is a test function or method. Everything else at the top of a test file (helpers, fixtures, constants, set-up
methods) is support: it is compared too, because a test can be weakened from there. Nothing is imported or run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from reviewer.assertions import NO_SKIP, Skip, Strength, digest, literal_cases, skip_of, strength, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@dataclass(frozen=True)
class Scenario:
    """One test: `name` is its qualified name in the file (`TestCart::test_total`).

    `cases` are the rows of a literal `parametrize`, (id or '', digest) each; `digest` leaves them out, since adding
    rows is adding scenarios. `wording` is the digest with the docstring and all rows.
    """

    path: str
    name: str
    line: int
    digest: str
    wording: str
    strength: Strength
    skipped: Skip = NO_SKIP
    cases: tuple[tuple[str, str], ...] = ()
    title: str = ""
    """What a person may call it besides, as `@DisplayName` says it."""
    exact: bool = True
    """False where it could not be read as a whole: then its digest is only a hint."""

    @property
    def id(self) -> str:
        """Return `path::name`."""
        return f"{self.path}::{self.name}"

    @property
    def bare(self) -> str:
        """Return the function's own name, or the last part of a title."""
        return self.name.rpartition("/" if self.path.endswith(".go") else "::")[2]

    def row_named(self, name: str) -> str:
        """Return the row that NAME means, as `row`, `test_row` or `bare[row]`; empty where it means none of them."""
        for row, _ in self.cases:
            if row and (row in (name, f"test_{name}") or name == f"{self.bare}[{row}]"):
                return row
        return ""

    def row_id(self, row: str) -> str:
        """Return the id of a row as the runner gives it."""
        if self.path.endswith(".go"):
            return f"{self.id}/{row}"
        if self.path.endswith((".py", ".pyi", ".java", ".rs")) or row == "row":
            return f"{self.id}[{row}]"
        return f"{self.id.removesuffix(self.bare)}{row}"  # a title with the row's values filled in


@dataclass
class TestFile:
    """What one file holds; names are qualified with `::`."""

    __test__ = False  # pytest: this is no test class

    scenarios: dict[str, Scenario] = field(default_factory=dict)
    support: dict[str, tuple[str, int, Strength]] = field(default_factory=dict)
    """Digest, line and strength of what is no scenario."""


@cache
def _language() -> object:
    import tree_sitter
    import tree_sitter_python

    return tree_sitter.Language(tree_sitter_python.language())


def python_parser() -> "Parser":
    """Return a parser of one's own: it must not be shared by threads."""
    import tree_sitter

    return tree_sitter.Parser(_language())  # type: ignore[arg-type]


def read_tests(path: str, source: bytes, *, collected: bool = True) -> TestFile:
    """Read one file; where it is not `collected` by name, its functions are all support."""
    root = python_parser().parse(source).root_node
    found = TestFile()
    _Reader(path, found, collected=collected).block(root, "", NO_SKIP)
    return found


class _Reader:
    def __init__(self, path: str, found: TestFile, *, collected: bool) -> None:
        self._path = path
        self._found = found
        self._collected = collected

    def block(self, block: "Node", prefix: str, skipped: Skip) -> None:
        """Read the statements of a module or class; `skipped`: how all in it are."""
        held = list(statements(block))
        if not skipped.reason:
            skipped = next((how for s in held if (how := _block_skip(s)).reason), NO_SKIP)
        for statement in held:
            node = (
                statement.child_by_field_name("definition") if statement.type == "decorated_definition" else statement
            )
            if node is None:
                continue
            if node.type == "function_definition":
                self._function(statement, node, prefix, skipped)
            elif node.type == "class_definition":
                body = node.child_by_field_name("body")
                if body is not None:
                    own = skip_of(statement, node)
                    self.block(
                        body,
                        f"{prefix}{text_of(node.child_by_field_name('name'))}::",
                        skipped if skipped.reason else own,
                    )
            else:
                self._other(node, prefix)

    def _function(self, whole: "Node", node: "Node", prefix: str, skipped: Skip) -> None:
        bare = text_of(node.child_by_field_name("name"))
        name = prefix + bare
        line = node.start_point.row + 1
        if not (self._collected and bare.startswith("test")):
            self._found.support[name] = (digest(whole), line, strength(node))
            return
        cases = literal_cases(whole)
        self._found.scenarios[name] = Scenario(
            path=self._path,
            name=name,
            line=line,
            digest=digest(whole, cases.nodes),
            wording=digest(whole, docs=True),
            strength=strength(node),
            skipped=skipped if skipped.reason else skip_of(whole, node),
            cases=cases.rows,
        )

    def _other(self, node: "Node", prefix: str) -> None:
        assignment = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        if assignment is None or assignment.type not in ("assignment", "augmented_assignment"):
            return
        name = prefix + text_of(assignment.child_by_field_name("left"))
        if name in self._found.scenarios:  # `test_x = None` hides the test above it
            self._found.scenarios[name] = replace(self._found.scenarios[name], skipped=Skip("hidden by an assignment"))
        else:
            self._found.support[name] = (digest(node), node.start_point.row + 1, Strength())


def statements(block: "Node") -> Iterator["Node"]:
    """Give the statements of a block, those under `if` and `try` too: tests may be defined there."""
    waiting = list(reversed(block.named_children))
    while waiting:
        node = waiting.pop()
        if node.type in ("if_statement", "try_statement", "with_statement", "block", "else_clause", "elif_clause",
                         "except_clause", "finally_clause"):  # fmt: skip
            waiting.extend(reversed(node.named_children))
        else:
            yield node


def _block_skip(statement: "Node") -> Skip:
    """Say how a whole file or class is skipped: `pytestmark`, `pytest.skip(...)`, `__test__ = False`."""
    if statement.type != "expression_statement":
        return NO_SKIP
    text = text_of(statement)
    if text.startswith("__test__") and "False" in text:
        return Skip("__test__ = False")
    if text.startswith("pytestmark") and any(word in text for word in ("skip", "xfail")):
        return Skip(text, "skipif" in text)
    if text.startswith(("pytest.skip(", "pytest.importorskip(", "skip(")):
        return Skip(text, "importorskip" in text or statement.parent is None or statement.parent.type != "module")
    return NO_SKIP
