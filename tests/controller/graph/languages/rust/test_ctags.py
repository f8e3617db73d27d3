"""Definitions in real Rust sources, held against Universal Ctags; every difference has a reason."""

import hashlib
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.graph.language import facts

RELEASE = "tokenizers-0.10.3"  # from PyPI: two crates, one of them a path dependency of the other
SHA256 = "1a5d3b596c6d3a237e1ad7f46c472d467b0246be7fd1a364f12576eb8db8f7e6"
_NO_NODES = ("field", "implementation")


def reason(tag: Any, source: list[str], quals: set[str]) -> str:
    """Say why a definition of theirs is none of ours."""
    line = source[tag.line - 1]
    if tag.kind == "module" and line.rstrip().endswith(";"):
        return "a module that is another file is an import"
    if tag.kind == "typedef" and line.startswith(" "):
        return "a type inside an impl or a trait is no node"
    leaf = tag.name
    if tag.kind in ("method", "function") and any(qual.endswith(f".{leaf}") for qual in quals):
        return "two impls of one class define it: one name, one node"
    return f"{tag.path}:{tag.line} {tag.kind} {tag.name}: {line}"


def unpacked(into: Path) -> Path:
    name, _, version = RELEASE.rpartition("-")
    pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name, "--dest", into]
    subprocess.run([*pip, f"{name}=={version}"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    archive = into / f"{RELEASE}.tar.gz"
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256
    with tarfile.open(archive) as opened:
        opened.extractall(into, filter="data")
    return into / RELEASE


def test_definitions(tmp_path: Path, ctags: Callable[..., list[Any]]) -> None:
    folder = unpacked(tmp_path)
    tags: dict[str, list[Any]] = {}
    for tag in ctags(folder, "--languages=Rust"):
        tags.setdefault(tag.path, []).append(tag)
    missing: Counter[str] = Counter()
    both, more = 0, set()
    for path in sorted(folder.rglob("*.rs")):
        found, name = facts("rust", path.read_bytes()), str(path.relative_to(folder))
        assert found.error_line == 0, name
        ours = {(each.line, each.qual.rpartition(".")[2]) for each in found.definitions}
        theirs = {(tag.line, tag.name): tag for tag in tags.get(name, ()) if tag.kind not in _NO_NODES}
        both += len(ours & theirs.keys())
        more |= {(name, leaf) for _, leaf in ours - theirs.keys()}
        lines, quals = path.read_text().splitlines(), {each.qual for each in found.definitions}
        missing.update(reason(theirs[key], lines, quals) for key in theirs.keys() - ours)
    assert both > 1_800
    # A `const` with a `&str` in its type is one that ctags calls `str`.
    assert more == {("tokenizers-lib/src/utils/parallelism.rs", "ENV_VARIABLE")}
    other = [each for each in missing if not each.startswith(("a module", "a type", "two impls"))]
    assert len(other) <= 1, other
    assert all("str" in each for each in other), other
