"""The patch agent: a unified diff, applied exactly or not at all, and refused as a whole if it leaves the scope."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from packets.errors import GraceError, UsageError
from packets.forbidden import path_fault
from packets.packet import ExecutionPacket
from packets.scope import Scope
from sandbox.git import Git
from sandbox.git.process import config_environment
from sandbox.git.values import SYMLINK
from sandbox.harvest import readable
from sandbox.protocol import GRACE
from worker.agents.diff import Touched, UnclearDiff, touched

_NAME = "agent.patch"
_SHOWN = 10
_APPLY = ("git", "apply", "-p1", "--whitespace=nowarn", "--no-ignore-whitespace", f"{GRACE}/in/{_NAME}")
_CONFIG = {"core.autocrlf": "false", "core.safecrlf": "false", "core.fsmonitor": "false", "core.hooksPath": "/dev/null"}


@dataclass(frozen=True)
class Patch:
    """Applies `data` at the repository's root."""

    data: bytes
    argv: tuple[str, ...] = _APPLY
    env: dict[str, str] = field(default_factory=lambda: config_environment(_CONFIG))

    @classmethod
    def read(cls, path: Path, digest: str) -> Self:
        """Read the patch file; raises UsageError when it is gone, or not the one that the plan was read with."""
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise UsageError(f"cannot read the patch {path}: {fault.strerror}", "is it beside the plan?") from fault
        if digest and digest.removeprefix("sha256:") != hashlib.sha256(data).hexdigest():
            raise UsageError(f"the patch {path} changed since the run began", "start a new run")
        return cls(data)

    @property
    def files(self) -> dict[str, bytes]:
        """The patch, as the sandbox sees it."""
        return {_NAME: self.data}

    def refusal(self, packet: ExecutionPacket, git: Git) -> str:
        """Refuse a patch that cannot be read for certain, leaves the scope, or writes through a link."""
        try:
            found = touched(self.data)
        except UnclearDiff as unclear:
            return f"the patch cannot be read, {unclear}"
        if outside := _outside(found, Scope.parse(packet.write_scope)):
            return f"the patch touches paths outside the write scope: {_listed(outside)}"
        if through := _through_links(found, packet, git):
            return f"the patch writes through symbolic links: {_listed(through)}"
        return _second_opinion(found, self.data, git)


def _outside(found: Touched, scope: Scope) -> list[str]:
    return sorted(path for path in found.written if path_fault(path) or not scope.matches(path))


def _through_links(found: Touched, packet: ExecutionPacket, git: Git) -> list[str]:
    base = git.entries(packet.base.tree)
    links = {path for path in _above(found.written) if path in base and base[path].mode == SYMLINK} - found.removed
    return sorted(path for path in found.written if not (links | found.links).isdisjoint(_above([path])))


def _above(paths: Iterable[str]) -> set[str]:
    return {path[:at] for path in paths for at, char in enumerate(path) if char == "/"}


def _second_opinion(found: Touched, data: bytes, git: Git) -> str:
    """Compare with what git reads: where two readers differ, the patch is refused."""
    try:
        names = set(git.patch_paths(data))
    except GraceError as fault:
        return f"git cannot read the patch: {fault.message}"
    if unseen := sorted(names - found.written):
        return f"the patch is unclear about {_listed(unseen)}"
    return ""


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(readable(path) for path in paths[:_SHOWN]) + more
