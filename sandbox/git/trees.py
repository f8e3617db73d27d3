"""Trees: listed, compared, written and merged without a checkout."""

from collections.abc import Mapping, Sequence

from packets.errors import GraceError
from sandbox.git.objects import checked, write_blobs
from sandbox.git.process import Runner
from sandbox.git.values import GITLINK, Change, Content, Entry, MergeResult, decode, encode

_THROWAWAY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "grace"), ("EMAIL", "grace@localhost"), ("DATE", "@0 +0000"))
}


def entries(runner: Runner, tree: str) -> dict[str, Entry]:
    """List every path of the tree, recursively, in git's order."""
    found = {}
    for record in runner.run("ls-tree", "-r", "-z", "--full-tree", checked(tree)).split(b"\0")[:-1]:
        about, _, path = record.partition(b"\t")
        mode, _, blob = about.decode().split(" ")
        found[decode(path)] = Entry(mode, blob)
    return found


def changes(runner: Runner, old: str, new: str) -> tuple[Change, ...]:
    """Compare two trees, without rename detection."""
    raw = runner.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", "-O", "/dev/null",
        checked(old), checked(new),
    ).split(b"\0")[:-1]  # fmt: skip
    found = []
    for about, path in zip(raw[::2], raw[1::2], strict=True):
        old_mode, new_mode, old_blob, new_blob, status = about.decode().lstrip(":").split(" ")
        found.append(Change(status[0], decode(path), old_mode, new_mode, old_blob, new_blob))
    return tuple(found)


def diff(runner: Runner, old: str, new: str, *, color: bool, stat: bool) -> str:
    """Return the difference for people to read, renames found, foreign bytes replaced."""
    form = "--stat=120" if stat else "--patch"
    shown = runner.run(
        "diff-tree", "-r", form, "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
        "--submodule=short", f"--color={'always' if color else 'never'}", "-O", "/dev/null", checked(old), checked(new),
    )  # fmt: skip
    return shown.decode("utf-8", "replace")


def patch(runner: Runner, old: str, new: str) -> bytes:
    """Return the exact difference, binary and modes included, as `git apply` takes it."""
    return runner.run(
        "diff-tree", "-r", "--patch", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--ignore-submodules=none", "--submodule=short", "-O", "/dev/null", checked(old), checked(new),
    )  # fmt: skip


def patch_paths(runner: Runner, data: bytes) -> tuple[str, ...]:
    """Return the new name, or for removals the old one, of each file in a diff. Nothing is applied."""
    records = runner.run("apply", "--numstat", "-z", "-p1", stdin=data).split(b"\0")[:-1]
    return tuple(decode(record.split(b"\t", 2)[2]) for record in records)


def write_tree(runner: Runner, base: str, updates: Mapping[str, Entry | None]) -> str:
    """Return `base` with the updates, None for a path that goes; raises GraceError for a name git refuses."""
    if not updates:
        return checked(base)
    zero = "0" * len(base)
    gone = [b"0 %s\t%s\0" % (zero.encode(), encode(path)) for path, entry in updates.items() if entry is None]
    come = [
        b"%s %s\t%s\0" % (entry.mode.encode(), checked(entry.blob).encode(), encode(path))
        for path, entry in updates.items()
        if entry is not None
    ]
    from sandbox.scratch import scratch  # only who writes pays for it

    with scratch("index") as folder:
        env = {"GIT_INDEX_FILE": str(folder / "index")}
        runner.run("read-tree", checked(base), env=env)
        # Removals first, so that a file may take the place of a folder and the other way round.
        taken = runner.ask("update-index", "-z", "--index-info", stdin=b"".join(gone + come), env=env)
        if taken.code or taken.err:  # it skips a name that it refuses, says so, and exits with 0
            raise runner.failed("git refuses a path", taken)
        return runner.line("write-tree", env=env)


def import_contents(runner: Runner, base: str, contents: Mapping[str, Content | None]) -> str:
    """Write the contents as blobs, and return `base` with them."""
    given = {path: content for path, content in contents.items() if content is not None}
    if wrong := next((path for path, content in given.items() if content.mode == GITLINK), None):
        raise GraceError(f"{wrong}: a submodule is a commit, not a content")
    blobs = dict(zip(given, write_blobs(runner, [content.source for content in given.values()]), strict=True))
    updates = {path: None if c is None else Entry(c.mode, blobs[path]) for path, c in contents.items()}
    return write_tree(runner, base, updates)


def merge(runner: Runner, ours: str, theirs: str) -> MergeResult:
    """Merge two commits in memory."""
    asked = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", checked(ours), checked(theirs))
    result = runner.ask(*asked)
    tree, *names = [decode(raw) for raw in result.out.split(b"\0") if raw] or [""]
    if result.code == 0:
        return MergeResult(tree, ())
    if result.code == 1 and names:
        return MergeResult(None, tuple(sorted(set(names))))
    raise runner.failed(f"git cannot merge {ours[:12]} and {theirs[:12]}", result)


def merge_trees(runner: Runner, base: str, ours: str, theirs: str) -> MergeResult:
    """Merge trees; git 2.39 finds its merge base among commits only, so throwaway ones carry the trees."""
    root = throwaway_commit(runner, base, ())
    return merge(runner, throwaway_commit(runner, ours, (root,)), throwaway_commit(runner, theirs, (root,)))


def throwaway_commit(runner: Runner, tree: str, parents: Sequence[str]) -> str:
    """Write a commit that depends on nothing but its tree and parents, so that the same one comes back."""
    flags = [flag for parent in parents for flag in ("-p", checked(parent))]
    return runner.line("commit-tree", checked(tree), *flags, stdin=b"grace\n", env=_THROWAWAY)
