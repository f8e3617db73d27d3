"""Small trees: linked in memory, or committed to a real repository."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from controller.graph import Knowledge
from controller.graph.language import facts, kind_of
from controller.graph.link import Linker, link
from controller.graph.model import Graph
from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import Base, ExecutionPacket
from packets.plan import Plan
from sandbox.git import Content, Git


def linker_of(files: Mapping[str, str]) -> Linker:
    """Read the files into what resolves names."""
    return Linker({path: facts(kind_of(path), text.encode()) for path, text in sorted(files.items())})


class Arrows:
    """A graph whose dependencies read as text."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.graph: Graph = link({path: facts(kind_of(path), text.encode()) for path, text in files.items()})

    def of(self, *kinds: str, resolved: bool = True) -> set[str]:
        return {f"{e.source} -> {e.target}" for e in self.graph.edges if e.kind in kinds and e.resolved == resolved}


@pytest.fixture
def arrows() -> Callable[[Mapping[str, str]], Arrows]:
    return Arrows


@pytest.fixture
def linker() -> Callable[[Mapping[str, str]], Linker]:
    return linker_of


class Repo:
    """A real repository whose trees are written without a checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
        self.git = Git.discover(folder)
        self.cache = folder / ".git" / "grace" / "cache" / "facts.db"
        self.knowledge = Knowledge(self.git, self.cache)

    def tree(self, files: Mapping[str, str | bytes]) -> str:
        """Write exactly these files and return the tree."""
        contents: dict[str, Content | None] = {
            path: Content("100644", text if isinstance(text, bytes) else text.encode()) for path, text in files.items()
        }
        return self.git.import_entries(self.git.empty_tree(), contents)


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    folder = tmp_path / "repo"
    folder.mkdir()
    made = Repo(folder)
    yield made
    made.git.close()


def plan_of(modules: Sequence[Mapping[str, Any]], modules_map: Mapping[str, Sequence[str]] | None = None) -> Plan:
    """Return a plan of one phase; ids and scopes are a must, the rest is filled in."""
    written = {
        "version": 1,
        "name": "t",
        "agents": {"a": {"kind": "command", "run": ["true"]}},
        "modules_map": modules_map or {},
        "phases": [{"id": "p", "modules": [{"purpose": "test", **module} for module in modules]}],
    }
    return Plan.model_validate_json(json.dumps(written))


@pytest.fixture
def plan() -> Callable[..., Plan]:
    return plan_of


@pytest.fixture
def between(repo: Repo) -> Callable[..., GraphReport]:
    """Compare two real trees for a module that may write everything, or what `module` says."""

    def made(
        base: Mapping[str, str | bytes],
        head: Mapping[str, str | bytes | None],
        *expected: str,
        claimed: GraphDelta | None = None,
        module: Mapping[str, Any] | None = None,
        others: Sequence[Mapping[str, Any]] = (),
        known: Mapping[str, Sequence[str]] | None = None,
    ) -> GraphReport:
        from controller.compose import AgentChoice, PacketDeltas

        entry = {"id": "All", "write_scope": ["**"], **(module or {}), "expected_deltas": {"graph": list(expected)}}
        whole = plan_of([*others, entry], known)
        after = {path: text for path, text in {**base, **head}.items() if text is not None}
        trees = repo.tree(base), repo.tree(after)
        planned = whole.module(entry["id"])
        packet = ExecutionPacket(
            run_id="r", phase="p", wave=1, attempt=1, base=Base(commit="c", tree=trees[0]), plan_digest="d",
            module_id=planned.id, purpose="test", write_scope=planned.write_scope,
            expected_deltas=PacketDeltas(graph=expected), agent=AgentChoice(name="a", spec=whole.agents["a"]),
        )  # fmt: skip
        return repo.knowledge.compare(whole, packet, *trees, claimed or GraphDelta())

    return made
