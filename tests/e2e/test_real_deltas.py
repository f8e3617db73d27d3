"""Real input: what two releases of a public package differ in, held against `ast`, and against what a reader finds."""

import ast
import hashlib
import json
import subprocess
import sys
import tarfile

import pytest

from controller.graph import Knowledge
from packets.deltas import GraphDelta
from packets.packet import AgentChoice, Base, ExecutionPacket
from packets.plan import Plan
from sandbox.git import Git
from sandbox.git.values import Content

RELEASES = {
    "humanize": (
        ("humanize-3.0.0.tar.gz", "db08acbd8e31954f146467a213a112c4b80a5b8e319e06b76aa184a679bd8b48"),
        ("humanize-4.9.0.tar.gz", "582a265c931c683a7e9b8ed9559089dea7edcf6cc95be39a3cbc2c5d5ac2bcfa"),
    ),
    "click": (
        ("Click-7.0.tar.gz", "5b94b49521f6456670fdb30cd82a4eca9412788a93fa6dd6df72c94d5a8ff2d7"),
        ("click-8.0.4.tar.gz", "8458d7b1287c5fb128c90e23381cf99dcde74beaf6c7ff6384ce84d6fe090adb"),
    ),
}
RENAMES = {
    "humanize": {
        "src/humanize/i18n.py::gettext": "src/humanize/i18n.py::_gettext",
        "src/humanize/i18n.py::gettext_noop": "src/humanize/i18n.py::_gettext_noop",
        "src/humanize/i18n.py::ngettext": "src/humanize/i18n.py::_ngettext",
        "src/humanize/locale/vi_VI/LC_MESSAGES/humanize.po": "src/humanize/locale/vi_VN/LC_MESSAGES/humanize.po",
        "src/humanize/time.py::abs_timedelta": "src/humanize/time.py::_abs_timedelta",
        "src/humanize/time.py::date_and_delta": "src/humanize/time.py::_date_and_delta",
    },
    "click": {
        f"click/{name}.py": f"src/click/{name}.py"
        for name in (
            "_compat", "_termui_impl", "_textwrap", "_winconsole", "core", "decorators", "exceptions", "formatting",
            "globals", "parser", "termui", "testing", "types", "utils",
        )
    },
}  # fmt: skip
"""What a reader of both releases finds in the package itself: all of it, and nothing else."""


def files_of(package, archive, digest, into):
    """Download one pinned source release and return its files."""
    version = archive.removesuffix(".tar.gz").rpartition("-")[2]
    pip = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        package,
        "--dest",
        into,
    ]
    subprocess.run([*pip, f"{package}=={version}"], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert hashlib.sha256((into / archive).read_bytes()).hexdigest() == digest
    with tarfile.open(into / archive) as opened:
        members = [member for member in opened.getmembers() if member.isfile()]
        return {each.name.partition("/")[2]: opened.extractfile(each).read() for each in members}


def definitions(files):
    """Return what Python's own parser finds defined, as ids."""
    found = set()

    def walk(path, node, above):
        for child in ast.iter_child_nodes(node):
            inner = above
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = [*above, child.name]
                found.add(f"{path}::{'.'.join(inner)}")
            walk(path, child, inner)

    for path, data in files.items():
        if path.endswith(".py"):
            walk(path, ast.parse(data), [])
    return found


def own(node):
    """Return a node of the repository, and nothing for what is outside."""
    return "" if node.startswith("ext:") else node


@pytest.mark.parametrize("package", RELEASES)
def test_the_delta_of_two_releases_is_what_differs(tmp_path, package):
    older, newer = (files_of(package, *each, tmp_path) for each in RELEASES[package])
    folder = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", folder], check=True)
    module = {"id": "All", "purpose": "x", "write_scope": ["**"]}
    agents = {"a": {"kind": "command", "run": ["true"]}}
    written = {"version": 1, "name": "t", "agents": agents, "phases": [{"id": "p", "modules": [module]}]}
    plan = Plan.model_validate_json(json.dumps(written))
    with Git.discover(folder) as git:
        trees = [
            git.import_entries(git.empty_tree(), {path: Content("100644", data) for path, data in files.items()})
            for files in (older, newer)
        ]
        packet = ExecutionPacket(
            run_id="r", phase="p", wave=1, attempt=1, base=Base(commit="c", tree=trees[0]), plan_digest="d",
            module_id="All", purpose="x", write_scope=("**",), agent=AgentChoice(name="a", spec=plan.agents["a"]),
        )  # fmt: skip
        report = Knowledge(git, tmp_path / "facts.db").compare(plan, packet, *trees, GraphDelta())

    before, after = definitions(older), definitions(newer)
    assert {each for each in report.actual.nodes_removed if each in before} == before - after
    assert {each for each in report.actual.nodes_added if each in after} == after - before
    assert set(filter(None, map(own, report.files.nodes_added))) == newer.keys() - older.keys()
    assert set(filter(None, map(own, report.files.nodes_removed))) == older.keys() - newer.keys()

    ours = ("src/", "click/")
    found = {each.before: each.after for each in report.renames if each.before.startswith(ours)}
    assert found == RENAMES[package]
