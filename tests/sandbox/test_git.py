"""Git as grace speaks it, against real repositories and the user's worst configuration."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from packets.errors import GraceError, UsageError
from sandbox.git import Content, Entry, Git, RefMoved, refs
from sandbox.git.process import scrubbed

ODD = [
    "a b",
    "-dash",
    'quo"te',
    "tab\there",
    "new\nline",
    "ünï",
    "漢字",
    "emoji-🎉",
    ":(glob)x",
    "back\\slash",
    "x[1]*?",
    "\udcff\udcfe",
]


def tree_of(git, files):
    entries = {path: Entry(mode, git.write_blob(data)) for path, (mode, data) in files.items()}
    return git.write_tree(git.empty_tree(), entries)


# --- finding the repository


def test_b5_no_repository_a_bare_one_and_no_folder_are_one_line_each(tmp_path, home):
    with pytest.raises(UsageError, match="not in a git repository"):
        Git.discover(tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        Git.discover(tmp_path / "none")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    with pytest.raises(UsageError, match="bare"):
        Git.discover(tmp_path / "bare")


def test_b5_a_repository_without_a_commit_says_so(repo, opened):
    git = opened(repo)
    assert git.is_empty()
    assert git.head_branch() == "main"
    assert git.find("HEAD") is None
    with pytest.raises(UsageError) as refused:
        git.resolve("HEAD")
    assert "no commit yet" in refused.value.hint


def test_a_git_folder_is_no_checkout(repo):
    with pytest.raises(UsageError, match="git directory"):
        Git.discover(repo.path / ".git")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_another_user_is_one_line_with_the_way_out(repo, home):
    os.chown(repo.path, 12345, 12345)
    os.chown(repo.path / ".git", 12345, 12345)
    with pytest.raises(UsageError, match="does not trust") as refused:
        Git.discover(repo.path)
    assert "safe.directory" in refused.value.hint
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.path}\n")
    with Git.discover(repo.path) as git:
        assert git.is_empty()


def test_from_a_subfolder_and_from_a_linked_worktree(repo, opened, tmp_path):
    repo.commit({"sub/a": b"a"})
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    with Git.discover(repo.path / "sub") as inside, Git.discover(tmp_path / "linked") as linked:
        assert inside.main == linked.main == repo.path
        assert inside.common == linked.common == repo.path / ".git"
        assert (inside.head_branch(), linked.head_branch()) == ("main", "other")
        assert {(w.path, w.branch) for w in inside.worktrees()} == {
            (repo.path, "refs/heads/main"),
            (tmp_path / "linked", "refs/heads/other"),
        }


def test_inside_a_submodule(repo, tmp_path, home):
    inner = tmp_path / "inner"
    repo.git("init", "-q", "-b", "main", str(inner))
    (inner / "f").write_text("f")
    repo.git("add", "-A", cwd=inner)
    repo.git("commit", "-qm", "inner", cwd=inner)
    repo.commit({"a": b"a"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "mod")
    (repo.path / "mod" / ".gitattributes").write_text("f merge=union\n")
    with Git.discover(repo.path / "mod") as git:
        assert git.main == repo.path / "mod"
        assert git.common == repo.path / ".git" / "modules" / "mod"
        base = git.tree("HEAD")
        one, two = (git.import_entries(base, {"f": Content("100644", text)}) for text in (b"1\n", b"2\n"))
        assert git.merge_trees(base, one, two).conflicts == ("f",)
        assert [w.path for w in git.worktrees()] == [repo.path / "mod"]


def test_a_bare_repository_with_worktrees(tmp_path, repo):
    repo.commit({"a": b"a"})
    bare, work = tmp_path / "bare", tmp_path / "work"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    repo.git("worktree", "add", "-q", str(work), "main", cwd=bare)
    with Git.discover(work) as git:
        assert (git.main, git.common, git.head_branch()) == (work, bare, "main")
        assert [w.path for w in git.worktrees()] == [work]


def test_a_detached_head_has_no_branch(repo, opened):
    repo.commit({"a": b"a"})
    repo.git("checkout", "-q", "--detach")
    assert opened(repo).head_branch() is None


def test_an_environment_that_names_another_repository_is_ignored(repo, tmp_path, opened, monkeypatch):
    commit = repo.commit({"a": b"a"})
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    git = opened(repo)
    assert git.resolve("HEAD") == commit
    assert git.write_blob(b"x")


def test_revisions_that_are_options_or_nothing_are_no_commit(repo, opened):
    repo.commit({"a": b"a"})
    git = opened(repo)
    for rev in ("", "--all", "-h", "nope", "HEAD:a", "a\0b"):
        assert git.find(rev) is None
        with pytest.raises(UsageError):
            git.resolve(rev)


# --- trees


def test_c3_odd_names_and_bytes_come_through(repo, opened):
    git = opened(repo)
    files = {f"dir {i}/{name}": ("100644", name.encode("utf-8", "surrogateescape")) for i, name in enumerate(ODD)}
    tree = tree_of(git, files)
    assert set(git.entries(tree)) == set(files)
    assert {c.path for c in git.changes(git.empty_tree(), tree)} == set(files)
    shas = [entry.blob for entry in git.entries(tree).values()]
    assert sorted(data for _, data in git.blobs(shas)) == sorted(data for _, data in files.values())


def test_a_file_takes_the_place_of_a_folder_and_back(repo, opened):
    git = opened(repo)
    blob = git.write_blob(b"x")
    folder = git.write_tree(git.empty_tree(), {"a/b": Entry("100644", blob), "k": Entry("100755", blob)})
    file = git.write_tree(folder, {"a": Entry("120000", blob), "a/b": None})
    assert git.entries(file) == {"a": Entry("120000", blob), "k": Entry("100755", blob)}
    assert git.write_tree(file, {"a/b": Entry("100644", blob), "a": None}) == folder
    assert {(c.status, c.path) for c in git.changes(folder, file)} == {("D", "a/b"), ("A", "a")}


@pytest.mark.parametrize("path", [".git/config", ".GIT/config", "a/../b", "/etc/x", "a//b", "git~1/x", ".g\u200cit/x"])
def test_names_that_could_hurt_a_checkout_are_refused(repo, opened, path):
    git = opened(repo)
    with pytest.raises(GraceError):
        git.write_tree(git.empty_tree(), {path: Entry("100644", git.write_blob(b"x"))})


def test_import_takes_bytes_and_files_unfiltered(repo, opened, tmp_path, home):
    repo.commit({".gitattributes": b"* text=auto eol=lf\n"})
    (home / ".gitconfig").write_text("[core]\n\tautocrlf = true\n")
    git = opened(repo)
    crlf = b"a\r\nb\r\n"
    (tmp_path / "odd\nname").write_bytes(crlf)
    tree = git.import_entries(
        git.tree("HEAD"),
        {"x": Content("100644", crlf), "y": Content("100755", tmp_path / "odd\nname"), ".gitattributes": None},
    )
    found = git.entries(tree)
    assert {path: (entry.mode, git.blob(entry.blob)) for path, entry in found.items()} == {
        "x": ("100644", crlf),
        "y": ("100755", crlf),
    }


def test_patch_brings_one_tree_to_the_other_exactly(repo, opened):
    repo.commit({"a": b"1\n2\n", "bin": b"\0\1", "gone": b"x"})
    old = opened(repo).tree("HEAD")
    repo.git("rm", "-q", "gone")
    repo.commit({"a": b"1\r\n2", "bin": b"\0\2", "empty": b""})
    git = opened(repo)
    repo.git("checkout", "-q", "--detach", "HEAD~1")
    repo.git("apply", "--index", "-", stdin=git.patch(old, git.tree("main")))
    assert repo.git("write-tree") == git.tree("main")


def test_objects_that_are_missing_or_no_ids_are_errors(repo, opened):
    repo.commit({"a": b"a"})
    git = opened(repo)
    with pytest.raises(GraceError, match="not in the repository"):
        git.blob("0" * 40)
    with pytest.raises(GraceError, match="not an object id"):
        git.blob("HEAD\nHEAD")
    with pytest.raises(GraceError, match="no"):
        git.blob(git.tree("HEAD"))
    assert git.blob(git.entries(git.tree("HEAD"))["a"].blob) == b"a"


def test_a_reader_that_was_killed_is_replaced(repo, opened):
    repo.commit({"a": b"a"})
    git = opened(repo)
    blob = git.entries(git.tree("HEAD"))["a"].blob
    assert git.blob(blob) == b"a"
    for process in git._reader._idle:
        process.kill()
        process.wait()
    assert git.blob(blob) == b"a"


def test_nothing_warns_or_lingers_when_a_git_is_dropped(repo):
    repo.commit({"a": b"a"})
    code = (
        "import gc, sys; from pathlib import Path; from sandbox.git import Git\n"
        "git = Git.discover(Path(sys.argv[1]))\n"
        "git.blob(git.entries(git.tree('HEAD'))['a'].blob); del git; gc.collect()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-X", "dev", "-W", "error", "-c", code, str(repo.path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_replace_refs_do_not_show_other_content(repo, opened):
    commit = repo.commit({"a": b"true"})
    other = repo.commit({"a": b"false"})
    repo.git("replace", commit, other)
    git = opened(repo)
    assert git.blob(git.entries(git.tree(commit))["a"].blob) == b"true"


def test_sha256_repositories(tmp_path, home, opened, repo):
    path = tmp_path / "sha256"
    repo.git("init", "-q", "--object-format=sha256", str(path))
    with Git.discover(path) as git:
        tree = tree_of(git, {"a": ("100644", b"1\n")})
        ours = git.commit(git.write_tree(tree, {"b": Entry("100644", git.write_blob(b"b"))}), [], "x")
        theirs = tree_of(git, {"a": ("100644", b"2\n")})
        merged = git.merge_trees(tree, git.tree(ours), theirs)
        assert len(tree) == 64
        assert set(git.entries(merged.tree)) == {"a", "b"}
        git.update_ref("refs/heads/x", ours, "")
        assert git.refs("refs/heads") == {"refs/heads/x": ours}


# --- commits and merges


def test_r6_no_identity_gpgsign_autocrlf_and_a_global_hooks_path(repo, home, opened, tmp_path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        "[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n"
        f"\thooksPath = {hooks}\n\tfsmonitor = {hooks}/pre-commit\n"
    )
    git = opened(repo)
    tree = git.import_entries(git.empty_tree(), {"a": Content("100644", b"x\r\n")})
    commit = git.commit(tree, [], "first")
    git.update_ref("refs/heads/main", commit, "")
    assert git.identity == "grace <grace@localhost>"
    assert git.log(None, commit)[0].author == git.identity
    assert git.blob(git.entries(tree)["a"].blob) == b"x\r\n"
    assert not (tmp_path / "ran").exists()


def test_a8_the_repositorys_own_hooks_and_filters_do_not_run(repo, opened, tmp_path):
    commit = repo.commit({"a": b"a", ".gitattributes": b"* filter=evil diff=evil merge=evil\n"})
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "merge.evil.driver", "core.fsmonitor"):
        repo.git("config", key, f"touch {tmp_path}/ran; false")
    hook = repo.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    hook.chmod(0o755)
    git = opened(repo)
    base = git.tree(commit)
    one = git.import_entries(base, {"a": Content("100644", b"b")})
    two = git.import_entries(base, {"a": Content("100644", b"c")})
    assert git.merge_trees(base, one, two).conflicts == ("a",)
    assert "+b" in git.diff(base, one)
    git.update_ref("refs/heads/x", git.commit(one, [commit], "m"), "")
    assert not (tmp_path / "ran").exists()


def test_commits_carry_author_date_and_message_as_given(repo, opened):
    git = opened(repo)
    tree = git.empty_tree()
    first = git.commit(
        tree, [], "one\n\nbody\n\nGrace-Run: r1\n", "Ann Other <ann@example.org>", "2020-01-02T03:04:05Z"
    )
    second = git.commit(tree, [first], "two")
    newest, oldest = git.log(None, second)
    assert (oldest.author, oldest.date[:19]) == ("Ann Other <ann@example.org>", "2020-01-02T03:04:05")
    assert oldest.message == "one\n\nbody\n\nGrace-Run: r1\n"
    assert (newest.parents, newest.author) == ((first,), "Zoë <zoe@example.org>")
    assert [c.sha for c in git.log(first, second)] == [second]
    assert (git.is_ancestor(first, second), git.is_ancestor(second, first)) == (True, False)


def test_merges_give_the_tree_or_name_the_conflicts(repo, opened):
    git = opened(repo)
    base = tree_of(git, {"a": ("100644", b"1\n2\n3\n"), "ü b": ("100644", b"x\n")})
    one = git.import_entries(base, {"a": Content("100644", b"0\n2\n3\n"), "ü b": Content("100644", b"y\n")})
    two = git.import_entries(base, {"a": Content("100644", b"1\n2\n4\n")})
    three = git.import_entries(base, {"ü b": None})
    merged = git.merge_trees(base, one, two)
    assert git.blob(git.entries(merged.tree)["a"].blob) == b"0\n2\n4\n"
    assert git.merge_trees(base, one, three) == (None, ("ü b",))
    assert git.merge_trees(base, one, two) == merged


def test_the_checkouts_attributes_take_no_part_in_a_merge(repo, opened):
    repo.commit({"a": b"1\n"})
    git = opened(repo)
    base = git.tree("HEAD")
    repo.write({".gitattributes": b"a merge=union\n"})
    one = git.import_entries(base, {"a": Content("100644", b"2\n")})
    two = git.import_entries(base, {"a": Content("100644", b"3\n")})
    assert git.merge_trees(base, one, two).conflicts == ("a",)


# --- refs


def test_a_lock_that_a_killed_git_left_goes_and_one_of_the_users_stays(repo, opened):
    head, git = repo.commit({"a": b"1"}), opened(repo)
    git.update_ref("refs/heads/grace/r/integration", head, "")
    left = git.common / "refs/heads/grace/r/integration.lock"
    theirs = git.common / "refs/heads/main.lock"
    for lock in (left, theirs):
        lock.touch()
    os.utime(left, (0, 0))
    os.utime(theirs, (0, 0))
    git.free_refs("refs/heads/grace/r/", "refs/grace/runs/r/")
    git.update_ref("refs/heads/grace/r/integration", head, head)
    assert not left.exists()
    with pytest.raises(GraceError, match=r"main\.lock"):
        git.update_ref("refs/heads/main", head, head)
    assert theirs.exists()


@pytest.mark.parametrize(
    "case",
    [
        ("refs/heads/grace/r/integration", "", 60, False, True),
        ("refs/heads/grace/r/integration", "", 0, True, True),
        ("refs/heads/grace/r/integration", "", 0, False, False),
        ("refs/heads/main", "HEAD", 60, False, True),
        ("refs/heads/main", "HEAD", 0, True, True),
        ("refs/heads/main", "HEAD", 0, False, False),
        ("refs/heads/main", "", 60, True, False),
        ("refs/heads/main", "another", 60, True, False),
        ("packed-refs", "", 0, True, True),
        ("packed-refs", "", 0, False, False),
        ("packed-refs", "", 60, True, False),
    ],
)
def test_only_the_lock_of_a_dead_git_of_ours_goes(repo, opened, case):
    """A lock on the user's branch is ours where it holds the commit that we move it to, whoever else was killed."""
    ref, text, age, killed, goes = case
    head, git = repo.commit({"a": b"1"}), opened(repo)
    lock = git.common / f"{ref}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(text.replace("HEAD", f"{head}\n"))
    born = time.time() - age
    os.utime(lock, (born, born))
    moved = "refs/heads/grace/r/x" if ref == "packed-refs" else ref
    found = refs._free(git._runner, moved, ["update-ref", moved, head], time.time() - 1, killed=killed)
    assert (found, lock.exists()) == (goes, not goes)


def test_refs_move_by_compare_and_swap(repo, opened):
    first, second = repo.commit({"a": b"1"}), repo.commit({"a": b"2"})
    git = opened(repo)
    ref = "refs/grace/x/y"
    git.update_ref(ref, first, "")
    with pytest.raises(RefMoved):
        git.update_ref(ref, second, "")
    with pytest.raises(RefMoved):
        git.update_ref(ref, second, second)
    git.update_ref(ref, second, first)
    git.update_ref(ref, first, None)
    assert git.refs("refs/grace") == git.refs("refs/grace/x/y") == {ref: first}
    assert git.refs("refs/gra") == {}
    with pytest.raises(RefMoved):
        git.delete_ref(ref, second)
    git.delete_ref(ref, first)
    git.delete_ref(ref)
    assert git.refs("refs/grace") == {}


@pytest.mark.parametrize("args", [("hash-object", "-w", "--stdin"), ("update-ref", "refs/heads/other", "HEAD")])
def test_objects_and_refs_are_on_the_disk_before_anybody_relies_on_them(repo, tmp_path, args):
    """The state is synced, so what it names has to be: a record may not outlive its commit in a power loss."""
    repo.commit({"a.txt": b"a\n"})
    env = scrubbed() | {"GIT_TRACE2_PERF": str(tmp_path / "trace")}
    subprocess.run(["git", *args], cwd=repo.path, env=env, input=b"fresh\n", capture_output=True, check=True)
    assert "fsync/hardware-flush" in (tmp_path / "trace").read_text()


@pytest.mark.parametrize("ref", ["HEAD", "main", "refs/heads/a..b", "refs/heads/x.lock", "refs/heads/a b", "--stdin"])
def test_a_name_that_is_no_full_ref_is_refused(repo, opened, ref):
    commit = repo.commit({"a": b"1"})
    with pytest.raises(GraceError):
        opened(repo).update_ref(ref, commit, None)


def test_d1_eight_workers_finish_at_the_same_moment(repo, opened):
    first = repo.commit({"a": b"1"})
    git = opened(repo)
    git.update_ref("refs/heads/sum", first, "")
    gate = threading.Barrier(8)

    def work(number):
        gate.wait()
        blob = git.write_blob(str(number).encode())
        while True:
            tip = git.refs("refs/heads/sum")["refs/heads/sum"]
            tree = git.write_tree(git.tree(tip), {f"f{number}": Entry("100644", blob)})
            try:
                git.update_ref("refs/heads/sum", git.commit(tree, [tip], f"{number}"), tip)
            except RefMoved:
                continue
            return git.blob(blob)

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == [str(n).encode() for n in range(8)]
    assert set(git.entries(git.tree("sum"))) == {"a", *(f"f{n}" for n in range(8))}
    assert len(git.log(first, git.resolve("sum"))) == 8


def test_d3_a_locked_index_of_the_users_is_no_matter(repo, opened):
    repo.commit({"a": b"1"})
    (repo.path / ".git" / "index.lock").write_bytes(b"")
    git = opened(repo)
    tree = git.import_entries(git.tree("HEAD"), {"b": Content("100644", b"b")})
    git.update_ref("refs/heads/x", git.commit(tree, [git.resolve("HEAD")], "m"), "")
    assert (repo.path / ".git" / "index.lock").exists()


def test_exclude_writes_its_line_once_and_keeps_the_users(repo, opened):
    path = repo.path / ".git" / "info" / "exclude"
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    git = opened(repo)
    git.exclude("/.grace/")
    git.exclude("/.grace/")
    assert path.read_text() == "mine\n/.grace/\n"
    repo.write({".grace/x": b"x"})
    assert repo.git("status", "--short") == ""
