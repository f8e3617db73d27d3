"""A file that holds sources and tests at once: the sources of the base with the tests of the result.

In Rust these are the modules marked `#[cfg(test)]`. Taken from the base are all other bytes, from the result the test
modules, at the end of the file: where a module stands does not change what it means.
"""

from typing import TYPE_CHECKING

from reviewer.forms.tree import parse

if TYPE_CHECKING:
    from tree_sitter import Node


def graft(base: bytes, head: bytes) -> bytes:
    """Return the sources of `base` with the test modules of `head`; `base` itself where one cannot be read."""
    old, new = _tests(base), _tests(head)
    if old is None or new is None:
        return base
    kept, at = [], 0
    for start, end in old:
        kept.append(base[at:start])
        at = end
    kept.append(base[at:])
    return b"".join([*kept, *(b"\n" + head[start:end] + b"\n" for start, end in new)])


def _tests(source: bytes) -> list[tuple[int, int]] | None:
    """Return where the test modules stand, with the attributes before them; None where the file cannot be read."""
    root = parse(source, "rust")
    if root is None or root.has_error:
        return None
    found: list[tuple[int, int]] = []
    attributes: list[Node] = []
    for child in root.named_children:
        if child.type == "attribute_item":
            attributes.append(child)
            continue
        if child.type == "mod_item" and any(_is_test(each) for each in attributes):
            found.append((attributes[0].start_byte, child.end_byte))
        if child.type not in ("line_comment", "block_comment"):
            attributes = []
    return found


def _is_test(attribute: "Node") -> bool:
    return (attribute.text or b"").replace(b" ", b"") == b"#[cfg(test)]"
