"""Definitions in real Go sources, held against Universal Ctags."""

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.graph.language import facts

PACKAGE = "goscript@0.3.1"  # from npm: a compiler written in Go, shipped as source
SHA256 = "67a85b171565e89ff781071608e0c2712c60053f01c1523602469d33f1229666"
LARGE = 100_000  # bytes; what is larger is left out, for the time that it takes
KINDS = {
    "struct": "class", "interface": "class", "type": "class", "talias": "class", "const": "variable", "var": "variable",
    "methodSpec": "method",
}  # fmt: skip


def unpacked(into: Path) -> Path:
    npm = shutil.which("npm")
    assert npm, "npm is missing"
    subprocess.run(
        [npm, "pack", "--silent", PACKAGE], cwd=into, check=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    (archive,) = into.glob("*.tgz")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256
    with tarfile.open(archive) as opened:
        opened.extractall(into, [each for each in opened if each.size < LARGE], filter="data")
    return into / "package"


def test_definitions(tmp_path: Path, ctags: Callable[..., list[Any]]) -> None:
    folder = unpacked(tmp_path)
    theirs = set()
    for tag in ctags(folder, "--languages=Go"):
        if tag.kind == "func":
            theirs.add((tag.path, tag.line, tag.name, "method" if "." in tag.scope else "function"))
        elif tag.kind in KINDS:
            theirs.add((tag.path, tag.line, tag.name, KINDS[tag.kind]))
    ours = set()
    for path in sorted(folder.rglob("*.go")):
        found = facts("go", path.read_bytes())
        assert found.error_line == 0, path
        name = str(path.relative_to(folder))
        ours |= {(name, each.line, each.qual.rpartition(".")[2], each.kind) for each in found.definitions}
    assert len(ours) > 500
    assert ours == theirs
