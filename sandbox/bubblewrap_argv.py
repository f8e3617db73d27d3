"""What bubblewrap is told: the walls of one job, as arguments."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from packets.errors import MachineLacks
from sandbox.protocol import GRACE, REPO, Job, Mount

HOME = "/home/grace"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UID = "1000"
_SHM = 64 << 20
# Root's uid opens these for writing without any capability, also inside a user namespace: core_pattern alone is a way
# to the host. The two lists are those of runc.
_READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
_HIDDEN = (
    *("acpi", "asound", "interrupts", "kcore", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags"),
    *("latency_stats", "mtrr", "sched_debug", "scsi", "timer_list", "timer_stats", "vmcore"),
)


def walls(*, disable_userns: bool, network: bool = False, uid: str = UID) -> list[str]:
    """Return the flags of every sandbox of ours: new namespaces, no capability, nothing of our environment."""
    flags = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"]
    flags += ["--uid", uid, "--gid", uid, "--hostname", "grace"]
    if disable_userns:
        flags += ["--disable-userns"]
    return flags + (["--share-net"] if network else ["--cap-drop", "ALL"])


def kernel() -> list[str]:
    """Return /proc and /dev as a job may see them."""
    argv = ["--proc", "/proc"]
    for name in (*_READ_ONLY, *_HIDDEN):
        path = f"/proc/{name}"
        if name in _READ_ONLY and os.path.exists(path):  # noqa: PTH110
            argv += ["--ro-bind", path, path]
        elif os.path.isdir(path):  # noqa: PTH112
            argv += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
        elif os.path.exists(path):  # noqa: PTH110
            argv += ["--ro-bind", "/dev/null", path]
    argv += ["--dev", "/dev", "--size", str(_SHM), "--tmpfs", "/dev/shm"]  # noqa: S108 - inside
    return [*argv, "--remount-ro", "/dev"]


def inside(job: Job) -> list[str]:
    """Return the file system, the folder and the environment of a job. Raises MachineLacks for an unusable image."""
    root = Path(job.image)
    room = str(max(job.limits.memory // 2, 16 << 20))
    argv = ["--ro-bind", str(root), "/", *kernel()]
    argv += ["--perms", "1777", "--size", room, "--tmpfs", "/tmp"]  # noqa: S108 - inside
    argv += ["--perms", "0700", "--size", room, "--tmpfs", HOME]
    if not any(mount.target == GRACE for mount in job.mounts):
        argv += ["--size", str(1 << 20), "--tmpfs", GRACE]
    argv += list(_binds(job.mounts, root))
    if not any(mount.target == GRACE for mount in job.mounts):
        argv += ["--remount-ro", GRACE]
    return [*argv, "--chdir", job.cwd, *_environment(job, root)]


def _binds(mounts: tuple[Mount, ...], root: Path) -> Iterator[str]:
    targets = [mount.target for mount in mounts]
    for mount in mounts:
        parents = (*targets, GRACE, REPO, HOME, "/tmp", "/dev/shm")  # noqa: S108 - inside
        covered = any(mount.target.startswith(f"{parent}/") for parent in parents)
        if not covered and not os.path.lexists(root / mount.target.lstrip("/")):
            raise MachineLacks(f"the image has no folder {mount.target} to mount at", "make it in the image")
        yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)


def _environment(job: Job, root: Path) -> Iterator[str]:
    values = {"PATH": PATH, **image_environment(root), **job.env, "HOME": HOME, "LANG": "C.UTF-8", "USER": "grace"}
    for name, value in values.items():
        yield from ("--setenv", name, value)


def image_environment(root: Path) -> Mapping[str, str]:
    """Return what the image sets, from the note beside its root filesystem."""
    try:
        found = json.loads((root.parent / "meta.json").read_text())["env"]
    except (OSError, ValueError, KeyError):
        return {}
    return {str(name): str(value) for name, value in found.items()}
