"""Rust: functions with a test attribute (`#[test]`, `#[tokio::test]`, `#[rstest]`), named by their modules."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewer.assertions import NO_SKIP, Skip
from reviewer.forms.sweep import Captures, Found, Links, read
from reviewer.forms.tree import framed, is_literal, text
from reviewer.scenarios import TestFile
from reviewer.weakening import Assertion

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset({"test", "rstest", "test_case", "quickcheck", "proptest", "wasm_bindgen_test", "test_matrix"})
_ROWS = frozenset({"case", "test_case"})
_COMMENTS = frozenset({"line_comment", "block_comment"})
_SUPPORT = frozenset({"function_item", "const_item", "static_item", "macro_definition", "struct_item", "impl_item"})
_LITERALS = frozenset(
    {"integer_literal", "float_literal", "boolean_literal", "char_literal", "string_content", "escape_sequence",
     "-", "&"}
)  # fmt: skip
_CONTAINERS = frozenset({"string_literal", "raw_string_literal", "token_tree"})
_SIDES = {"assert_eq": 2, "assert_ne": 2, "debug_assert_eq": 2, "debug_assert_ne": 2, "prop_assert_eq": 2}


def read_rust(path: str, source: bytes) -> TestFile | None:
    """Read one file."""
    return read(path, source, _interpret, form="rust", grammar="rust")


def _interpret(kind: str, node: "Node", captures: Captures, links: Links) -> Iterator[Found]:
    del links
    if kind == "group":
        yield Found("group", node, text(captures["name"][0]))
    elif kind == "test":
        yield from _block(node)
    elif kind == "assertion":
        assertion = _assertion(node)
        if assertion:
            yield Found("assertion", node, assertion=assertion)


def _block(block: "Node") -> Iterator[Found]:
    attributes: list[Node] = []
    for child in block.named_children:
        if child.type == "attribute_item":
            attributes.append(child)
        elif child.type not in _COMMENTS:
            yield from _item(child, attributes)
            attributes = []


def _item(node: "Node", attributes: "list[Node]") -> Iterator[Found]:
    if node.type not in _SUPPORT:
        return
    name = node.child_by_field_name("name") or node.child_by_field_name("type")
    words = [_word(attribute) for attribute in attributes]
    if node.type != "function_item" or not any(word in _TESTS for word in words):
        yield Found("support", node, text(name), at=name)
        return
    rows = tuple(("", item) for item, word in zip(attributes, words, strict=True) if word in _ROWS)
    rest = tuple(item for item, word in zip(attributes, words, strict=True) if word not in _ROWS)
    skip = next((found for item in attributes if (found := _skip(item)).reason), NO_SKIP)
    yield Found("test", node, text(name), skip=skip, rows=rows, more=rest, at=name)
    for item in attributes:
        if _word(item) == "should_panic":
            whole = text(item)
            yield Found("assertion", name or node, assertion=Assertion(whole, "it", "should_panic", whole))


def _word(attribute: "Node") -> str:
    """Return the last part of an attribute's path: `test` of `#[tokio::test(flavor = …)]`."""
    inner = attribute.named_children[0] if attribute.named_children else attribute
    return text(inner.named_children[0] if inner.named_children else inner).rpartition("::")[2]


def _skip(attribute: "Node") -> Skip:
    word, whole = _word(attribute), text(attribute)
    if word in ("ignore", "should_panic"):
        return Skip(whole)
    return Skip(whole, conditional=True) if word == "cfg_attr" and "ignore" in whole else NO_SKIP


def _assertion(node: "Node") -> Assertion | None:
    whole = text(node)
    if node.type == "call_expression":
        return Assertion(whole, whole, "unwrap")
    verb = text(node.child_by_field_name("macro")).rpartition("::")[2]
    tokens = next((child for child in node.children if child.type == "token_tree"), None)
    parts = _split(tokens)[: _SIDES.get(verb, 1)] if tokens is not None else []
    values = [part for part in parts if all(is_literal(token, _LITERALS, _CONTAINERS) for token in part)]
    if verb not in ("panic", "unreachable") and parts and len(values) == len(parts):
        return None  # assert!(true)
    rest = [part for part in parts if part not in values]
    nodes = [token for part in values for token in part]
    return Assertion(
        whole,
        " ".join(text(token) for token in rest[0]) if rest else "",
        verb,
        framed(node, nodes),
        tuple(("", text(token)) for token in nodes),
    )


def _split(tokens: "Node") -> "list[list[Node]]":
    """Return what stands between the commas of a macro's brackets."""
    parts: list[list[Node]] = [[]]
    for child in tokens.children[1:-1]:
        if child.type == ",":
            parts.append([])
        else:
            parts[-1].append(child)
    return [part for part in parts if part]
