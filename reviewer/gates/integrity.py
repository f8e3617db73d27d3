"""What a tree of ours may hold: plain files and links that stay inside."""

import posixpath
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from packets.forbidden import path_fault
from packets.outcome import Anomaly, AnomalyKind
from packets.verdict import Finding
from reviewer.case import Case, Sizes
from reviewer.evidence import ABSENT, GITLINK, LINK, Evidence
from reviewer.findings import error, note
from sandbox.git import Change, Entry

_MODES = frozenset({"100644", "100755", LINK, GITLINK})
_HOPS = 40
_LONGEST_LINK = 4096
_ANOMALIES = {
    AnomalyKind.SPECIAL: ("integrity.special_file", "a socket, pipe or device"),
    AnomalyKind.NESTED_REPO: ("integrity.nested_repo", "a git repository inside the repository"),
    AnomalyKind.NAME: ("integrity.git_path", "a name that git cannot hold"),
    AnomalyKind.TOO_BIG: ("integrity.size", "too big to be taken over"),
    AnomalyKind.HARD_LINK: ("integrity.hard_link", "a hard link to another file"),
}


class IntegrityGate:
    """Looks at modes, names, links and sizes of what changed, and at what the harvest had to leave out."""

    name = "integrity"
    costly = False
    codes: ClassVar[Mapping[str, str]] = {
        "integrity.symlink": "a new or changed symbolic link is absolute, leaves the repository or points into .git",
        "integrity.nested_repo": "a git repository was left inside the repository",
        "integrity.gitlink": "a submodule's commit was added, changed or removed, and the plan does not name it",
        "integrity.mode": "a file has a mode other than 644, 755 or link",
        "integrity.size": "a file, or all that was added, is bigger than the limit",
        "integrity.special_file": "a socket, pipe or device was left in the tree",
        "integrity.unreadable": "a file or folder was left without read permission; its content is taken all the same",
        "integrity.hard_link": "a hard link was left in the tree",
        "integrity.case_clash": "two paths differ only in case or in Unicode form: some file systems cannot hold both",
        "integrity.git_path": "a path means git's own folder on some file system, or cannot be one of git's",
    }

    def judge(self, case: Case, evidence: Evidence) -> Iterable[Finding]:
        """Give what the harvest found, then names and modes, links, sizes."""
        yield from map(_anomaly, case.outcome.anomalies)
        for change in evidence.changes:
            yield from _names_and_modes(change, evidence)
        yield from _clashes(evidence)
        yield from _contents(evidence, case.sizes)


def _anomaly(anomaly: Anomaly) -> Finding:
    if anomaly.kind is AnomalyKind.UNREADABLE:
        what = "left without read permission; it was opened, and what is in it is part of the result"
        return note("integrity.unreadable", what, path=anomaly.path, evidence=anomaly.detail)
    code, what = _ANOMALIES[anomaly.kind]
    return error(code, f"left out of the result: {what}", path=anomaly.path, evidence=anomaly.detail)


def _names_and_modes(change: Change, evidence: Evidence) -> Iterator[Finding]:
    if change.new_mode != ABSENT and (fault := path_fault(change.path)):
        yield error("integrity.git_path", f"no worker may write {fault}", path=change.path)
    if GITLINK in (change.old_mode, change.new_mode) and not evidence.scope.names(change.path):
        yield error(
            "integrity.gitlink",
            f"the submodule's commit went from {change.old_blob[:12]} to {change.new_blob[:12]}",
            path=change.path,
            hint="a plan that means to move a submodule names its path in write_scope",
        )
    if change.new_mode not in _MODES and change.new_mode != ABSENT:
        yield error("integrity.mode", f"mode {change.new_mode}", path=change.path)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _clashes(evidence: Evidence) -> Iterator[Finding]:
    """Compare every new path, and every folder above it, with what else is there under the same folded name."""
    added = [c.path for c in evidence.changes if c.status == "A"]
    wanted = {_folded(prefix) for path in added for prefix in _prefixes(path)}
    if not wanted:
        return
    spelled: dict[str, set[str]] = {}
    for path in evidence.head:
        for prefix in _prefixes(path):
            if (folded := _folded(prefix)) in wanted:
                spelled.setdefault(folded, set()).add(prefix)
    told: set[str] = set()
    for path in added:
        for prefix in _prefixes(path):
            others = spelled.get(_folded(prefix), set()) - {prefix}
            if others and _folded(prefix) not in told:
                told.add(_folded(prefix))
                yield error("integrity.case_clash", f"clashes with {min(others)}", path=prefix)


def _prefixes(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[: i + 1]) for i in range(len(parts)))


def _contents(evidence: Evidence, sizes: Sizes) -> Iterator[Finding]:
    old = {change.path: len(data) for change, data in evidence.contents("old")}
    total = 0
    for change, data in evidence.contents("new"):
        if change.new_mode == LINK:
            yield from _link(change, data, evidence)
            continue
        before = old.get(change.path, 0)
        total += max(0, len(data) - before)
        # A file that was big before the attempt is the repository's habit; only growth counts then.
        if len(data) - before > sizes.one:
            yield error("integrity.size", f"{len(data)} bytes, more than {sizes.one}", path=change.path)
    if total > sizes.all:
        yield error("integrity.size", f"the attempt adds {total} bytes, more than {sizes.all}")


def _link(change: Change, data: bytes, evidence: Evidence) -> Iterator[Finding]:
    target = data.decode("utf-8", "surrogateescape")
    links = _Links(evidence, change.path, target)
    if fault := links.fault(change.path):
        yield error("integrity.symlink", f"a link to {target[:200]}: {fault}", path=change.path)


class _Links:
    """Follows links inside the result tree as a file system would, without touching one."""

    def __init__(self, evidence: Evidence, path: str, target: str) -> None:
        self._evidence = evidence
        self._targets: dict[str, str] = {path: target}

    def fault(self, path: str) -> str | None:
        """Say why the link at `path` is refused, or None."""
        target = self._targets[path]
        if not target or len(target) > _LONGEST_LINK or "\0" in target:
            return "no possible target"
        return self._walk(posixpath.dirname(path), target, _HOPS)

    def _walk(self, folder: str, target: str, hops: int) -> str | None:
        here = [part for part in folder.split("/") if part]
        todo = target.split("/")
        if target.startswith("/"):
            return "it is absolute"
        while todo:
            part = todo.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if not here:
                    return "it leaves the repository"
                here.pop()
                continue
            here.append(part)
            if path_fault("/".join(here)):
                return "it points into a folder of git's or grace's"
            through = self._target("/".join(here))
            if through is not None:
                hops -= 1
                if hops < 0:
                    return "it goes round in circles"
                if through.startswith("/"):
                    return f"through {'/'.join(here)} it leaves the repository"
                here.pop()
                todo = through.split("/") + todo
        return None

    def _target(self, path: str) -> str | None:
        if path in self._targets:
            return self._targets[path]
        entry: Entry | None = self._head.get(path)
        if entry is None or entry.mode != LINK:
            return None
        self._targets[path] = self._evidence.text(entry.blob)
        return self._targets[path]

    @property
    def _head(self) -> Mapping[str, Entry]:
        return self._evidence.head
