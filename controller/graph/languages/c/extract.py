"""Facts of one C or C++ file by tree-sitter: definitions, declarations, includes, and names in use."""

from pathlib import Path

from controller.graph.facts import FileFacts
from controller.graph.languages.c.lookup import CReferences
from controller.graph.languages.c.text import first_branches, is_cpp, plain, without_macros
from controller.graph.languages.c.walk import Walk
from controller.graph.languages.parsed import Parsed, read, tools

_FOLDER = Path(__file__).parent
_READERS = {
    False: ("tree_sitter_c", str(_FOLDER / "shared.scm"), str(_FOLDER / "c.scm")),
    True: ("tree_sitter_cpp", str(_FOLDER / "shared.scm"), str(_FOLDER / "cpp.scm")),
}
"""Grammar and queries, for C and for C++."""

_MENDED = 20_000
"""Bytes that are mended however little of them is syntax."""


def grammar(kind: str) -> str:
    """Name the grammars' versions: other facts may come of others. A header is read by one of the two."""
    languages = [tools(*_READERS[cpp])[0] for cpp in (False, True) if kind != {False: "cpp", True: "c"}[cpp]]
    return "-".join(".".join(map(str, each.semantic_version or (each.abi_version,))) for each in languages)


def extract(kind: str, source: bytes) -> FileFacts:
    """Read one source; what a syntax error hides is left out."""
    cpp = kind == "cpp" or (kind == "header" and is_cpp(source))
    text, parsed = _best(plain(source), cpp=cpp)
    walk = Walk(text, cpp=cpp)
    walk.read(parsed.captures)
    references = CReferences(walk.sweep, text, walk.aliases, cpp=cpp).collect(walk.uses, walk.definitions)
    definitions = sorted(walk.definitions.values(), key=lambda each: (each.line, each.qual))
    return FileFacts(tuple(definitions), tuple(walk.imports), references, error_line=parsed.error_line)


def _best(source: bytes, *, cpp: bool) -> tuple[bytes, Parsed]:
    """Return the text of which the least is no syntax: as it is, or without what only a preprocessor reads."""
    parsed = read(source, *_READERS[cpp])
    found = source, parsed
    if not parsed.error_line or 2 * parsed.lost > max(len(source), _MENDED):  # nothing to mend, or no C at all
        return found
    for bare in (without_macros(source), first_branches(without_macros(source))):
        if bare != found[0]:
            again = read(bare, *_READERS[cpp])
            if again.captures and again.lost < found[1].lost:
                found = bare, again
    return found
