"""One repository of the user's, for any number of threads."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from packets.errors import UsageError
from sandbox.effect import effect
from sandbox.git import conflicts, discovery, landing, private, refs, trees
from sandbox.git.edits import Edit, edited_tree, edits
from sandbox.git.objects import Reader, checked, write_blob, write_blobs
from sandbox.git.process import Runner
from sandbox.git.values import Change, Commit, Content, Entry, MergeResult, Worktree, decode
from sandbox.roots import Roots

if TYPE_CHECKING:
    from sandbox.git.push import Pushed

_TREES_KEPT = 4


class Git:
    """Reads and writes one repository by plumbing; never its index, hooks, filters, or anybody's configuration.

    Objects go to the user's own store and are unreachable until a ref holds them: hang what must stay on a ref. (Git
    prunes unreachable objects after two weeks, so the time between is no danger.) `update_worktree` alone touches a
    checkout. Close it, or use it in `with`, to end its reader processes at once; else they end with it.
    """

    def __init__(self, common: Path, main: Path, own: Path | None = None, top: Path | None = None) -> None:
        self.common, self.main = common, main
        self.top = top or main
        self._own = own or common
        self._runner = Runner(common)
        self._reader = Reader(self._runner)
        self._exclude_lock = threading.Lock()
        self._entries: dict[str, dict[str, Entry]] = {}  # trees never change; the one used longest ago goes first
        self._entries_lock = threading.Lock()

    @classmethod
    def discover(cls, start: Path, *, quick: bool = False) -> "Git":
        """Open the repository around `start`; raises UsageError (none, bare, not trusted) or MachineLacks (git)."""
        with effect("repository.read"):
            place = discovery.discover(start, quick=quick)
        return cls(place.common, place.main, place.own, place.top)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the reader processes; the repository can be used again afterwards."""
        self._reader.close()

    @property
    def roots(self) -> Roots:
        """Where grace keeps things."""
        return Roots(common=self.common, main=self.main)

    # --- names -> ids

    def find(self, rev: str) -> str | None:
        """Return the commit that `rev` names, seen from the checkout we were opened in, or None."""
        return self._parsed(rev, "commit")

    def resolve(self, rev: str) -> str:
        """Return the commit that `rev` names; raises UsageError."""
        if found := self.find(rev):
            return found
        hint = (
            "the repository has no commit yet: git add -A && git commit" if self.is_empty() else "see `git branch -a`"
        )
        raise UsageError(f"no such commit: {rev}", hint)

    def tree(self, rev: str) -> str:
        """Return the tree of a commit, or of a tree itself; raises UsageError."""
        if found := self._parsed(rev, "tree"):
            return found
        raise UsageError(f"no such tree: {rev}", "name a commit, branch, tag or tree that is here")

    def _parsed(self, rev: str, kind: str) -> str | None:
        if not rev or rev.startswith("-") or "\0" in rev:
            return None
        own = self._own if self._own.is_dir() else self.common
        asked = self._runner.ask(
            "rev-parse", "--verify", "--quiet", f"{rev}^{{{kind}}}", env={"GIT_DIR": str(own)}
        )  # fmt: skip
        return asked.out.decode().strip() if asked.code == 0 else None

    def head_branch(self) -> str | None:
        """Return the short name of the branch that is checked out where we were opened; None when detached."""
        asked = self._runner.ask("symbolic-ref", "--quiet", "--short", "HEAD", env={"GIT_DIR": str(self._own)})
        return decode(asked.out).strip() if asked.code == 0 else None

    def is_empty(self) -> bool:
        """Say whether there is no commit yet."""
        return self.find("HEAD") is None and not self._runner.run("for-each-ref", "--count=1")

    # --- trees and blobs

    def entries(self, tree: str) -> dict[str, Entry]:
        """List every path of the tree, recursively."""
        with self._entries_lock:
            known = self._entries.pop(tree, None)
        if known is None:
            known = trees.entries(self._runner, tree)
        with self._entries_lock:
            self._entries[tree] = known
            while len(self._entries) > _TREES_KEPT:
                del self._entries[next(iter(self._entries))]
        return dict(known)

    def blob(self, sha: str) -> bytes:
        """Return a blob's bytes; raises GraceError when it is missing."""
        return next(iter(self._reader.blobs([sha])))[1]

    def blobs(self, shas: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Give (id, bytes) of each, in order."""
        return self._reader.blobs(list(shas))

    def changes(self, tree_a: str, tree_b: str) -> tuple[Change, ...]:
        """Compare two trees path by path; a rename is a D and an A."""
        return trees.changes(self._runner, tree_a, tree_b)

    def diff(self, tree_a: str, tree_b: str, color: bool = False, stat: bool = False) -> str:  # noqa: FBT001, FBT002
        """Return the difference for people to read."""
        return trees.diff(self._runner, tree_a, tree_b, color=color, stat=stat)

    def patch(self, tree_a: str, tree_b: str) -> bytes:
        """Return the exact difference, as `git apply` and the patch agent take it."""
        return trees.patch(self._runner, tree_a, tree_b)

    def patch_paths(self, data: bytes) -> tuple[str, ...]:
        """Return the files that `git apply -p1` reads in a diff; raises GraceError for one that it cannot read."""
        return trees.patch_paths(self._runner, data)

    def write_blob(self, data: bytes) -> str:
        """Write a blob and return its id."""
        return write_blob(self._runner, data)

    def write_blobs(self, sources: Sequence[bytes | Path]) -> list[str]:
        """Write many blobs, given as bytes or as files of ours, and return their ids in order."""
        return write_blobs(self._runner, sources)

    def write_tree(self, base_tree: str, updates: Mapping[str, Entry | None]) -> str:
        """Return `base_tree` with updates; None removes a path. Raises GraceError for a name git refuses."""
        return trees.write_tree(self._runner, base_tree, updates)

    def import_entries(self, base_tree: str, contents: Mapping[str, Content | None]) -> str:
        """Return `base_tree` with contents by bytes or file, each exactly as it is; None removes a path."""
        return trees.import_contents(self._runner, base_tree, contents)

    def empty_tree(self) -> str:
        """Return the id of the tree without entries."""
        return self._runner.line("mktree", stdin=b"")

    # --- commits

    def commit(
        self, tree: str, parents: Sequence[str], message: str, author: str | None = None, date: str | None = None
    ) -> str:
        """Write a commit and return its id. `author` is `Name <mail>`, default: the user's; `date` as git reads it."""
        name, _, mail = (author or self.identity).rstrip(">").rpartition("<")
        env = {}
        for who in ("AUTHOR", "COMMITTER"):
            env[f"GIT_{who}_NAME"], env[f"GIT_{who}_EMAIL"] = name.strip(), mail.strip()
            if date is not None:
                env[f"GIT_{who}_DATE"] = date
        flags = [flag for parent in parents for flag in ("-p", checked(parent))]
        text = message.encode("utf-8", "surrogateescape")
        with effect("commit.make"):
            return self._runner.line("commit-tree", checked(tree), *flags, stdin=text, env=env)

    @cached_property
    def identity(self) -> str:
        """The identity the user configured, else grace's own."""
        from git import Repo  # 0.1 s: only who commits pays it

        with Repo(self.common) as repo, repo.config_reader() as config:
            name = str(config.get_value("user", "name", default="")).strip()
            mail = str(config.get_value("user", "email", default="")).strip()
        return f"{name} <{mail}>" if name and mail else "grace <grace@localhost>"

    def merge(self, ours: str, theirs: str) -> MergeResult:
        """Merge two commits in memory."""
        with effect("tree.merge"):
            return trees.merge(self._runner, ours, theirs)

    def merge_trees(self, base_tree: str, ours_tree: str, theirs_tree: str) -> MergeResult:
        """Merge two trees that come from a third, in memory."""
        with effect("tree.merge"):
            return trees.merge_trees(self._runner, base_tree, ours_tree, theirs_tree)

    def merge_taking_theirs(self, base_tree: str, ours_tree: str, theirs_tree: str) -> conflicts.Resolved:
        """Merge two trees that come from a third, in memory; where they conflict, the path is as `theirs` has it."""
        with effect("tree.merge"):
            return conflicts.taking_theirs(self._runner, base_tree, ours_tree, theirs_tree)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Say whether `older` is `newer` or reachable from it."""
        result = self._runner.ask("merge-base", "--is-ancestor", checked(older), checked(newer))
        if result.code not in {0, 1}:
            raise self._runner.failed(f"git cannot compare {older[:12]} and {newer[:12]}", result)
        return result.code == 0

    def log(self, older: str | None, newer: str, first_parent: bool = False) -> tuple[Commit, ...]:  # noqa: FBT001, FBT002
        """Return the commits of `older..newer` (None: from the root), newest first, in topological order."""
        form = "--format=%H%x00%T%x00%P%x00%an <%ae>%x00%aI%x00%B%x00%x00"
        walk = [checked(newer)] if older is None else [checked(newer), f"^{checked(older)}"]
        flags = ["--first-parent"] if first_parent else []
        raw = self._runner.run("log", "--topo-order", "--no-show-signature", form, *flags, *walk, "--")
        records = raw.decode("utf-8", "replace").split("\0\0\n")[:-1]
        fields = [record.split("\0") for record in records]
        return tuple(Commit(f[0], f[1], tuple(f[2].split()), f[3], f[4], f[5]) for f in fields)

    # --- refs and checkouts

    def update_ref(self, ref: str, new: str, old: str | None) -> None:
        """Compare-and-swap; `old` "" = must not exist, None = whatever. Raises RefMoved."""
        refs.update(self._runner, ref, checked(new), old)

    def delete_ref(self, ref: str, old: str | None = None) -> None:
        """Delete if it is at `old`; a ref that is gone is fine. Raises RefMoved."""
        refs.delete(self._runner, ref, old)

    def refs(self, *prefixes: str) -> dict[str, str]:
        """Return full ref names at or below these prefixes with what they hold."""
        return refs.listed(self._runner, *prefixes)

    def free_refs(self, *prefixes: str) -> None:
        """Remove the locks that a killed git left below prefixes where only the caller moves refs."""
        refs.free(self.common, *prefixes)

    def worktrees(self) -> tuple[Worktree, ...]:
        """List the user's checkouts that exist on disk, the main one first."""
        found = []
        for block in self._runner.run("worktree", "list", "--porcelain", "-z").split(b"\0\0"):
            lines = [line.partition(b" ") for line in block.split(b"\0") if line]
            facts = {name: value for name, _, value in lines}
            path = Path(decode(facts.get(b"worktree", b"")))
            path = self.main if path == self.common else path  # git's word for a submodule's own checkout
            if b"HEAD" in facts and path.is_dir():
                branch = facts.get(b"branch")
                found.append(Worktree(path, facts[b"HEAD"].decode(), decode(branch) if branch else None))
        return tuple(found)

    def edits(self) -> tuple[Edit, ...]:
        """List the tracked files of the checkout we were opened in that are not as in its HEAD."""
        return edits(self.top)

    def edited_tree(self, found: tuple[Edit, ...]) -> str:
        """Return the tree of HEAD with these edits as they are on disk."""
        return edited_tree(self._runner, self.top, self.tree("HEAD"), found)

    def update_worktree(self, worktree: Path, old_tree: str, new_tree: str) -> None:
        """Bring a checkout from one tree to another, or raise WaitingForPerson with nothing changed."""
        landing.update_worktree(self._runner, worktree, old_tree, new_tree)

    def remotes(self) -> tuple[str, ...]:
        """Name the remotes."""
        from sandbox.git.push import remotes  # only who pushes pays for it

        return remotes(self.main)

    def push(self, remote: str, commit: str, branch: str, unwanted: Callable[[], bool]) -> "Pushed":
        """Bring the commit to the remote's branch of this name as the user, never by force."""
        from sandbox.git.push import push

        return push(self.main, remote, commit, branch, unwanted)

    def private_repository(self, commit: str, checkout: Path, into: Path) -> None:
        """Make a repository with that one commit at `into`, its index in step with the files in `checkout`."""
        private.build(self._runner, commit, checkout, into)

    def exclude(self, pattern: str) -> None:
        """Keep `pattern` out of `git status` by a line in info/exclude, written once."""
        with self._exclude_lock:
            path = self.common / "info" / "exclude"
            text = path.read_text("utf-8", "surrogateescape") if path.exists() else ""
            if pattern in text.splitlines():
                return
            path.parent.mkdir(exist_ok=True)
            gap = "" if text.endswith("\n") or not text else "\n"
            fresh = path.with_name("exclude.grace")
            with effect("exclude.write"):
                fresh.write_text(f"{text}{gap}{pattern}\n", "utf-8", "surrogateescape")
                fresh.replace(path)
