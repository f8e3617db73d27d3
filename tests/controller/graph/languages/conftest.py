"""What tests of all languages need: a changed module of a small repository, real sources, Universal Ctags beside us."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from packets.deltas import GraphDelta
from packets.graph import GraphReport
from packets.packet import Base, ExecutionPacket
from packets.plan import Plan


@pytest.fixture
def report(repo: Any, plan: Callable[..., Plan]) -> Callable[..., GraphReport]:
    """Compare a base with its change, for a module of a scope that may use what `uses` names, in real trees."""

    def made(
        base: Mapping[str, str],
        change: Mapping[str, str | None],
        *expected: str,
        scope: tuple[str, ...],
        uses: tuple[str, ...] = (),
        known: Mapping[str, list[str]],
    ) -> GraphReport:
        from controller.compose import AgentChoice, PacketDeltas

        module = {
            "id": "Change", "write_scope": list(scope), "depends_on": list(uses),
            "expected_deltas": {"graph": list(expected)},
        }  # fmt: skip
        whole = plan([module], known)
        trees = [repo.tree(base), repo.tree({p: t for p, t in {**base, **change}.items() if t is not None})]
        packet = ExecutionPacket(
            run_id="r", phase="p", wave=1, attempt=1, base=Base(commit="c", tree=trees[0]), plan_digest="d",
            module_id="Change", purpose="test", write_scope=scope,
            expected_deltas=PacketDeltas(graph=expected), agent=AgentChoice(name="a", spec=whole.agents["a"]),
        )  # fmt: skip
        found: GraphReport = repo.knowledge.compare(whole, packet, *trees, GraphDelta())
        return found

    return made


class Tag(NamedTuple):
    """One definition as Universal Ctags reports it; `scope` is dotted."""

    path: str
    line: int
    name: str
    kind: str
    scope: str


@pytest.fixture(scope="session")
def ctags() -> Callable[..., list[Tag]]:
    """Run Universal Ctags over a folder. Without it the test is skipped, but never in CI."""
    names = [name for name in ("ctags-universal", "universal-ctags", "ctags") if shutil.which(name)]
    found = next((name for name in names if "Universal" in _said(name, "--version")), None)
    if found is None:
        message = "Universal Ctags is missing: scripts/ctags installs it on Debian"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)

    def made(folder: Path, *options: str) -> list[Tag]:
        told = ("--options=NONE", "--output-format=json", "--fields=+nKSZ", "--sort=no", "-R", "-f", "-", *options, ".")
        rows = [json.loads(line) for line in _said(found, *told, folder=folder).splitlines()]
        return [
            Tag(row["path"].removeprefix("./"), row["line"], row["name"], row["kind"], _dotted(row.get("scope", "")))
            for row in rows
        ]

    return made


def _said(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "replace")


def _dotted(scope: str) -> str:
    return scope.replace("::", ".")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Download one pinned wheel from PyPI that has its sources in it, and return the folder of what is in it.

    Takes the name, the version and the SHA-256 of the archive, which is the same on every machine.
    """

    def made(name: str, version: str, sha256: str) -> Path:
        into = tmp_path_factory.mktemp(name)
        kind = ["--only-binary", name, "--python-version", "3.12", "--platform", "manylinux2014_x86_64"]
        pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", *kind, "--dest", into]
        subprocess.run([*pip, f"{name}=={version}"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
        (archive,) = into.iterdir()
        assert hashlib.sha256(archive.read_bytes()).hexdigest() == sha256
        shutil.unpack_archive(archive, into / "all", "zip")
        return into / "all"

    return made
