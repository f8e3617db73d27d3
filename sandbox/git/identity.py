"""Whether git, as its user runs it, knows who commits."""

from pathlib import Path

from sandbox.git.process import start, users_environment


def has_identity(worktree: Path) -> bool:
    """Say whether `git commit` there would find a name and an address."""
    return start(("var", "GIT_COMMITTER_IDENT"), worktree, users_environment({})).code == 0
