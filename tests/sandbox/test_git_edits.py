"""What a checkout holds beyond its commit: read as its user would, and nothing of it changed."""

import os
import shutil
import subprocess

import pytest

from packets.errors import GraceError
from sandbox.git import Git

AS = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
FILES = ("kept", "changed", "gone", "staged", "odd\nname", "-dash", "ünï")


class Checkout:
    def __init__(self, path):
        self.path = path

    def git(self, *args):
        asked = subprocess.run(["git", *AS, *args], cwd=self.path, capture_output=True, check=True)
        return asked.stdout.decode().strip()

    def write(self, **files):
        for name, text in files.items():
            (self.path / name).write_bytes(text.encode())

    def state(self):
        return [self.git("ls-files", "-s"), self.git("status", "--porcelain", "-uall"), self.git("rev-parse", "HEAD")]

    def look(self):
        """The edits, and the tree with them, which is what git itself would commit."""
        with Git.discover(self.path) as git:
            found = git.edits()
            return found, git.edited_tree(found)

    def committed(self):
        """The tree of `git commit -a`, made with an index of its own."""
        spot = self.path.parent / "index"
        shutil.copyfile(self.path / ".git" / "index", spot)
        index = {**os.environ, "GIT_INDEX_FILE": str(spot)}
        subprocess.run(["git", "add", "-u"], cwd=self.path, env=index, check=True)
        asked = subprocess.run(["git", "write-tree"], cwd=self.path, env=index, check=True, capture_output=True)
        return asked.stdout.decode().strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    made = Checkout(tmp_path / "repo")
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write(**{name: f"{name}\n" for name in FILES})
    (made.path / "link").symlink_to("kept")
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "the first")
    return made


def test_a_clean_checkout_is_its_commit(checkout):
    checkout.write(untracked="x\n")
    assert checkout.look() == ((), checkout.git("rev-parse", "HEAD^{tree}"))


def test_edits_are_what_git_would_commit_and_nothing_is_touched(checkout):
    checkout.write(**{"changed": "new\n", "odd\nname": "new\n", "-dash": "new\n", "ünï": "new\n", "untracked": "x"})
    (checkout.path / "gone").unlink()
    (checkout.path / "kept").chmod(0o755)
    (checkout.path / "link").unlink()
    (checkout.path / "link").symlink_to("changed")
    checkout.write(staged="new\n")
    checkout.git("add", "staged")
    before = checkout.state()
    found, tree = checkout.look()
    assert {edit.path for edit in found} == {*FILES, "link"}
    assert tree == checkout.committed()
    assert checkout.state() == before


def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round(checkout):
    checkout.git("rm", "-q", "gone")
    (checkout.path / "gone").mkdir()
    checkout.write(**{"gone/inside": "x\n"})
    checkout.git("add", "gone/inside")
    assert checkout.look()[1] == checkout.committed()


def test_the_users_line_endings_and_filters_count(checkout):
    checkout.write(
        **{".gitattributes": "*.txt text eol=crlf\n*.up filter=up\n", "a.txt": "a\r\nb\r\n", "b.up": "low\n"}
    )
    checkout.git("config", "filter.up.clean", "tr a-z A-Z")
    checkout.git("add", "-A")
    checkout.git("commit", "-q", "-m", "more")
    os.utime(checkout.path / "a.txt", (1, 1))
    checkout.write(**{"b.up": "lower\n"})
    found, tree = checkout.look()
    assert tree == checkout.committed()
    assert checkout.git("show", f"{tree}:b.up") == "LOWER"
    assert "b.up" in {edit.path for edit in found}


def test_the_stamp_moves_with_the_file(checkout):
    checkout.write(changed="one\n")
    (first,) = checkout.look()[0]
    checkout.write(changed="more\n")
    (second,) = checkout.look()[0]
    assert (first.path, first.mode) == (second.path, second.mode)
    assert first.stamp != second.stamp


def test_a_checkout_without_a_commit_is_refused(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with Git.discover(tmp_path) as git, pytest.raises(GraceError, match="cannot read the checkout"):
        git.edits()
