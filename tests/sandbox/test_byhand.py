"""A person's hand: a throwaway checkout, their own editor or shell, and the tree they leave."""

import shlex
import stat
import sys

import pytest

from packets.errors import GraceError
from packets.outcome import AnomalyKind
from sandbox.byhand import by_hand
from sandbox.git import Git


@pytest.fixture
def git(repo):
    repo.commit({"src/a.txt": b"a\n", "src/b.txt": b"b\n", "run.sh": b"#!/bin/sh\n"})
    with Git.discover(repo.path) as opened:
        yield opened


@pytest.fixture
def hand(tmp_path, monkeypatch):
    """Make a program that does `body` with its arguments, and be it the editor, or the shell."""

    def make(body, variable="EDITOR"):
        program = tmp_path / "hand.py"
        program.write_text(f"import os, sys\nfrom pathlib import Path\nargs = sys.argv[1:]\n{body}\n")
        script = tmp_path / "hand"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(program))} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        for name in ("VISUAL", "EDITOR", "SHELL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(variable, str(script))
        return script

    return make


def test_the_editor_gets_the_paths_and_what_it_leaves_is_the_tree(git, hand, tmp_path, repo):
    seen = tmp_path / "seen"
    hand(f"Path({str(seen)!r}).write_text(' '.join(args))\nPath(args[1]).write_text('better\\n')")
    before = git.tree("HEAD")
    left = by_hand(git, before, ["src/a.txt", "src/b.txt"], shell=False)
    assert seen.read_text() == "-- src/a.txt src/b.txt"
    assert git.blob(git.entries(left.tree)["src/a.txt"].blob) == b"better\n"
    assert [c.path for c in git.changes(before, left.tree)] == ["src/a.txt"]
    assert left.anomalies == ()
    assert (repo.path / "src/a.txt").read_bytes() == b"a\n", "the user's own checkout does not change"


def test_who_changes_nothing_leaves_the_same_tree(git, hand):
    hand("sys.exit(1)")
    tree = git.tree("HEAD")
    assert by_hand(git, tree, ["src/a.txt"], shell=False).tree == tree


def test_a_shell_stands_in_the_tree_and_may_do_anything(git, hand):
    hand(
        "Path('new').mkdir()\nPath('new/x').write_text('x')\nos.unlink('src/b.txt')\nos.chmod('run.sh', 0o755)\n"
        "os.symlink('a.txt', 'src/link')\nos.mkfifo('pipe')\nos.system('git init -q nested')",
        "SHELL",
    )
    before = git.tree("HEAD")
    left = by_hand(git, before, [], shell=True)
    entries = git.entries(left.tree)
    assert {"new/x", "src/link"} <= entries.keys()
    assert "src/b.txt" not in entries
    assert (entries["run.sh"].mode, entries["src/link"].mode) == ("100755", "120000")
    assert {a.kind for a in left.anomalies} == {AnomalyKind.SPECIAL, AnomalyKind.NESTED_REPO}


def test_visual_goes_before_editor_and_may_have_arguments(git, hand, monkeypatch, tmp_path):
    seen = tmp_path / "seen"
    script = hand(f"Path({str(seen)!r}).write_text(' '.join(args))")
    monkeypatch.setenv("VISUAL", f"{script} --wait")
    monkeypatch.setenv("EDITOR", "false")
    by_hand(git, git.tree("HEAD"), [], shell=False)
    assert seen.read_text() == "--wait ."


@pytest.mark.parametrize("variable", ["EDITOR", "SHELL"])
def test_a_program_that_is_not_there_is_one_line(git, monkeypatch, variable):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(variable, "/nowhere/editor")
    with pytest.raises(GraceError, match="cannot start /nowhere/editor") as caught:
        by_hand(git, git.tree("HEAD"), ["src/a.txt"], shell=variable == "SHELL")
    assert caught.value.hint


def test_nothing_of_it_stays_behind(git, hand, tmp_path, monkeypatch):
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    hand("Path('locked').mkdir()\nPath('locked/x').write_text('x')\nos.chmod('locked', 0)")
    left = by_hand(git, git.tree("HEAD"), ["src/a.txt"], shell=False)
    assert "locked/x" in git.entries(left.tree)
    assert list(scratch.iterdir()) == []
