"""What this machine has of what grace needs, one line each, with what to do about what is missing."""

import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from packets.errors import GraceError
from sandbox.faults import machine

_DISK = 5 << 30  # bytes below which an image and a few workspaces may not fit
_GIB = 1 << 30


class Check(NamedTuple):
    """One thing looked at. `needed` ones that are missing stop everything; an engine is one of several."""

    name: str
    ok: bool
    detail: str
    hint: str = ""  # several lines are steps, to be taken in order
    stops: bool = False  # in this repository no plan can run before it is put right


class Report(NamedTuple):
    """All checks, in the order of the page; `ready` when a plan can run here."""

    checks: tuple[Check, ...]
    ready: bool


def examine(folder: Path) -> Report:
    """Look at the machine, standing in `folder`. Takes a few seconds at most; changes nothing."""
    first = (_asked("python", _python), _asked("git", _git))
    engines = (_asked("docker", _docker), _asked("bubblewrap", _bubblewrap))
    rest = (
        _asked("image", _image),
        _asked("cgroups", _cgroups),
        _asked("disk", lambda: _disk(folder)),
        *_state(folder),
    )
    stopped = any(check.stops for check in rest)
    ready = all(check.ok for check in first) and any(check.ok for check in engines) and not stopped
    return Report((*first, *engines, *rest), ready)


def _asked(name: str, ask: Callable[[], Check]) -> Check:
    try:
        return ask()
    except GraceError as error:
        return Check(name, ok=False, detail=error.message, hint=error.hint)
    except OSError as error:
        return Check(name, ok=False, detail=f"{error.strerror}: {error.filename}")


def _python() -> Check:
    return Check("python", ok=True, detail=f"{platform.python_version()} at {sys.executable}")


def _git() -> Check:
    from sandbox.git.process import require_version, scrubbed, start

    require_version()
    said = start(("version",), Path("/"), scrubbed()).out.decode(errors="replace").split()
    return Check("git", ok=True, detail=" ".join(said[2:3]))


def _docker() -> Check:
    from sandbox.docker import DockerSandbox

    sandbox = DockerSandbox.connect(timeout=3.0)
    try:
        return Check("docker", ok=True, detail=f"engine {sandbox.version}; not enforced: {', '.join(sandbox.gaps)}")
    finally:
        sandbox.close()


def _bubblewrap() -> Check:
    from sandbox.bubblewrap import BubblewrapSandbox

    sandbox = BubblewrapSandbox.connect()
    try:
        detail = f"{sandbox.version} at {sandbox.binary}; not enforced: {', '.join(sandbox.gaps)}"
        return Check("bubblewrap", ok=True, detail=detail)
    finally:
        sandbox.close()


def _image() -> Check:
    from sandbox.image import machine_image_made

    made = machine_image_made()
    if made:
        return Check(
            "image", ok=True, detail=f"{made.digest[:12]}, {made.size >> 20} MiB, made from this machine's files"
        )
    return Check("image", ok=False, detail="not made yet", hint="the first run makes it, or `grace sandbox build` now")


def _cgroups() -> Check:
    from sandbox.cgroup import CONTROLLERS, Cgroups

    found = Cgroups.find().controllers
    missing = [name for name in CONTROLLERS if name not in found]
    if missing:
        hint = "only bubblewrap needs them: without, memory is watched and cpus are not limited"
        return Check("cgroups", ok=False, detail=f"not writable: {', '.join(missing)}", hint=hint)
    return Check("cgroups", ok=True, detail=", ".join(CONTROLLERS))


def _disk(folder: Path) -> Check:
    from sandbox.image_store import cache

    where = [folder, next(path for path in (cache(), *cache().parents) if path.exists())]
    free = {path: shutil.disk_usage(path).free for path in where}
    least = min(free, key=lambda path: free[path])
    detail = f"{free[least] / _GIB:.1f} GiB free at {least}"
    return Check("disk", ok=free[least] >= _DISK, detail=detail, hint="" if free[least] >= _DISK else "make room")


def _state(folder: Path) -> list[Check]:
    """Look at what grace remembers in the repository around `folder`."""
    from controller.examination import examine_state
    from sandbox.git import Git

    found: list[Check] = []
    try:
        with Git.discover(folder) as git:
            found.extend(Check(*one) for one in examine_state(git))
    except (GraceError, OSError, sqlite3.Error) as fault:
        known = fault if isinstance(fault, GraceError) else machine(fault) or GraceError(str(fault))
        found.append(Check("state", ok=False, detail=known.message, hint=known.hint))
    return found
