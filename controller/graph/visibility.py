"""Who may see a name, by the rules of its language; what a graph shows in use is still no promise where it is private.

Python: a leading underscore is private. Go: a capital is seen everywhere, the rest inside the package. Java: `private`
is seen nowhere else, `public` and `protected` everywhere, the rest in the package. Rust: without `pub` inside the
module and those beneath it. C and C++: `static` in a source is the source's own. JavaScript and TypeScript: what is
exported, which is all that another file can name; `#x` and `private` stay inside.
"""

import re
from collections.abc import Callable

from controller.graph.language import family_of
from packets.graph import Node, NodeKind

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tcc")


def visible(node: Node, user: str) -> bool:
    """Tell whether the file `user` may rely on a node of another file."""
    if node.kind is NodeKind.FILE:
        return True
    if node.kind is NodeKind.EXTERNAL:
        return False
    return _RULES.get(family_of(node.path), _anybody)(node, user)


def _anybody(node: Node, user: str) -> bool:
    del node, user
    return True


def _python(node: Node, user: str) -> bool:
    del user
    return not any(part.startswith("_") and not part.endswith("__") for part in node.name.split("."))


def _go(node: Node, user: str) -> bool:
    return _folder(node.path) == _folder(user) or all(part[:1].isupper() for part in node.name.split("."))


def _java(node: Node, user: str) -> bool:
    if _says("private", node):
        return False
    return _says("public", node) or _says("protected", node) or "." in node.name or _folder(node.path) == _folder(user)


def _rust(node: Node, user: str) -> bool:
    """Members of traits and variants of enums carry no `pub`: they are as visible as what holds them."""
    folder, _, name = node.path.rpartition("/")
    stem = name.rpartition(".")[0]
    inside = folder if stem in ("mod", "lib", "main") else f"{folder}/{stem}".lstrip("/")
    beneath = not inside or user.startswith(f"{inside}/")
    return _says("pub", node) or "." in node.name or beneath


def _c(node: Node, user: str) -> bool:
    del user
    return node.path.endswith(_HEADERS) or not _says("static", node) or "." in node.name


def _script(node: Node, user: str) -> bool:
    del user
    return not (_says("private", node) or node.name.rpartition(".")[2].startswith("#"))


def _says(word: str, node: Node) -> bool:
    """Look for a modifier before the name."""
    before = node.signature.partition(node.name.rpartition(".")[2])[0]
    return re.search(rf"\b{word}\b", before) is not None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


_RULES: dict[str, Callable[[Node, str], bool]] = {
    "python": _python,
    "go": _go,
    "java": _java,
    "rust": _rust,
    "c": _c,
    "script": _script,
}
