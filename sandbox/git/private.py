"""A worker's private repository: real and writable, with the base commit only; it shares nothing with the user's."""

from collections.abc import Mapping
from pathlib import Path

from packets.errors import GraceError
from sandbox.git.objects import checked
from sandbox.git.process import Runner, start

BRANCH = "refs/heads/work"
# The worker's git takes every byte as it is, whatever attributes the tree holds: info/attributes outranks them.
_ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\n"
# checkStat: the worker sees copies, so that only size and time of a file can tell that it is unchanged.
_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tfilemode = true
\tlogallrefupdates = true
\tautocrlf = false
\tcheckStat = minimal
\ttrustctime = false
[user]
\tname = worker
\temail = worker@localhost
[commit]
\tgpgSign = false
[gc]
\tauto = 0
"""
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


def build(runner: Runner, commit: str, checkout: Path, into: Path) -> None:
    """Make the repository of `commit` at `into`, its index in step with the files in `checkout`."""
    for folder in ("objects/pack", "refs/heads", "info"):
        (into / folder).mkdir(parents=True)
    sha256 = len(commit) == 64  # noqa: PLR2004 - hex digits
    (into / "config").write_text(_CONFIG.format(version=int(sha256)) + (_SHA256 if sha256 else ""))
    (into / "info" / "attributes").write_text(_ATTRIBUTES)
    (into / "HEAD").write_text(f"ref: {BRANCH}\n")
    (into / BRANCH).write_text(f"{commit}\n")
    if runner.line("rev-list", "--parents", "--max-count=1", checked(commit)) != commit:
        (into / "shallow").write_text(f"{commit}\n")
    _pack(runner, commit, into)
    _index(runner, checkout, into)


def _pack(runner: Runner, commit: str, into: Path) -> None:
    """Write the commit's own objects as one pack, deltas reused and none searched for."""
    listed = runner.run("ls-tree", "-r", "-t", "--full-tree", "--format=%(objecttype) %(objectname)", commit)
    ids = {line.split()[1] for line in listed.splitlines() if not line.startswith(b"commit")}
    ids |= {commit.encode(), runner.line("rev-parse", "--verify", f"{commit}^{{tree}}").encode()}
    pack = str(into / "objects" / "pack" / "pack")
    runner.run("pack-objects", "-q", "--window=0", "--compression=1", pack, stdin=b"\n".join(sorted(ids)) + b"\n")


def _index(runner: Runner, checkout: Path, into: Path) -> None:
    env: Mapping[str, str] = runner.environment({"GIT_DIR": str(into), "GIT_WORK_TREE": str(checkout)})
    read = start(("read-tree", "HEAD"), checkout, env)
    if read.code:
        raise GraceError(f"cannot make a worker's repository: {read.fault}")
    refreshed = start(("update-index", "-q", "--refresh"), checkout, env)
    if refreshed.code not in {0, 1}:  # 1 only says that something differs; killed, it leaves a lock for every worker
        raise GraceError(f"cannot make a worker's repository: {refreshed.fault}")
