"""From what a query captures to the scenarios of a file: one sweep from top to bottom, the same for every language.

A language says of each match what it is (`Found`); who stands in whom is told by where they begin and end.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from reviewer.assertions import NO_SKIP, Skip, Strength
from reviewer.forms.tree import meaning, parse, query
from reviewer.scenarios import Scenario, TestFile
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

ONLY = Skip("another test of the file is marked `only`")


class Found(NamedTuple):
    """What a match is: kind group, test, support, table (of the test around it), assertion or skip.

    `name` is its own part of the name, `title` what a person may call it besides; `rows` are the literal rows of its
    `table`, (name or '', node) each; `more` are nodes outside of it that belong to its meaning.
    """

    kind: str
    node: "Node"
    name: str = ""
    title: str = ""
    skip: Skip = NO_SKIP
    only: bool = False
    assertion: Assertion | None = None
    rows: "tuple[tuple[str, Node], ...]" = ()
    table: "Node | None" = None
    more: "tuple[Node, ...]" = ()
    at: "Node | None" = None
    """Where the name stands."""


Captures = dict[str, "list[Node]"]
Links = dict[int, "Node"]
"""Nodes around others, by the id of those: what a query captures as `outer` and `inner`. A node's own `parent` costs a
search from the root."""

Interpret = Callable[[str, "Node", Captures, Links], Iterable[Found]]
"""The capture's name, its node, all that was captured with it, and what stands around nodes in; what it is out."""

KINDS = ("group", "test", "support", "table", "assertion", "skip")


@dataclass
class _Open:
    """A group, a test or a helper whose end was not reached yet."""

    found: Found
    names: tuple[str, ...]
    skip: Skip
    only: bool
    asserts: list[Assertion] = field(default_factory=list)
    tables: list[Found] = field(default_factory=list)
    inside: set[int] = field(default_factory=set)
    """Nodes of tests and groups in it."""


def read(
    path: str, source: bytes, interpret: Interpret, *, form: str, grammar: str, joint: str = "::"
) -> TestFile | None:
    """Read one file; None where it cannot be read, or holds neither a test nor a helper.

    `form` names the query, `joint` stands between the parts of a name.
    """
    import tree_sitter

    root = parse(source, grammar)
    if root is None:
        return None
    matches = tree_sitter.QueryCursor(query(form, grammar)).matches(root)
    links = {each["inner"][0].id: each["outer"][0] for _, each in matches if "inner" in each}
    found = [each for _, captures in matches for each in _interpreted(captures, interpret, links)]
    found.sort(key=lambda each: (each.node.start_byte, -each.node.end_byte, KINDS.index(each.kind)))
    done = _sweep(found)
    result = TestFile()
    _fill(path, done, joint, result)
    return result if result.scenarios or result.support else None


def _interpreted(captures: Captures, interpret: Interpret, links: Links) -> Iterator[Found]:
    for kind in KINDS:
        for node in captures.get(kind, ()):
            yield from interpret(kind, node, captures, links)


def _sweep(found: list[Found]) -> list[_Open]:
    """Return the tests and helpers, in order, each with its names, skips and assertions."""
    stack: list[_Open] = []
    done: list[_Open] = []
    seen: set[tuple[str, int]] = set()
    for each in found:
        if (each.kind, each.node.id) in seen:
            continue
        seen.add((each.kind, each.node.id))
        while stack and stack[-1].found.node.end_byte <= each.node.start_byte:
            stack.pop()
        owner = stack[-1] if stack else None
        if each.kind in ("assertion", "skip", "table"):
            _note(each, owner)
            continue
        if each.kind == "support" and owner and owner.found.kind != "group":
            continue  # a helper of one test is part of it
        names = (*(owner.names if owner else ()), each.name)
        skip = owner.skip if owner and owner.skip.reason else each.skip
        opened = _Open(each, names, skip, only=each.only or bool(owner and owner.only))
        for around in stack:
            around.inside.add(each.node.id)
        stack.append(opened)
        done.append(opened)
    return done


def _note(found: Found, owner: _Open | None) -> None:
    if owner is None:
        return
    if found.kind == "table":
        owner.tables.append(found)
    if found.assertion:
        owner.asserts.append(found.assertion)
    if found.skip.reason and not owner.skip.reason:
        owner.skip = found.skip


def _fill(path: str, done: list[_Open], joint: str, result: TestFile) -> None:
    some_only = any(each.only for each in done)
    count: Counter[str] = Counter()
    tests = {each.found.node.id for each in done if each.found.kind == "test"}
    for each in done:
        node, found = each.found.node, each.found
        if found.kind == "group":
            continue
        strength = Strength(tuple(sorted(a.text for a in each.asserts)), parts=tuple(each.asserts))
        name = joint.join(each.names)
        line = (found.at or node).start_point.row + 1
        if found.kind == "support":
            if not each.inside & tests:
                result.support[name] = (meaning(node), line, strength)
            continue
        count[name] += 1
        key = name if count[name] == 1 else f"{name} #{count[name]}"
        tables = [found, *(each.tables if len(each.tables) == 1 else ())]
        rows = {at.id for table in tables for _, at in table.rows}
        without = each.inside | rows | ({found.at.id} if found.at else set())
        skip = each.skip if each.skip.reason or not some_only or each.only else ONLY
        more = "".join(meaning(other) for other in found.more)
        result.scenarios[key] = Scenario(
            path=path,
            name=key,
            line=line,
            digest=meaning(node, without) + more,
            wording=meaning(node, each.inside) + more,
            strength=strength,
            skipped=skip,
            cases=tuple((row, meaning(at)) for table in tables for row, at in table.rows),
            title=found.title,
            exact=not node.has_error,
        )
