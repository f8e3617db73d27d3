"""Ten successive releases of two packages, as they are installed: brought forward, each is what a new start gives."""

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from controller.graph import Knowledge
from controller.graph.language import facts, kind_of
from controller.graph.link import Linker
from controller.graph.model import delta
from sandbox.git import Content, Git

RELEASES = {
    "click": ("8.0.0", "8.0.1", "8.0.2", "8.0.3", "8.0.4", "8.1.0", "8.1.1", "8.1.2", "8.1.3", "8.1.7"),
    "attrs": ("19.1.0", "19.2.0", "19.3.0", "20.1.0", "20.2.0", "20.3.0", "21.1.0", "21.2.0", "21.4.0", "22.1.0"),
}


def wheel(name: str, version: str, into: Path) -> dict[str, bytes]:
    """Download one release and return its files."""
    folder = into / version
    pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"]
    subprocess.run([*pip, folder, f"{name}=={version}"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as opened:
        return {each: opened.read(each) for each in opened.namelist() if "dist-info" not in each}


@pytest.mark.parametrize("package", RELEASES)
def test_releases(tmp_path: Path, package: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda version: wheel(package, version, tmp_path), RELEASES[package]))
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    with Git.discover(tmp_path / "repo") as git:
        empty = git.empty_tree()
        trees = [git.import_entries(empty, {p: Content("100644", b) for p, b in files.items()}) for files in found]
        graphs = [Linker({p: facts(kind_of(p), data) for p, data in sorted(files.items())}).graph() for files in found]
        changes = 0
        for number, (old, new) in enumerate(pairwise(trees)):
            knowledge = Knowledge(git, tmp_path / "facts.db")  # as another process would
            made = knowledge.delta(old, new)
            assert made == delta(graphs[number], graphs[number + 1])
            brought = knowledge.graph(new)
            assert brought == graphs[number + 1]
            for node in graphs[number + 1].nodes:
                assert brought.incoming.get(node) == graphs[number + 1].incoming.get(node)
            changes += len(made.edges_added) + len(made.edges_removed)
    assert changes > 50
    assert len(set(trees)) == len(trees)
