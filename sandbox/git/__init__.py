"""Git, spoken here and nowhere else: scrubbed environment, hooks and filters off, `--` before paths, `-z` for names."""

from sandbox.git.edits import Edit
from sandbox.git.repository import Git
from sandbox.git.values import Change, Commit, Content, Entry, MergeResult, RefMoved, Worktree

__all__ = ["Change", "Commit", "Content", "Edit", "Entry", "Git", "MergeResult", "RefMoved", "Worktree"]
