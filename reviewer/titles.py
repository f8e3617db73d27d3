"""Tests of other languages than Python: which reader reads a file."""

from collections.abc import Callable

from reviewer.scenarios import TestFile

SCRIPTS = ("js", "jsx", "mjs", "cjs", "ts", "mts", "cts", "tsx")
OTHERS = ("kt", "kts", "scala", "groovy")


def read_titles(path: str, source: bytes) -> TestFile | None:
    """Read one file; None where its language is not known, it cannot be read, or there is nothing of tests in it."""
    reader = _reader(path.rpartition(".")[2].lower())
    return reader(path, source) if reader else None


def _reader(kind: str) -> Callable[[str, bytes], TestFile | None] | None:
    if kind in SCRIPTS:
        from reviewer.forms.script import read_script

        return read_script
    if kind == "go":
        from reviewer.forms.go import read_go

        return read_go
    if kind == "rs":
        from reviewer.forms.rust import read_rust

        return read_rust
    if kind == "java":
        from reviewer.forms.java import read_java

        return read_java
    if kind in OTHERS:
        from reviewer.forms.text import read_text

        return read_text
    return None
