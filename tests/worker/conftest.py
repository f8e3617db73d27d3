"""A small repository and packets for it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from packets.agent import CommandAgent, PatchAgent
from packets.packet import AgentChoice, Base, ExecutionPacket
from sandbox.git import Content, Git

FILES = {
    "README.md": b"read me\n",
    "app/a.py": b"a = 1\nb = 2\nc = 3\n",
    "app/crlf.txt": b"one\r\ntwo\r\n",
    "app/latin": b"caf\xe9\n",
    "app/bin": bytes(range(256)),
    "tests/t.py": b"t = 1\n",
    ".gitattributes": b"*.txt text eol=lf\n*.py filter=evil\n",
}


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Git]:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    path = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    with Git.discover(path) as git:
        tree = git.import_entries(git.empty_tree(), {p: Content("100644", data) for p, data in FILES.items()})
        git.update_ref("refs/heads/main", git.commit(tree, [], "base", "A <a@b>"), "")
        yield git


class Packets:
    """Makes packets of one run."""

    def __init__(self, git: Git, run_id: str) -> None:
        self.git, self.run_id, self.attempt = git, run_id, 0

    def __call__(self, scope, agent, *, digest="", **limits) -> ExecutionPacket:
        self.attempt += 1
        commit = self.git.resolve("main")
        packet = ExecutionPacket(
            run_id=self.run_id, phase="p", wave=1, attempt=self.attempt, plan_digest="sha256:0", module_id="Shop/One",
            base=Base(commit=commit, tree=self.git.tree(commit)), purpose="p", write_scope=tuple(scope),
            agent=AgentChoice(name="agent", spec=agent, patch_digest=digest),
        )  # fmt: skip
        return packet.model_copy(update={"limits": packet.limits.model_copy(update=limits)}).stamped()

    def script(self, scope, text, **limits) -> ExecutionPacket:
        return self(scope, CommandAgent(kind="command", run=("sh", "-c", text), env={"MINE": "yes"}), **limits)

    def patch(self, scope, **more) -> ExecutionPacket:
        return self(scope, PatchAgent(kind="patch", patch="x.diff"), **more)


@pytest.fixture
def packets(git: Git, tmp_path: Path) -> Packets:
    return Packets(git, f"t{os.getpid()}{tmp_path.name[-12:].replace('_', '')}")
