"""Definitions in real C and C++ sources, held against Universal Ctags. Every difference is named and explained."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from controller.graph.language import facts, kind_of

C = ("persistent", "6.1", "2111566a7ac526240e37a4b2363cb9ebe40838369d363950222f15b5482cf944")
CPP = ("greenlet", "3.1.1", "99cfaa2110534e2cf3ba31a7abcac9d328d1d9f1b95beede58294a60348fba36")
LEFT_OUT = ("member", "header", "namespace", "local", "parameter")
"""Kinds that are no nodes: what an object holds, and namespaces, whose names begin those of what is in them."""

Key = tuple[str, str]


def defined(folder: Path, *suffixes: str) -> Iterator[tuple[Key, str]]:
    """Yield (path, name without what holds it) and the signature of each definition of ours."""
    for path in sorted(each for each in folder.rglob("*") if each.suffix in suffixes):
        for each in facts(kind_of(path.name), path.read_bytes()).definitions:
            holder, _, leaf = each.qual.rpartition(".")
            name = holder.rpartition(".")[2] if leaf == "new" else leaf  # a constructor has the class's name
            yield (str(path.relative_to(folder)), name.replace(" ", "")), each.signature


def tagged(tags: list[Any], *suffixes: str) -> set[Key]:
    return {
        (tag.path, tag.name.replace(" ", ""))
        for tag in tags
        if tag.path.endswith(suffixes) and tag.kind not in LEFT_OUT and not tag.name.startswith("__anon")
    }


def guards(folder: Path, keys: set[Key]) -> set[Key]:
    """Return the macros that only keep a header from being read twice; they are no definitions of ours."""
    return {
        key for key in keys if re.search(rf"#ifndef {key[1]}\s+#define {key[1]}\s*\n", (folder / key[0]).read_text())
    }


def test_definitions_of_c(released: Callable[..., Path], ctags: Callable[..., list[Any]]) -> None:
    folder = released(*C) / "persistent"
    ours = dict(defined(folder, ".c", ".h"))
    theirs = tagged(ctags(folder, "--languages=C", "--langmap=C:.c.h", "--kinds-C=+px"), ".c", ".h")
    assert len(ours) > 200
    assert ours.keys() - theirs == set()
    missed = theirs - ours.keys()
    assert missed == guards(folder, missed)


def test_definitions_of_cpp(released: Callable[..., Path], ctags: Callable[..., list[Any]]) -> None:
    folder = released(*CPP) / "greenlet"
    shutil.rmtree(folder / "platform")  # assembler in C's clothes: neither of us reads it
    ours = dict(defined(folder, ".cpp", ".hpp", ".h"))
    theirs = tagged(
        ctags(folder, "--languages=C++", "--langmap=C++:.cpp.hpp.h", "--kinds-C++=+px"), ".cpp", ".hpp", ".h"
    )
    assert len(ours) > 500
    missed = theirs - ours.keys()
    assert missed == guards(folder, missed)
    # Static members are nodes, as they are names that other files depend on; ctags calls them members, or is silent
    # where their type has arguments.
    assert {name for _, name in ours.keys() - theirs} == {"_clocks_used_doing_gc", "allocator"}
