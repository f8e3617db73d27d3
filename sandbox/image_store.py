"""Root filesystems on our disk: made once, found by key, named by content.

`<cache>/rootfs/<digest>/{root/,meta.json}` with `<cache>/keys/<key>` holding a digest. A folder appears whole or not
at all (rename), and two builders of one key take turns (a lock file).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from sandbox.effect import effect

SHORT = 12
"""Characters of a digest in names."""

PLACES = (
    "etc",
    "grace/in",
    "grace/out",
    "home/grace",
    "repo",
    "root",
    "run",
    "tmp",
    "proc",
    "sys",
    "dev",
    "var",
    "opt",
)
"""Folders that every root filesystem has: mounts go there."""


@dataclass(frozen=True)
class RootFs:
    """A root filesystem: `root` is the folder, `digest` is over its contents, `env` what its image sets."""

    root: Path
    digest: str
    origin: str
    size: int
    env: Mapping[str, str] = field(default_factory=dict)


def cache() -> Path:
    """Return the folder of all that can be made again: `$XDG_CACHE_HOME/grace`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "grace"


def key_of(*parts: object) -> str:
    """Return a key for what went in."""
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:32]


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Hold the builders' lock."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def find(key: str) -> RootFs | None:
    """Return what was made for the key, if it is still there."""
    try:
        return load((cache() / "keys" / key).read_text().strip())
    except FileNotFoundError:
        return None


def load(digest: str) -> RootFs | None:
    """Return the root filesystem of that digest."""
    folder = cache() / "rootfs" / digest[:SHORT]
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except (FileNotFoundError, ValueError):
        return None
    return RootFs(root=folder / "root", **meta) if (folder / "root").is_dir() else None


def make(key: str, origin: str, fill: Callable[[Path], Mapping[str, str]]) -> RootFs:
    """Return the key's root filesystem, made by `fill(folder)` (which returns its environment) when there is none."""
    with locked():
        if found := find(key):
            return found
        base = cache() / "rootfs"
        base.mkdir(parents=True, exist_ok=True)
        for left in base.glob(".making-*"):  # of a builder that was killed: who holds the lock is the only one
            discard(left)
        scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=base))
        try:
            root = scratch / "root"
            root.mkdir()
            env = fill(root)
            root.chmod(0o755)
            scratch.chmod(0o755)
            with effect("image.keep"):
                return _keep(scratch, key, origin, env)
        finally:
            discard(scratch)


def _keep(scratch: Path, key: str, origin: str, env: Mapping[str, str]) -> RootFs:
    digest, size = digest_of(scratch / "root", env)
    made = RootFs(scratch / "root", digest, origin, size, dict(env))
    meta = {name: value for name, value in asdict(made).items() if name != "root"}
    (scratch / "meta.json").write_text(json.dumps(meta))
    final = cache() / "rootfs" / digest[:SHORT]
    if not load(digest):
        discard(final)
        scratch.rename(final)
    keys = cache() / "keys"
    keys.mkdir(exist_ok=True)
    partial = keys / f".{key}"
    partial.write_text(digest)
    partial.replace(keys / key)
    return RootFs(final / "root", digest, origin, size, dict(env))


def all_of_them() -> tuple[RootFs, ...]:
    """Return every root filesystem in the cache."""
    base = cache() / "rootfs"
    names = sorted(path.name for path in base.iterdir()) if base.is_dir() else []
    return tuple(found for name in names if (found := load(name)))


def keys() -> dict[str, str]:
    """Return key to digest."""
    folder = cache() / "keys"
    names = [path for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []
    return {path.name: path.read_text().strip() for path in names}


def hold(root: Path) -> IO[bytes] | None:
    """Mark a root filesystem as in use until the file that is returned is closed; None for one that is not ours."""
    try:
        file = (root.parent / "meta.json").open("rb")
    except OSError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def forget(digest: str) -> bool:
    """Remove a root filesystem and the keys that lead to it; False when a job runs on it."""
    folder = cache() / "rootfs" / digest[:SHORT]
    with locked(), (folder / "meta.json").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        with effect("image.remove"):
            for key, value in keys().items():
                if value == digest:
                    (cache() / "keys" / key).unlink(missing_ok=True)
            discard(folder)
    return True


def digest_of(root: Path, env: Mapping[str, str]) -> tuple[str, int]:
    """Hash names, modes and contents (not times, not compiled Python); return it with the bytes in all files."""
    total = hashlib.sha256(json.dumps(sorted(env.items())).encode())
    size = 0
    for path in walk(root):
        status = path.lstat()
        name = str(path.relative_to(root))
        if stat.S_ISREG(status.st_mode):
            size += status.st_size
        if name.endswith(".pyc"):
            continue
        total.update(
            f"{name}\0{stat.S_IFMT(status.st_mode):o} {status.st_mode & 0o7777:o}\0".encode(errors="surrogateescape")
        )
        if stat.S_ISLNK(status.st_mode):
            total.update(str(path.readlink()).encode(errors="surrogateescape"))
        elif stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest(), size


def walk(root: Path) -> Iterator[Path]:
    """Yield everything below `root` in a stable order, links not followed."""
    with os.scandir(root) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))


def pack(root: Path, out: IO[bytes]) -> None:
    """Write `root` as a tar archive whose files belong to root."""
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in walk(root):
            member = archive.gettarinfo(str(path), arcname=str(path.relative_to(root)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            if member.isreg():
                with path.open("rb") as file:
                    archive.addfile(member, file)
            else:
                archive.addfile(member)


def unpack(archive: IO[bytes], root: Path) -> None:
    """Write an image's archive into `root`: no devices, no set-id bits, nothing outside, all of it the caller's own."""
    with tarfile.open(fileobj=archive) as members:
        for member in members:
            if member.isreg() or member.isdir() or member.issym() or member.islnk():
                member.mode = (member.mode or 0) | (0o700 if member.isdir() else 0o600)
                members.extract(member, root, filter="tar", set_attrs=not member.issym())
    for place in PLACES:
        (root / place).mkdir(parents=True, exist_ok=True)
    for name in ("resolv.conf", "hosts"):
        (root / "etc" / name).unlink(missing_ok=True)
        (root / "etc" / name).write_text("127.0.0.1 localhost\n" if name == "hosts" else "")


def discard(folder: Path) -> None:
    """Remove a folder, also one with read-only folders inside; fine when it is not there."""

    def again(function: Callable[..., object], path: str, _: object) -> None:
        for one in (Path(path).parent, Path(path)):
            if one.is_dir() and not one.is_symlink():
                one.chmod(0o700)
        function(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=again)
