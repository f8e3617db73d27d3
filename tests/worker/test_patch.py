"""Which patches are refused, and that our reading of a patch is git's."""

import hashlib
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packets.errors import UsageError
from sandbox.git import Content, Entry
from worker.agents.diff import UnclearDiff, touched
from worker.agents.patch import Patch

NEW = b"new file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n"


def new_file(path):
    return b"diff --git a/%s b/%s\n" % (path, path) + NEW % path


SCOPE = ("app/", "docs/*.md")
REFUSED = {
    "parent": (new_file(b"../x"), "../x"),
    "parent inside": (new_file(b"app/../../x"), "app/../../x"),
    "absolute": (new_file(b"/etc/x"), "/etc/x"),
    "git config": (new_file(b".git/config"), ".git/config"),
    "git config in capitals": (new_file(b"app/.GIT/config"), ".GIT"),
    "git by its short name": (new_file(b"app/git~1/config"), "git~1"),
    "outside": (new_file(b"lib/x"), "lib/x"),
    "the second of two": (new_file(b"app/x") + new_file(b"lib/x"), "lib/x"),
    "after a mail": (b"From: a\nSubject: b\n\n---\n a | 1 +\n\n" + new_file(b"lib/x") + b"-- \n2.39\n", "lib/x"),
    "quoted": (b'diff --git "a/\\303\\244/x" "b/\\303\\244/x"\nnew file mode 100644\n', "ä/x"),
    "plain diff": (b"--- a/lib/x\n+++ b/lib/x\n@@ -1 +1 @@\n-a\n+b\n", "lib/x"),
    "plain diff with a time": (b"--- a/lib/x\t2020-01-01\n+++ b/lib/x\t2020-01-01\n@@ -1 +1 @@\n-a\n+b\n", "lib/x"),
    "rename out": (b"diff --git a/app/a b/lib/a\nsimilarity index 100%\nrename from app/a\nrename to lib/a\n", "lib/a"),
    "rename in": (b"diff --git a/lib/a b/app/a\nsimilarity index 100%\nrename from lib/a\nrename to app/a\n", "lib/a"),
    "copy out": (b"diff --git a/app/a b/lib/a\nsimilarity index 100%\ncopy from app/a\ncopy to lib/a\n", "lib/a"),
    "removal": (
        b"diff --git a/lib/a b/lib/a\ndeleted file mode 100644\n--- a/lib/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        "lib/a",
    ),
    "mode": (b"diff --git a/lib/a b/lib/a\nold mode 100644\nnew mode 100755\n", "lib/a"),
    "binary": (
        b"diff --git a/lib/a b/lib/a\nindex 0..1 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n",
        "lib/a",
    ),
    "two names": (b"diff --git a/app/a b/app/a\n--- a/app/a\n+++ b/lib/b\n@@ -1 +1 @@\n-a\n+b\n", "lib/b"),
    "no header": (b"@@ -1 +1 @@\n-a\n+b\n", "without the name"),
    "no prefix": (b"diff --git x x\nold mode 100644\nnew mode 100755\n", "no file for certain"),
    "unended quote": (b'diff --git "a/x b/x\nold mode 100644\n', "quoted name"),
    "short hunk": (b"--- a/app/x\n+++ b/app/x\n@@ -1,3 +1,3 @@\n a\n", "inside a hunk"),
    "alien line": (b"--- a/app/x\n+++ b/app/x\n@@ -1,2 +1,2 @@\n a\nevil\n", "belongs to none"),
    "submodule": (
        b"diff --git a/app/m b/app/m\nnew file mode 160000\n--- /dev/null\n+++ b/app/m\n@@ -0,0 +1 @@\n+x\n",
        "submodule",
    ),
    "odd mode": (b"diff --git a/app/m b/app/m\nnew file mode 104755\n", "mode"),
    "plain name with a space": (b"--- a/app/x y\n+++ b/app/x y\n@@ -1 +1 @@\n-a\n+b\n", "space"),
    "through a new link": (
        b"diff --git a/app/l b/app/l\nnew file mode 120000\n--- /dev/null\n+++ b/app/l\n@@ -0,0 +1 @@\n+/tmp\n"
        b"\\ No newline at end of file\n" + new_file(b"app/l/x"),
        "symbolic links: app/l/x",
    ),
    "through a link of the base": (new_file(b"app/old-link/x"), "symbolic links: app/old-link/x"),
    "empty": (b"", "git cannot read"),
    "nonsense": (b"hello\n", "git cannot read"),
}


@pytest.fixture
def base(git):
    tree = git.write_tree(git.tree("main"), {"app/old-link": Entry("120000", git.write_blob(b"/tmp"))})
    git.update_ref("refs/heads/main", git.commit(tree, [], "b", "A <a@b>"), None)
    return tree


@pytest.mark.parametrize("name", REFUSED)
def test_f2_refused(git, base, packets, name):
    data, said = REFUSED[name]
    assert said in Patch(data).refusal(packets.patch(SCOPE), git)


@pytest.mark.parametrize(
    "data",
    [
        new_file(b"app/x"),
        new_file(b"app/deep/er"),
        new_file(b"docs/x.md"),
        b"--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n",
        b"diff --git a/README.md b/app/r\nsimilarity index 100%\ncopy from README.md\ncopy to app/r\n",
        b"diff --git a/app/a.py b/app/a.py\n--- a/app/a.py\n+++ b/app/a.py\n@@ -1 +1 @@\n--- a/lib/x\n+++ b/lib/x\n",
        b"diff --git a/app/a b c b/app/a b c\nold mode 100644\nnew mode 100755\n",
    ],
    ids=["new", "deep", "glob", "plain", "copy in", "a hunk that looks like a header", "spaces"],
)
def test_taken(git, base, packets, data):
    assert Patch(data).refusal(packets.patch(SCOPE), git) == ""


def test_a_link_that_gives_way_to_a_folder_is_no_link(git, base, packets):
    head = git.import_entries(base, {"app/old-link": None, "app/old-link/x": Content("100644", b"x")})
    assert Patch(git.patch(base, head)).refusal(packets.patch(SCOPE), git) == ""


def test_a_patch_file_that_is_gone_or_changed_is_wrong_usage(tmp_path):
    file = tmp_path / "x.diff"
    with pytest.raises(UsageError, match="cannot read"):
        Patch.read(file, "")
    file.write_bytes(b"one")
    digest = "sha256:" + hashlib.sha256(b"one").hexdigest()
    assert Patch.read(file, digest).data == b"one"
    file.write_bytes(b"two")
    with pytest.raises(UsageError, match="changed"):
        Patch.read(file, digest)


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=5
)
PATHS = st.lists(NAMES.filter(lambda n: n not in {".", ".."} and "git" not in n.lower()), min_size=1, max_size=3)
TREES = st.dictionaries(PATHS.map("/".join), st.binary(max_size=12), max_size=4)


def written_tree(root, files):
    """Write a tree by real git; None when git takes a name for no path."""

    def git(*args, stdin=b""):
        return subprocess.run(["git", "-C", str(root), *args], input=stdin, capture_output=True, check=True).stdout

    git("read-tree", "--empty")
    for path, data in files.items():
        blob = git("hash-object", "-w", "--stdin", stdin=data).strip()
        try:
            git("update-index", "-z", "--index-info", stdin=b"100644 %s\t%s\0" % (blob, path.encode()))
        except subprocess.CalledProcessError:
            return None
    return git("write-tree").decode().strip()


@settings(max_examples=25, deadline=None)
@given(old=TREES, new=TREES, renames=st.booleans())
def test_our_reading_of_gits_own_diffs_is_complete(old, new, renames, tmp_path_factory):
    """What git writes when it compares two folders, `touched` names; nothing more."""
    names = (*old, *new)
    root = tmp_path_factory.mktemp("trees")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    fitting = [{p: d for p, d in t.items() if not any(n.startswith(f"{p}/") for n in names)} for t in (old, new)]
    trees = [written_tree(root, files) for files in fitting]
    if None in trees:
        return

    def compare(*flags):
        asked = ["git", "-C", str(root), "diff-tree", "-r", *flags, *trees]
        return subprocess.run(asked, capture_output=True, check=True).stdout

    diff = compare("-p", "--binary", "-M" if renames else "--no-renames")
    changed = compare("-z", "--name-only", "--no-renames").split(b"\0")[:-1]
    assert touched(diff).written == {name.decode() for name in changed}


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_are_read_or_unclear(data):
    for prefix in (b"", b"diff --git ", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", b'diff --git "'):
        try:
            touched(prefix + data)
        except UnclearDiff:
            continue
