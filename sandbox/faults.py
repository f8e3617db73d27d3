"""The one place that tells a machine's moment of weakness from what stays wrong.

Transient, so tried again with growing pauses until the run pauses with a notice:
    the engine went away (EngineLost)
    no room: ENOSPC, EDQUOT, SQLite's FULL, git's "No space left on device"
    no descriptor, memory or process: EMFILE, ENFILE, ENOMEM, EAGAIN, git's words for them
    a lock that somebody holds: SQLite's BUSY, a ref that another git locks
    a disk that hiccups: EIO, SQLite's IOERR
    a git child that a signal killed, whatever it was asked: it has answered nothing

Final, so told at once: all else, such as a read-only medium, a missing permission, a damaged file, an engine that was
never there, wrong input, a fault of our own.
"""

import errno
import os
import signal
from pathlib import Path

from packets.errors import Damaged, DiskFull, GraceError, MachineLacks, Transient

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS})
_PASSING = frozenset({errno.EIO, errno.EBUSY, errno.EINTR, errno.ETIMEDOUT, errno.ESTALE, errno.ETXTBSY})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_ROOM = 64 << 20  # bytes that the journals, and a worker's folder of a small repository, take at the least
_LITTLE = 1 << 20  # bytes free below which a write may have failed for want of room

_GIT_FULL = (b"No space left on device", b"Disk quota exceeded")
_GIT_UNWRITTEN = (b"write", b"create", b"close", b"flush", b"sync")  # of a ref it says no more than that it could not
_GIT_SHORT = (b"Too many open files", b"Cannot allocate memory", b"out of memory", b"Resource temporarily unavailable")
_GIT_PASSING = (b"Input/output error", b"Stale file handle", b"Device or resource busy")
_GIT_REFUSED = (b"Read-only file system", b"Permission denied", b"Operation not permitted", b"insufficient permission")
_GIT_LOCKED = b".lock': File exists"

# SQLite's primary result codes (https://www.sqlite.org/rescode.html); the module `sqlite3` is not loaded for them.
_BUSY, _LOCKED, _NOMEM, _READONLY, _IOERR, _CORRUPT, _SQLITE_FULL, _CANTOPEN, _NOTADB = 5, 6, 7, 8, 10, 11, 13, 14, 26
_SHORT_READ = 522
_LATER = "let other work end, then: grace resume"
_RECOVER = "`grace doctor` says how to recover; refs under refs/grace and the packets in .grace stay usable"


def transient(fault: BaseException, where: Path | None = None) -> Transient | None:
    """Return the fault as one that is worth another try, or None; `where` is what was written to, if not said."""
    known = machine(fault, where)
    return known if isinstance(known, Transient) else None


def machine(fault: BaseException, where: Path | None = None) -> MachineLacks | None:
    """Return the fault in our words when it is the machine's, else None."""
    if isinstance(fault, MachineLacks):
        return fault
    if isinstance(fault, OSError):
        return _system(fault, where)
    inner = getattr(fault, "orig", None) or fault  # SQLAlchemy wraps what SQLite says
    code = getattr(inner, "sqlite_errorcode", None)
    if isinstance(code, int):
        return sqlite(inner, code, where)
    return Transient("this machine is out of memory", _LATER) if isinstance(fault, MemoryError) else None


def _system(fault: OSError, where: Path | None) -> MachineLacks | None:
    number, what = fault.errno, fault.strerror or str(fault)
    named = fault.filename if isinstance(fault.filename, str) else None
    at = Path(named) if named else where
    said = f"{what}: {at}" if at else what
    if number in _FULL:
        return disk_full(Path(named) if named else tightest(*([where] if where else [])), said)
    if number in _SHORT:
        return Transient(f"this machine is short of something: {said}", _LATER)
    if number in _PASSING:
        return Transient(said, "look at the disk (`dmesg`), then: grace resume")
    if number in _REFUSED:
        return _refused(said, at)
    return None


def _refused(said: str, at: Path | None) -> MachineLacks:
    owner = _owner(at) if at else ""
    return MachineLacks(said, f"make it writable for {owner or 'you'}, or mount it read-write, then: grace resume")


def _owner(at: Path) -> str:
    """Return the user who runs grace, by number where the system knows no name."""
    try:
        return f"uid {os.geteuid()} (it belongs to uid {_existing(at).stat().st_uid})"
    except OSError:
        return ""


def disk_full(at: Path | None, said: str = "") -> DiskFull:
    """Return the error that says where room is missing, how much there is and how much to make."""
    spot = _existing(at) if at else tightest()
    free, inodes = room(spot)
    what = "no inode is left" if inodes == 0 and free > _LITTLE else f"{_size(free)} are free"
    more = f" ({said})" if said else ""
    return DiskFull(
        f"the disk is full at {spot}: {what}{more}",
        f"free at least {_size(_ROOM)} there, or as much as the repository's files take for each worker; "
        "then: grace resume",
    )


def room(spot: Path) -> tuple[int, int]:
    """Return the bytes and the inodes that are free; -1 inodes where the file system does not count them."""
    try:
        found = os.statvfs(spot)
    except OSError:
        return 0, -1
    return found.f_bavail * found.f_frsize, found.f_favail if found.f_files else -1


def is_full(spot: Path) -> bool:
    """Say whether what just failed at `spot` may have failed for want of room."""
    free, inodes = room(_existing(spot))
    return free < _LITTLE or inodes == 0


def tightest(*more: Path) -> Path:
    """Return the place with the least room among these, the user's folder and the one for temporary files."""
    import tempfile  # only who is in trouble pays for it

    usual = (Path(tempfile.gettempdir()), _existing(Path(os.environ.get("HOME", "/"))))
    return min((*map(_existing, more), *usual), key=lambda spot: room(spot)[0])


def _existing(path: Path) -> Path:
    return next((spot for spot in (path, *path.parents) if spot.exists()), Path("/"))


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def sqlite(fault: BaseException, code: int, where: Path | None) -> MachineLacks | None:
    """Return SQLite's fault in our words; None for a mistake in a statement, which is ours."""
    primary, said = code & 0xFF, f"cannot use {where}: {fault}" if where else f"SQLite says: {fault}"
    full = where is not None and is_full(where)
    if primary == _SQLITE_FULL or (full and primary in {_IOERR, _CANTOPEN}):
        return disk_full(where, str(fault))
    if primary in {_BUSY, _LOCKED}:
        return Transient(said, "another process writes for very long; see who holds it: fuser " + str(where or ""))
    if primary in {_CORRUPT, _NOTADB} or code == _SHORT_READ:
        return Damaged(said, _RECOVER)
    if primary in {_READONLY, _CANTOPEN}:
        return _refused(said, where)
    if primary in {_IOERR, _NOMEM}:
        return Transient(said, "look at the disk and its mount (`dmesg`), then: grace resume")
    return None


def git_failed(what: str, code: int, err: bytes, said: str, *places: Path) -> GraceError:
    """Return the error for a git child that failed: what it was asked, its exit code, stderr, and that in a line."""
    if code < 0:
        name = signal.Signals(-code).name if -code in {int(s) for s in signal.Signals} else str(-code)
        return Transient(f"{what}: git was killed by {name}", _LATER)
    unwritten = any(words in err for words in _GIT_UNWRITTEN) and any(map(is_full, places))
    if unwritten or any(words in err for words in _GIT_FULL):
        return disk_full(tightest(*places), f"{what}: {said}")
    if any(words in err for words in (*_GIT_SHORT, *_GIT_PASSING)):
        return Transient(f"{what}: {said}", _LATER)
    if _GIT_LOCKED in err:
        return Transient(f"{what}: {said}", "another git holds it; if none runs, remove the lock that it names")
    if any(words in err for words in _GIT_REFUSED):
        return _refused(f"{what}: {said}", places[0] if places else None)
    return GraceError(f"{what}: {said}")
