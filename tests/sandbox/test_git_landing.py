"""The user's checkout at landing: brought to the new tree, or left exactly as it was."""

import pytest

from packets.errors import WaitingForPerson
from sandbox.git import Content

BASE = {"a": b"1\n", "b": b"1\n", "dir/c": b"1\n"}


@pytest.fixture
def landed(repo, opened):
    """A repository with a new tree to land: a changed, b gone, new/d added."""
    repo.commit(BASE)
    git = opened(repo)
    old = git.tree("HEAD")
    new = git.import_entries(
        old,
        {"a": Content("100755", b"2\n"), "b": None, "new/d": Content("100644", b"d\r\n"), "l": Content("120000", b"a")},
    )
    return git, old, new


def snapshot(repo):
    """All that a person could see of a checkout."""
    files = {
        str(p.relative_to(repo.path)): p.read_bytes()
        for p in repo.path.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(repo.path).parts
    }
    return files, repo.git("ls-files", "-s"), repo.git("status", "--porcelain")


def move_head(git, new):
    git.update_ref("refs/heads/main", git.commit(new, [git.resolve("main")], "landed"), None)


def test_a_clean_checkout_is_clean_afterwards_and_again(repo, landed):
    git, old, new = landed
    git.update_worktree(repo.path, old, new)
    git.update_worktree(repo.path, old, new)  # a crash before the ref moved: the same once more
    move_head(git, new)
    assert repo.git("status", "--porcelain") == ""
    assert (repo.path / "new/d").read_bytes() == b"d\r\n"
    assert not (repo.path / "b").exists()
    assert (repo.path / "l").is_symlink()


HALF = {
    "a": lambda top: ((top / "a").write_bytes(b"2\n"), (top / "a").chmod(0o755)),
    "b": lambda top: (top / "b").unlink(),
    "new/d": lambda top: ((top / "new").mkdir(), (top / "new/d").write_bytes(b"d\r\n")),
    "l": lambda top: (top / "l").symlink_to("a"),
}


@pytest.mark.parametrize("count", range(1, 5))
def test_a_checkout_that_a_killed_git_left_half_way_is_taken_the_rest_of_the_way(repo, landed, count):
    """Git writes the files one by one and the index last."""
    git, old, new = landed
    for done in list(HALF.values())[:count]:
        done(repo.path)
    git.update_worktree(repo.path, old, new)
    move_head(git, new)
    assert repo.git("status", "--porcelain") == ""
    assert git.tree("main") == new


def test_half_way_with_an_edit_in_the_way_changes_nothing(repo, landed):
    git, old, new = landed
    for path in ("b", "new/d"):
        HALF[path](repo.path)
    repo.write({"a": b"mine\n"})
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson):
        git.update_worktree(repo.path, old, new)
    assert snapshot(repo) == before


def test_unrelated_edits_stay(repo, landed):
    git, old, new = landed
    repo.write({"dir/c": b"mine\n", "untracked": b"mine\n"})
    repo.git("add", "dir/c")
    git.update_worktree(repo.path, old, new)
    move_head(git, new)
    assert repo.git("status", "--porcelain").splitlines() == ["M  dir/c", "?? untracked"]
    assert (repo.path / "dir/c").read_bytes() == b"mine\n"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"a": b"mine\n"}, "your edits of a"),
        ({"b": b"mine\n"}, "your edits of b"),
        ({"new/d": b"x"}, "untracked new/d"),
    ],
)
def test_b1_edits_in_the_way_are_refused_and_nothing_changes(repo, landed, edit, said):
    git, old, new = landed
    repo.write(edit)
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson, match=said) as refused:
        git.update_worktree(repo.path, old, new)
    assert "grace resume" in refused.value.hint
    assert snapshot(repo) == before


def test_staged_edits_in_the_way_are_refused(repo, landed):
    git, old, new = landed
    repo.write({"a": b"mine\n"})
    repo.git("add", "a")
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson, match="a"):
        git.update_worktree(repo.path, old, new)
    assert snapshot(repo) == before


def test_an_ignored_file_in_the_way_is_not_overwritten(repo, landed):
    git, old, new = landed
    repo.write({".git/info/exclude": b"new/\n", "new/d": b"precious"})
    with pytest.raises(WaitingForPerson, match="untracked"):
        git.update_worktree(repo.path, old, new)
    assert (repo.path / "new/d").read_bytes() == b"precious"


def test_untracked_things_in_the_way_of_folders_and_files_are_refused(repo, opened):
    repo.commit({"x/tracked": b"1", ".gitignore": b"*.o\nbuild\n"})
    git = opened(repo)
    old = git.tree("HEAD")
    file_for_folder = git.import_entries(old, {"x": Content("100644", b"f"), "x/tracked": None})
    folder_for_file = git.import_entries(old, {"build/new": Content("100644", b"f")})
    repo.write({"x/precious.o": b"p", "build": b"p"})
    before = snapshot(repo)
    for new, named in ((file_for_folder, "x/precious.o"), (folder_for_file, "build")):
        with pytest.raises(WaitingForPerson, match=named):
            git.update_worktree(repo.path, old, new)
        assert snapshot(repo) == before


def test_an_edit_that_git_was_told_not_to_see_is_refused(repo, landed):
    git, old, new = landed
    repo.git("update-index", "--assume-unchanged", "a")
    repo.write({"a": b"mine\n"})
    with pytest.raises(WaitingForPerson, match="assume-unchanged"):
        git.update_worktree(repo.path, old, new)
    assert (repo.path / "a").read_bytes() == b"mine\n"


def test_d3_a_lock_is_never_stolen(repo, landed):
    git, old, new = landed
    lock = repo.path / ".git" / "index.lock"
    lock.write_bytes(b"")
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson, match="locked") as refused:
        git.update_worktree(repo.path, old, new)
    assert str(lock) in refused.value.hint
    assert lock.exists()
    lock.unlink()
    assert snapshot(repo) == before
    git.update_worktree(repo.path, old, new)


def test_a_merge_in_progress_is_refused(repo, landed):
    git, old, new = landed
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"dir/c": b"2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"dir/c": b"3\n"})
    repo.git("merge", "other", ok=False)
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson, match="merge"):
        git.update_worktree(repo.path, old, new)
    assert snapshot(repo) == before


def test_b1_a_linked_worktree(repo, landed, tmp_path):
    git, old, new = landed
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "side", str(linked))
    git.update_worktree(linked, old, new)
    git.update_ref("refs/heads/side", git.commit(new, [git.resolve("side")], "landed"), None)
    assert repo.git("status", "--porcelain", cwd=linked) == ""
    assert repo.git("status", "--porcelain") == ""
    assert (linked / "new/d").exists()
    assert not (repo.path / "new").exists()


def test_touched_but_unchanged_files_are_no_edits(repo, landed):
    git, old, new = landed
    for name in ("a", "b"):
        (repo.path / name).touch()
    git.update_worktree(repo.path, old, new)
    assert (repo.path / "a").read_bytes() == b"2\n"


def test_r6_the_users_line_endings_and_filters_count_in_the_users_checkout(repo, home, opened, tmp_path):
    config = home / ".gitconfig"
    config.write_text(
        config.read_text()
        + '[core]\n\tautocrlf = true\n[filter "up"]\n\tclean = tr A-Z a-z\n\tsmudge = tr a-z A-Z\n\trequired = true\n'
    )
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write({".gitattributes": b"*.up filter=up\n", "x.up": b"ABC", "t.txt": b"1\r\n2\r\n"})
    repo.git("add", "-A")
    repo.git("commit", "-qm", "first")
    git = opened(repo)
    old = git.tree("HEAD")
    assert git.blob(git.entries(old)["t.txt"].blob) == b"1\n2\n"
    new = git.import_entries(old, {"x.up": Content("100644", b"def"), "t.txt": Content("100644", b"1\n3\n")})
    git.update_worktree(repo.path, old, new)
    git.update_ref("refs/heads/fresh", git.commit(new, [git.resolve("HEAD")], "m"), None)
    assert (repo.path / "t.txt").read_bytes() == b"1\r\n3\r\n"
    assert (repo.path / "x.up").read_bytes() == b"DEF"
    assert repo.git("status", "--porcelain") == ""


def test_a_filter_that_breaks_half_way_leaves_the_checkout_as_it_was(repo, opened):
    repo.commit({"a": b"1\n", "gone": b"g\n", ".gitattributes": b"z* filter=bad\n"})
    git = opened(repo)
    old = git.tree("HEAD")
    new = git.import_entries(
        old,
        {"a": Content("100644", b"2\n"), "gone": None, "b/c": Content("100644", b"n"), "zz": Content("100644", b"z")},
    )
    repo.git("config", "filter.bad.smudge", "false")
    repo.git("config", "filter.bad.required", "true")
    before = snapshot(repo)
    with pytest.raises(WaitingForPerson):
        git.update_worktree(repo.path, old, new)
    assert snapshot(repo) == before


def test_hooks_do_not_run_at_landing(repo, landed, tmp_path):
    git, old, new = landed
    hooks = repo.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "post-merge"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    git.update_worktree(repo.path, old, new)
    assert not (tmp_path / "ran").exists()
