"""Facts of one JavaScript or TypeScript file, and the settings of the files that say how modules are found."""

from controller.graph.facts import NOTHING, FileFacts
from controller.graph.languages.script.settings import read_settings
from controller.graph.languages.script.statements import exports_itself, read_statement
from controller.graph.languages.syntax import Syntax, grammar_version, read

_VERSION = 1
"""Raised when this module says something else about the same bytes."""

_PACKAGE = "controller.graph.languages.script"
_SEPARATOR = rb"\?\.|!?\."


def _syntax(grammar: str, *queries: str) -> Syntax:
    return Syntax(grammar, _PACKAGE, ("common.scm", *queries), read_statement, _SEPARATOR)


_SYNTAXES = {
    "javascript": _syntax("tree_sitter_javascript:language", "javascript.scm", "jsx.scm"),
    "typescript": _syntax("tree_sitter_typescript:language_typescript", "typescript.scm"),
    "tsx": _syntax("tree_sitter_typescript:language_tsx", "typescript.scm", "jsx.scm"),
}
_MINIFIED = 40_000, 400
"""Bytes, and bytes a line: a larger file with longer lines was written by a program for programs."""


def grammar(kind: str) -> str:
    """Name the version of what reads a kind."""
    syntax = _SYNTAXES.get(kind)
    return f"{_VERSION}-{grammar_version(syntax)}" if syntax else str(_VERSION)


def extract(kind: str, blob: bytes) -> FileFacts:
    """Read one source, or one file of settings."""
    syntax = _SYNTAXES.get(kind)
    if syntax is None:
        return FileFacts(settings=read_settings(kind, blob))
    if len(blob) > _MINIFIED[0] and len(blob) > _MINIFIED[1] * (blob.count(b"\n") + 1):
        return NOTHING
    return exports_itself(read(syntax, blob))
