"""The docker engine: one hardened container a job, through the Docker SDK.

Nothing of the host is inside but the image and the job's mounts: no network, no capability, no environment of ours, a
read-only root. What Docker enforces and what it only bounds is in docs/security.md.
"""

import contextlib
import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from docker import APIClient, errors, types

from packets.errors import EngineLost, MachineLacks
from packets.outcome import StopReason
from sandbox import docker_logs, docker_restart, watch
from sandbox.docker_client import CONFLICT, open_client, speaking
from sandbox.docker_wait import End
from sandbox.effect import effect
from sandbox.output import BoundedLog
from sandbox.protocol import Ending, Job, Mount, Sandbox, never

RUN_LABEL = "grace.run"
_DISK_LABEL = "grace.disk"
HOME = "/home/grace"
_UID = 1000  # the user of the worker image, when we are root
_FILES = 16384  # an engine without CAP_SYS_RESOURCE cannot raise its own limit, which is often 20000
_KILL_TIMEOUT = 30.0


class DockerSandbox(Sandbox):
    """Containers on one engine. Safe to share between threads; `close` when done (garbage collection does it too)."""

    name = "docker"

    def __init__(self, client: APIClient, info: Mapping[str, Any]) -> None:
        self.client = client
        self._info = info
        self._began: dict[str, tuple[float, int]] = {}
        self._closing = weakref.finalize(self, client.close)
        rootless = any("rootless" in option for option in info.get("SecurityOptions") or ())
        # In a rootless engine uid 0 is the caller; any other uid could not write the caller's files.
        uid = 0 if rootless else os.getuid()
        self.owner: int | None = _UID if uid == 0 and not rootless else None
        self.user = f"{_UID}:{_UID}" if self.owner else f"{uid}:{0 if rootless else os.getgid()}"
        self.gaps = tuple(_gaps(info))

    @classmethod
    def connect(cls, *, timeout: float = 5.0) -> "DockerSandbox":
        """Speak to the engine; raises MachineLacks with the reason when none answers within `timeout` seconds."""
        return cls(*open_client(timeout))

    @property
    def version(self) -> str:
        """The engine's version."""
        return str(self._info.get("ServerVersion", "?"))

    def close(self) -> None:
        """Close connections; containers live on."""
        self._closing()

    def start(self, job: Job) -> None:
        """Create and start a container, or adopt the one of that name."""
        before = watch.usage(job.mounts)
        with speaking(f"start {job.name}"):
            try:
                with effect("container.create"):
                    self._create(job, before)
            except errors.ImageNotFound:
                raise MachineLacks(
                    f"docker has no image {job.image!r}", "run `grace sandbox build`, or pull the image"
                ) from None
            except errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
                if self._adopt(job):
                    return
            with effect("container.start"):
                self.client.start(job.name)
        self._began[job.name] = (time.monotonic(), before)

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Block until the end of the container; kill it when the deadline, a limit or `cancelled` says so."""
        began, before = self._began.get(job.name) or self._recall(job)
        looks = watch.Watch(
            job,
            began=began,
            disk_before=before,
            cancelled=cancelled,
            pids_hits=_PidsHits(job.name, self._state) if self.local else lambda: None,
        )
        reason = None
        with End(self.client, job.name) as end:
            while not end.wait(watch.TICK):
                reason = looks.tripped()
                if reason:
                    self._kill(job.name)
                    end.wait(_KILL_TIMEOUT)
                    break
            exit_code = end.result()
        duration = time.monotonic() - began
        self._copy_log(job)
        if reason:
            return Ending(None, reason, duration)
        return Ending(exit_code, self._reason(job, exit_code, looks), duration)

    def remove(self, name: str) -> None:
        """Kill and remove the container."""
        self._began.pop(name, None)
        with speaking(f"remove {name}"), contextlib.suppress(errors.NotFound):
            try:
                with effect("container.remove"):
                    self.client.remove_container(name, force=True, v=True)
            except errors.APIError as error:
                # "removal is already in progress": somebody else is at it, which is what we want
                if error.status_code != CONFLICT:
                    raise

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name every container of the run."""
        with speaking("list containers"):
            found = self.client.containers(all=True, filters={"label": f"{RUN_LABEL}={run_id}"})
        return tuple(sorted(str(one["Names"][0]).lstrip("/") for one in found if one["Names"]))

    @property
    def local(self) -> bool:
        """Whether the engine runs on this very kernel, so that its cgroups can be read."""
        return bool(self._info.get("KernelVersion") == os.uname().release)

    def _create(self, job: Job, disk_before: int) -> None:
        self.client.create_container(
            image=job.image,
            command=list(job.argv),
            entrypoint=[],
            name=job.name,
            hostname="grace",
            user=self.user,
            working_dir=job.cwd,
            environment={**job.env, "HOME": HOME, "LANG": "C.UTF-8", "USER": "grace"},
            labels={**job.labels, RUN_LABEL: job.run_id, _DISK_LABEL: str(disk_before)},
            network_disabled=True,
            stdin_open=False,
            tty=False,
            host_config=self._hardening(job),
            # The SDK would copy the proxies of ~/.docker/config.json, passwords and all, into the container.
            use_config_proxy=False,
        )

    def _hardening(self, job: Job) -> types.HostConfig:
        limits = job.limits
        uid, gid = self.user.split(":")
        room = max(
            limits.memory // 2, 16 << 20
        )  # a tmpfs counts as memory: a full one must say so before the OOM killer
        home = f"rw,exec,nosuid,nodev,mode=0700,uid={uid},gid={gid},size={room}"
        return self.client.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            privileged=False,
            init=True,
            pids_limit=limits.pids,
            mem_limit=limits.memory,
            memswap_limit=limits.memory,
            nano_cpus=int(min(limits.cpus, self._info.get("NCPU") or limits.cpus) * 1e9),
            ulimits=[
                types.Ulimit(name="fsize", soft=limits.disk, hard=limits.disk),
                types.Ulimit(name="nofile", soft=_FILES, hard=_FILES),
                types.Ulimit(name="core", soft=0, hard=0),
            ],
            tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={room}", HOME: home},  # noqa: S108 - inside
            mounts=[_bind(mount) for mount in job.mounts],
            log_config=types.LogConfig(
                type="json-file", config={"max-size": str(docker_logs.MAX_SIZE), "max-file": str(docker_logs.MAX_FILES)}
            ),
            restart_policy={"Name": "no", "MaximumRetryCount": 0},
        )

    def _adopt(self, job: Job) -> bool:
        """Take over the container of that name; False when it still has to be started."""
        found = self.client.inspect_container(job.name)
        run = (found["Config"].get("Labels") or {}).get(RUN_LABEL)
        if run != job.run_id:
            raise MachineLacks(f"a container {job.name!r} exists that is not of this run", f"docker rm {job.name}")
        if docker_restart.killed_by_it(self.client, found["State"]):
            self.remove(job.name)
            raise EngineLost(
                f"docker was restarted and killed {job.name}", "start it anew; it is no failure of the worker"
            )
        return bool(found["State"]["Status"] != "created")

    def _recall(self, job: Job) -> tuple[float, int]:
        """Work out when an adopted container began, on our monotonic clock, and what its mounts held then."""
        with speaking(f"look at {job.name}"):
            found = self.client.inspect_container(job.name)
        age = max(0.0, (datetime.now(UTC) - docker_restart.instant(found["State"]["StartedAt"])).total_seconds())
        before = int((found["Config"].get("Labels") or {}).get(_DISK_LABEL, 0))
        self._began[job.name] = (time.monotonic() - age, before)
        return self._began[job.name]

    def _state(self, name: str) -> Mapping[str, Any]:
        with speaking(f"look at {name}"):
            state: Mapping[str, Any] = self.client.inspect_container(name)["State"]
        return state

    def _kill(self, name: str) -> None:
        with speaking(f"kill {name}"):
            try:
                with effect("container.kill"):
                    self.client.kill(name)
            except errors.APIError as error:
                if error.status_code != CONFLICT:  # 409: it ended by itself meanwhile
                    raise

    def _copy_log(self, job: Job) -> None:
        with speaking(f"read the output of {job.name}"), BoundedLog(job.log) as log:
            log.cut_before = not docker_logs.read(self.client, job.name, log.write)

    def _reason(self, job: Job, exit_code: int, looks: watch.Watch) -> StopReason:
        # The out-of-memory mark also shows when a child was killed and the job coped: then it is no victim.
        if exit_code != 0 and self._state(job.name).get("OOMKilled"):
            return StopReason.MEMORY
        return looks.ended_by(exit_code)


class _PidsHits:
    """Reads from the container's cgroup how often a process was refused; the file stays open while it lives."""

    def __init__(self, name: str, state: Callable[[str], Mapping[str, Any]]) -> None:
        self._name = name
        self._state = state
        self._file: Path | None = None
        self._looked = False

    def __call__(self) -> int | None:
        if not self._looked:
            self._looked = True
            self._file = _pids_events(int(self._state(self._name).get("Pid") or 0))
        if self._file is None:
            return None
        try:
            return int(self._file.read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return None


def _pids_events(pid: int) -> Path | None:
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = "pids/" if "pids" in controllers.split(",") else "" if not controllers else None
        if root is not None:
            file = Path(f"/sys/fs/cgroup/{root}{path.lstrip('/')}/pids.events")
            if file.exists():
                return file
    return None


def _bind(mount: Mount) -> types.Mount:
    # type "bind" refuses a missing source; "-v" would create it, owned by root
    return types.Mount(target=mount.target, source=str(mount.source), type="bind", read_only=not mount.writable)


def _gaps(info: Mapping[str, Any]) -> Iterator[str]:
    yield "disk (watched twice a second, not a quota)"
    for key, limit in (
        ("MemoryLimit", "memory"),
        ("SwapLimit", "swap"),
        ("CpuCfsQuota", "cpus"),
        ("PidsLimit", "pids"),
    ):
        if info.get(key) is False:
            yield limit
