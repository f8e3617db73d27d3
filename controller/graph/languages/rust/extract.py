"""Facts of Rust sources by tree-sitter, and of Cargo.toml by tomllib."""

from pathlib import Path

from controller.graph.facts import FileFacts
from controller.graph.languages.parsed import read, tools
from controller.graph.languages.rust import manifest

_GRAMMAR = "tree_sitter_rust"
_QUERY = str(Path(__file__).with_name("rust.scm"))


def grammar(kind: str) -> str:
    """Name the grammar's version: other facts may come of another one."""
    del kind
    return ".".join(str(part) for part in tools(_GRAMMAR, _QUERY)[0].semantic_version or ())


def extract(kind: str, blob: bytes) -> FileFacts:
    """Read one file; what a syntax error hides is left out."""
    if kind == "cargo":
        return manifest.read(blob)
    from controller.graph.languages.rust.source import Source

    parsed = read(blob, _GRAMMAR, _QUERY)
    return Source(blob, parsed.captures).facts()._replace(error_line=parsed.error_line)
