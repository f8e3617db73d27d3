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
from typing import Any, NamedTuple

from docker import APIClient, errors, types

from packets.errors import EngineLost, MachineLacks
from packets.outcome import StopReason
from sandbox import docker_labels, docker_logs, docker_restart, watch
from sandbox.docker_client import CONFLICT, open_client, speaking
from sandbox.docker_pids import PidsHits
from sandbox.docker_wait import End
from sandbox.effect import effect
from sandbox.output import BoundedLog
from sandbox.protocol import Ending, Job, Mount, Sandbox, never

HOME = "/home/grace"
_UID = 1000  # the user of the worker image, when we are root
_FILES = 16384  # an engine without CAP_SYS_RESOURCE cannot raise its own limit, which is often 20000
_KILL_TIMEOUT = 30.0
_REMOVAL = 60.0  # seconds that somebody else's removal of our container may take
_ANEW = "start it anew; it is no failure of the worker"
_GOING = frozenset({"removing", "dead"})


class _Known(NamedTuple):
    """A container of ours: by id, for a name can be another's a moment later; `began` is on our monotonic clock."""

    id: str
    began: float
    disk_before: int


class DockerSandbox(Sandbox):
    """Containers on one engine. Safe to share between threads; `close` when done (garbage collection does it too)."""

    name = "docker"

    def __init__(self, client: APIClient, info: Mapping[str, Any]) -> None:
        self.client = client
        self._info = info
        self._known: dict[str, _Known] = {}
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
                    container = self._create(job, before)
            except errors.ImageNotFound:
                raise MachineLacks(
                    f"docker has no image {job.image!r}", "run `grace sandbox build`, or pull the image"
                ) from None
            except errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
                if self._adopt(job):
                    return
                with effect("container.create"):
                    container = self._create(job, before)
            with effect("container.start"):
                self.client.start(container)
        self._known[job.name] = _Known(container, time.monotonic(), before)

    def wait(self, job: Job, cancelled: Callable[[], bool] = never) -> Ending:
        """Block until the end of the container; kill it when the deadline, a limit or `cancelled` says so."""
        known = self._known.get(job.name) or self._recall(job)
        looks = watch.Watch(
            job,
            began=known.began,
            disk_before=known.disk_before,
            cancelled=cancelled,
            pids_hits=PidsHits(lambda: self._state(job.name, known.id)) if self.local else lambda: None,
        )
        reason = None
        with End(self.client, known.id, job.name) as end:
            while not end.wait(watch.TICK):
                reason = looks.tripped()
                if reason:
                    self._kill(job.name, known.id)
                    end.wait(_KILL_TIMEOUT)
                    break
            exit_code = end.result()
        duration = time.monotonic() - known.began
        state = self._state(job.name, known.id)
        if state["Status"] in _GOING:  # its output goes first
            raise EngineLost(f"somebody removed {job.name} while it worked", _ANEW)
        self._copy_log(job, known.id)
        if reason:
            return Ending(None, reason, duration)
        return self._own_end(job, state, exit_code, looks)

    def _own_end(self, job: Job, state: Mapping[str, Any], exit_code: int, looks: watch.Watch) -> Ending:
        """Judge an end that this life of ours did not bring."""
        duration = docker_restart.lasted(state)
        if duration >= job.deadline:
            return Ending(None, StopReason.DEADLINE, duration)
        with speaking(f"look how {job.name} ended"):
            others = docker_restart.interrupted(self.client, job.name, state, job.deadline)
        if others:
            raise EngineLost(others, _ANEW)
        return Ending(exit_code, _reason(state, exit_code, looks), duration)

    def remove(self, name: str) -> None:
        """Kill and remove the container, if it is one of ours; when this returns, nothing of it lives."""
        self._known.pop(name, None)
        with speaking(f"remove {name}"), contextlib.suppress(errors.NotFound):
            found = self.client.inspect_container(name)
            if docker_labels.is_ours(docker_labels.of(found), name):
                self._remove(found["Id"], name)

    def _remove(self, container: str, name: str) -> None:
        until = time.monotonic() + _REMOVAL
        while time.monotonic() < until:
            try:
                with effect("container.remove"):
                    self.client.remove_container(container, force=True, v=True)
            except errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
            else:
                return
            time.sleep(watch.TICK)  # somebody else removes it: it may write until it is gone
        raise EngineLost(f"docker does not get rid of {name}", "look at the engine's log")

    def remaining(self, run_id: str) -> tuple[str, ...]:
        """Name every container of the run."""
        with speaking("list containers"):
            found = self.client.containers(all=True, filters={"label": f"{docker_labels.RUN}={run_id}"})
        named = {str(name).lstrip("/"): one.get("Labels") or {} for one in found for name in one["Names"] or ()}
        return tuple(sorted(name for name, carried in named.items() if docker_labels.is_ours(carried, name)))

    @property
    def local(self) -> bool:
        """Whether the engine runs on this very kernel, so that its cgroups can be read."""
        return bool(self._info.get("KernelVersion") == os.uname().release)

    def _create(self, job: Job, disk_before: int) -> str:
        made = self.client.create_container(
            image=job.image,
            command=list(job.argv),
            entrypoint=[],
            name=job.name,
            hostname="grace",
            user=self.user,
            working_dir=job.cwd,
            environment={**job.env, "HOME": HOME, "LANG": "C.UTF-8", "USER": "grace"},
            labels=docker_labels.labels(job, disk_before),
            network_disabled=True,
            stdin_open=False,
            tty=False,
            host_config=self._hardening(job),
            # The SDK would copy the proxies of ~/.docker/config.json, passwords and all, into the container.
            use_config_proxy=False,
        )
        return str(made["Id"])

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
        """Take over the container of that name; one that never began makes place, and the answer is no.

        An engine that is killed in the middle of a start may keep half a task of it, and then never starts it.
        """
        found = self.client.inspect_container(job.name)
        docker_labels.check(found, job)
        state = found["State"]
        if state["Status"] in _GOING:
            self.remove(job.name)
            raise EngineLost(f"somebody removed {job.name}", _ANEW)
        if others := docker_restart.interrupted(self.client, job.name, state, job.deadline):
            self.remove(job.name)
            raise EngineLost(others, _ANEW)
        if state["Status"] == "created":
            self.remove(job.name)
            return False
        if job.name not in self._known or self._known[job.name].id != found["Id"]:
            self._known[job.name] = _recalled(found)
        return True

    def _recall(self, job: Job) -> _Known:
        """Find the container that another life of ours started."""
        with speaking(f"look at {job.name}"):
            found = self.client.inspect_container(job.name)
        docker_labels.check(found, job)
        return self._known.setdefault(job.name, _recalled(found))

    def _state(self, name: str, container: str) -> Mapping[str, Any]:
        with speaking(f"look at {name}"):
            state: Mapping[str, Any] = self.client.inspect_container(container)["State"]
        return state

    def _kill(self, name: str, container: str) -> None:
        with speaking(f"kill {name}"):
            try:
                with effect("container.kill"):
                    self.client.kill(container)
            except errors.APIError as error:
                if error.status_code != CONFLICT:  # 409: it ended by itself meanwhile
                    raise

    def _copy_log(self, job: Job, container: str) -> None:
        with speaking(f"read the output of {job.name}"), BoundedLog(job.log) as log:
            try:
                log.cut_before = not docker_logs.read(self.client, container, log.write)
            except errors.APIError as error:
                if error.status_code != CONFLICT:
                    raise
                raise EngineLost(f"somebody removed {job.name} while it was read", _ANEW) from error


def _recalled(found: Mapping[str, Any]) -> _Known:
    """Work out when the container began, on our monotonic clock, and what its mounts held then."""
    age = max(0.0, (datetime.now(UTC) - docker_restart.instant(found["State"]["StartedAt"])).total_seconds())
    before = int(docker_labels.of(found).get(docker_labels.DISK, 0))
    return _Known(str(found["Id"]), time.monotonic() - age, before)


def _reason(state: Mapping[str, Any], exit_code: int, looks: watch.Watch) -> StopReason:
    # The out-of-memory mark also shows when a child was killed and the job coped: then it is no victim.
    return StopReason.MEMORY if exit_code != 0 and state.get("OOMKilled") else looks.ended_by(exit_code)


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
