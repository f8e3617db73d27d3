"""Definitions in real Java sources, held against Universal Ctags."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.graph.language import facts

RELEASE = ("python-for-android", "2024.1.21", "846296e53ae0cd004b0b7b1a296fb3d9bc3469de7bf43e7454f7bded28d7ce26")
KINDS = {
    "class": "class", "interface": "class", "enum": "class", "annotation": "class", "method": "method",
    "enumConstant": "variable", "field": "variable",
}  # fmt: skip


def test_definitions(released: Callable[..., Path], ctags: Callable[..., list[Any]]) -> None:
    folder = released(*RELEASE) / "pythonforandroid" / "bootstraps"
    for template in folder.rglob("*.tmpl.java"):
        template.unlink()  # no Java before somebody fills it in
    tags = [tag for tag in ctags(folder, "--languages=Java") if tag.path.endswith(".java") and tag.kind != "package"]
    theirs = {(tag.path, f"{tag.scope}.{tag.name}".lstrip("."), KINDS[tag.kind]) for tag in tags}
    fields = {key for key in theirs if key[2] == "variable"} - {
        (tag.path, f"{tag.scope}.{tag.name}".lstrip("."), "variable") for tag in tags if tag.kind == "enumConstant"
    }
    ours, local = set(), set()
    for path in sorted(folder.rglob("*.java")):
        found = facts("java", path.read_bytes())
        assert found.error_line == 0, path
        methods = [each for each in found.definitions if each.kind == "method"]
        for each in found.definitions:
            holder, _, leaf = each.qual.rpartition(".")
            if any(f"{each.qual}.".startswith(f"{known.qual}.") for known in methods if known != each):
                local.add(each.qual)
                continue
            qual = (
                f"{holder}.{holder.rpartition('.')[2]}" if leaf == "new" else each.qual
            )  # a constructor has the class's name
            ours.add((str(path.relative_to(folder)), qual, each.kind))
    assert len(ours) > 300
    assert ours - theirs == set()
    assert local == {f"PythonActivity.loadUrl.LoadUrl{each}" for each in ("", ".new", ".run")}  # ctags reads no bodies
    # Fields are nodes where they are static: what an object holds is no name that other files depend on.
    assert theirs - ours - fields == set()
    static = {key for key in ours if key in fields}
    assert len(static) > 20
