"""Decisions in comments: read in any language, from the scope first, then from what is near it."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from controller.graph import Knowledge
from controller.noted import noted, notes
from packets.packet import PacketDecisions
from packets.plan import Plan
from packets.scope import Scope
from sandbox.git import Content, Git


class Shelf:
    """A repository whose trees are written without a checkout."""

    def __init__(self, folder: Path) -> None:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        self.git = Git.discover(folder)
        self.knowledge = Knowledge(self.git, folder / ".git" / "facts.db")

    def tree(self, files: Mapping[str, bytes]) -> str:
        contents: dict[str, Content | None] = {path: Content("100644", data) for path, data in files.items()}
        return self.git.import_entries(self.git.empty_tree(), contents)

    def noted(self, files: Mapping[str, bytes], *depends_on: str) -> PacketDecisions:
        """Return what a module with the scope `app/engine.py` is told."""
        plan = Plan.model_validate_json(
            json.dumps({
                "version": 1,
                "name": "t",
                "modules_map": {"Rules": ["rules/"]},
                "phases": [{"id": "p", "modules": [
                    {"id": "E", "purpose": "x", "write_scope": ["app/engine.py"], "depends_on": depends_on}
                ]}],
            })
        )  # fmt: skip
        tree, module = self.tree(files), plan.module("E")
        return noted(self.git, tree, plan, module, self.knowledge.excerpt(tree, plan, module))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.git.close()


@pytest.mark.parametrize(
    ("path", "text", "rationale", "rejected"),
    [
        ("a.ts", "// @RATIONALE: speed\n", ("a.ts:1 speed",), ()),
        ("a.sql", "select 1\n-- @REJECTED   a view\n", (), ("a.sql:2 a view",)),
        ("a.c", "/*\n * @RATIONALE one\n *   two */\n", ("a.c:2 one two",), ()),
        ("a.html", "<!-- @REJECTED tables -->\n", (), ("a.html:1 tables",)),
        ("a.py", "# @RATIONALE one\n# two\n# @REJECTED three\n#\n# no more\n", ("a.py:1 one two",), ("a.py:3 three",)),
        ("a.py", "x = 1  # @RATIONALE one\n# not its end\n", ("a.py:1 one",), ()),
        ("a.py", "@RATIONALE no comment\n@rationale\n# @RATIONALES\n", (), ()),
        ("a.py", "# @RATIONALE " + "x" * 9000 + "\n", ("a.py:1 " + "x" * 500,), ()),
        ("a.py", "# @RATIONALE tab\there\x07\r\n", ("a.py:1 tab here\x07",), ()),
    ],
)
def test_notes_are_read_from_comments(
    shelf: Shelf, path: str, text: str, rationale: tuple[str, ...], rejected: tuple[str, ...]
) -> None:
    tree = shelf.tree({path: text.encode(), "other/x.py": b"# @RATIONALE out of scope\n"})
    found = notes(shelf.git, tree, Scope.parse(["*"]))
    assert (found.rationale, found.rejected) == (rationale, rejected)


def test_notes_of_binary_and_odd_files(shelf: Shelf) -> None:
    tree = shelf.tree(
        {"a.bin": b"\0# @RATIONALE \xff\n", "big.py": b"# @RATIONALE big\n" + b"#" * (2 << 20), "caf\udce9": b"#"}
    )
    assert notes(shelf.git, tree, Scope.parse(["**"])).rationale == ("a.bin:1 \ufffd",)


FILES = {
    "app/engine.py": b"# @RATIONALE own\nfrom app.money import Money\nMoney()\n",
    "app/money.py": b"class Money: pass  # @REJECTED used\n",
    "app/use.py": b"# @RATIONALE user\nimport app.engine\n",
    "far/away.py": b"# @RATIONALE far\n",
    "rules/limits.sql": b"-- @RATIONALE declared\n",
}


def test_notes_of_the_scope_come_before_those_of_what_is_near_it(shelf: Shelf) -> None:
    found = shelf.noted(FILES)
    assert found.rationale == ("app/engine.py:1 own", "app/use.py:1 user")
    assert found.rejected == ("app/money.py:1 used",)


def test_files_of_declared_modules_are_near_whatever_they_are(shelf: Shelf) -> None:
    assert shelf.noted(FILES, "Rules").rationale == (
        "app/engine.py:1 own", "rules/limits.sql:1 declared", "app/use.py:1 user",
    )  # fmt: skip


def test_notes_from_around_are_few(shelf: Shelf) -> None:
    many = b"".join(b"# @RATIONALE note %d\n" % number for number in range(99))
    found = shelf.noted({"app/engine.py": many, "rules/a.sql": many.replace(b"#", b"--")}, "Rules").rationale
    assert len(found) == 40 + 12
    assert found[-1] == "rules/a.sql:12 note 11"
