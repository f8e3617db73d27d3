"""Java: JUnit 5 and 4, TestNG: annotated methods, nested classes, display names, literal sources of parameters."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewer.assertions import NO_SKIP, Skip
from reviewer.forms.sweep import Captures, Found, Links, read
from reviewer.forms.tree import framed, is_literal, string, text
from reviewer.scenarios import TestFile
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property", "Theory"})
_SOURCES = frozenset({"ValueSource", "CsvSource", "EnumSource"})
_OFF = frozenset({"Disabled", "Ignore"})
_LITERALS = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "true", "false", "null_literal", "character_literal", "string_fragment",
     "multiline_string_fragment", "escape_sequence", "class_literal", "-"}
)  # fmt: skip
_CONTAINERS = frozenset({"string_literal", "unary_expression"})
_CHAIN = 12
_DELTA = 2  # the third argument of assertEquals(expected, actual, delta)


def read_java(path: str, source: bytes) -> TestFile | None:
    """Read one file."""
    return read(path, source, _interpret, form="java", grammar="java")


def _interpret(kind: str, node: "Node", captures: Captures, links: Links) -> Iterator[Found]:
    if kind == "assertion":
        yield from _assertion(node, links)
    elif kind == "skip":
        yield Found("skip", node, skip=Skip(text(node), conditional=True))
    else:
        name = captures["name"][0]
        marks = dict(_annotations(node))
        if kind == "group":
            yield Found("group", node, text(name), skip=_skip(marks))
        elif kind == "support":
            yield Found("support", node, text(name), at=name)
        else:
            yield from _method(node, name, marks)


def _annotations(node: "Node") -> "Iterator[tuple[str, Node]]":
    modifiers = next((child for child in node.children if child.type == "modifiers"), None)
    for child in modifiers.named_children if modifiers else []:
        if child.type in ("annotation", "marker_annotation"):
            yield text(child.child_by_field_name("name")).rpartition(".")[2], child


def _skip(marks: "dict[str, Node]") -> Skip:
    for name, node in marks.items():
        if name in _OFF or (name == "Test" and "enabled=false" in text(node).replace(" ", "")):
            return Skip(text(node))
        if name.startswith(("DisabledIf", "DisabledOn", "DisabledFor", "EnabledIf", "EnabledOn", "EnabledFor")):
            return Skip(text(node), conditional=True)
    return NO_SKIP


def _method(node: "Node", name: "Node", marks: "dict[str, Node]") -> Iterator[Found]:
    old_style = text(name).startswith("test") and "void" in text(node.child_by_field_name("type")) and not marks
    if not (_TESTS & marks.keys() or old_style):
        yield Found("support", node, text(name), at=name)
        return
    source = next((marks[each] for each in _SOURCES if each in marks), None)
    display = marks.get("DisplayName")
    title = next((said for c in _inside(display) if (said := string(c)) is not None), "")
    rows = tuple(_rows(source))
    yield Found(
        "test", node, text(name), title=title, skip=_skip(marks), rows=rows, table=source if rows else None, at=name
    )
    expected = marks.get("Test")
    if expected is not None and "expected" in text(expected):
        whole = text(expected)
        yield Found("assertion", name, assertion=Assertion(whole, "it", "expected", whole))


def _inside(annotation: "Node | None") -> "list[Node]":
    arguments = annotation.child_by_field_name("arguments") if annotation is not None else None
    return list(arguments.named_children) if arguments is not None else []


def _rows(source: "Node | None") -> "Iterator[tuple[str, Node]]":
    for child in _inside(source):
        value = child.child_by_field_name("value") if child.type == "element_value_pair" else child
        if value is not None and value.type == "element_value_array_initializer":
            for row in value.named_children:
                said = string(row)
                yield said if said is not None else text(row), row


def _assertion(node: "Node", links: Links) -> Iterator[Found]:
    whole, verbs = node, [text(node.child_by_field_name("name"))]
    arguments = node.child_by_field_name("arguments")
    subject = next(iter(arguments.named_children), None) if arguments else None
    for _ in range(_CHAIN):
        above = links.get(whole.id)
        if above is None:
            break
        whole, arguments = above, above.child_by_field_name("arguments")
        verbs.append(text(above.child_by_field_name("name")))
    given = list(arguments.named_children) if arguments else []
    chained = len(verbs) > 1
    if not chained and verbs[0] in ("assertThat", "verify") and len(given) < _DELTA:
        return  # a beginning that nothing follows
    values = [(number, each) for number, each in enumerate(given) if is_literal(each, _LITERALS, _CONTAINERS)]
    compared = (
        given[:_DELTA]
        if not verbs[0].startswith(("assertTrue", "assertFalse", "assertNo", "assertNull"))
        else given[:1]
    )
    if not chained and compared and all(each in [v for _, v in values] for each in compared) and verbs[0] != "fail":
        return  # assertTrue(true)
    if not chained:
        subject = next((each for each in given if each not in [v for _, v in values]), None)
    parts = tuple((_role(verbs[-1], number, each), text(each)) for number, each in values)
    verb = verbs[-1]
    yield Found(
        "assertion",
        whole,
        assertion=Assertion(text(whole), text(subject), verb, framed(whole, [v for _, v in values]), parts),
    )


def _role(verb: str, number: int, node: "Node") -> str:
    if verb in ("assertThrows", "assertThrowsExactly", "isInstanceOf") and node.type == "class_literal":
        return "raises"
    if verb == "assertEquals" and number == _DELTA and node.type != "string_literal":
        return "delta"
    return "message" if number >= _DELTA else ""
