"""Names that git and the file systems below it would take for git's own folder."""

import pytest

from packets.forbidden import path_fault


@pytest.mark.parametrize(
    "path",
    [
        *("", "/x", "a/", "a//b", ".", "a/..", "../a", "a\0"),
        *(".git", ".Git/config", "x/.git/y", "git~1", "x/GIT~1/y", ".git.", ".git  ", ".git. .", ".git:x", ".git\\x"),
        *(".g\u200dit", "\ufeff.git", ".git\u200c"),
        *(".grace", ".Grace/x"),
    ],
)
def test_forbidden(path):
    assert path_fault(path)


@pytest.mark.parametrize(
    "path",
    [
        *("a", "a/b", "...", ".gitignore", ".gitmodules", ".github/x", "git", "x.git", ".gi", "git~2", "git~10"),
        *(".gitx", "a/.grace", ".graceful", "..a", ".\u200c", "fine", "tail", "bad", "\udce9"),
    ],
)
def test_allowed(path):
    assert path_fault(path) is None
