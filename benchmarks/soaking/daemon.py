"""A docker engine of the bench's own, which can be killed: in its own network and mount namespace, it comes back.

A second engine in the network namespace of the first would destroy the first one's bridge; this one never touches it.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from soaking.audit import never_began

from packets.errors import MachineLacks
from packets.plan import Image
from sandbox.docker import DockerSandbox
from sandbox.image import ensure_image

_PATIENCE = 60.0  # seconds an engine may take to answer
_FORGETS = 1.0  # seconds before its death of which an engine may have written nothing down
_SIGNALS = 125  # exit codes from here on are the engine's or a signal's


class Events:
    """What an engine says itself of the containers that it started and that ended: a witness that keeps no records."""

    def __init__(self, host: str, file: Path) -> None:
        self._host, self._file = host, file
        self.killed: list[float] = []
        self._closing = False
        threading.Thread(target=self._read, args=(time.time(),), daemon=True).start()

    def told(self) -> list[dict[str, Any]]:
        """Return what was said, in order."""
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def workers(self, runs: Collection[str], kind: str = "work") -> list[tuple[str, str, int]]:
        """Return (begin|end, module, attempt) of the workers of these runs; one that was killed has no end.

        Neither has one that ended in the moment in which its engine was killed: the engine comes back without knowing
        how, and shows it as failed.
        """
        lines = []
        for event in self.told():
            about = event["Actor"]["Attributes"]
            if about.get("grace.kind") != kind or about.get("grace.run") not in runs:
                continue
            ended = event["Action"] == "die" and int(about["exitCode"]) < _SIGNALS
            if ended and any(0 <= at - event["timeNano"] / 1e9 < _FORGETS for at in self.killed):
                continue
            if event["Action"] == "start" or ended:
                what = "begin" if event["Action"] == "start" else "end"
                lines.append((what, about["grace.module"], int(about["grace.attempt"])))
        return lines

    def close(self) -> None:
        """Ask no more."""
        self._closing = True

    def _read(self, since: float) -> None:
        """Listen; when the engine dies, ask again from its last word on."""
        while not self._closing:
            command = ["docker", "-H", self._host, "events", "--since", f"{since:.9f}", "--filter", "type=container"]
            with self._file.open("a") as out:
                subprocess.run([*command, "--format", "{{json .}}"], stdout=out, stderr=subprocess.DEVNULL, check=False)
            if told := self.told():
                since = (told[-1]["timeNano"] + 1) / 1e9
            time.sleep(0.05)


class Daemon:
    """One engine below `folder`."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0 or not shutil.which("dockerd"):
            raise SystemExit("soak: an engine of its own needs root and dockerd; or: --engine memory")
        folder.mkdir(parents=True)
        self.folder = folder
        self.host = f"unix://{folder}/d.sock"
        flags = f"-H {self.host} --data-root {folder}/data --exec-root {folder}/exec -p {folder}/pid --iptables=false"
        once = (
            f"dockerd {flags} >>{folder}/log 2>&1; rm -f {folder}/pid; while [ -e {folder}/hold ]; do sleep 0.1; done"
        )
        loop = f"ip link set lo up; while [ ! -e {folder}/stop ]; do {once}; done"
        self._process = subprocess.Popen(["unshare", "-n", "-m", "sh", "-c", loop], start_new_session=True)
        self.connect().close()
        self.events = Events(self.host, folder / "events.jsonl")

    def connect(self) -> DockerSandbox:
        """Wait until the engine answers."""
        before = os.environ.get("GRACE_DOCKER_HOST")
        os.environ["GRACE_DOCKER_HOST"] = self.host
        until = time.monotonic() + _PATIENCE
        try:
            while True:
                try:
                    return DockerSandbox.connect(timeout=5)
                except MachineLacks:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.1)
        finally:
            os.environ.pop("GRACE_DOCKER_HOST")
            if before is not None:
                os.environ["GRACE_DOCKER_HOST"] = before

    def build(self) -> None:
        """Build the worker image, so that no run has to."""
        sandbox = self.connect()
        ensure_image(Image(), sandbox, Path.cwd(), progress=print)
        sandbox.close()

    def docker(self, *args: str) -> list[str]:
        """Ask the engine; an engine that is down says nothing."""
        done = subprocess.run(["docker", "-H", self.host, *args], capture_output=True, text=True, check=False)
        return done.stdout.split()

    def kill(self, down: float) -> bool:
        """Kill -9 the engine; it comes back after `down` seconds. False where it is down already."""
        try:
            number = int((self.folder / "pid").read_text())
        except (FileNotFoundError, ValueError):
            return False
        (self.folder / "hold").touch()
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
            self.events.killed.append(time.time())
        threading.Timer(down, lambda: (self.folder / "hold").unlink(missing_ok=True)).start()
        return True

    def there(self) -> dict[str, list[str]]:
        """Name what lies on the engine: it is ours alone, so nothing may, besides what every engine has."""
        self.connect().close()
        networks = self.docker("network", "ls", "--format", "{{.Name}}")
        return {
            "container": self.docker("ps", "-a", "--format", "{{.Names}}"),
            "volume": self.docker("volume", "ls", "-q"),
            "network": [name for name in networks if name not in {"bridge", "host", "none"}],
            "process": [str(child) for shim in self._shims() for child in _children(shim) if not never_began(child)],
        }

    def _shims(self) -> list[int]:
        """Return the processes that hold a container each, also such as the engine has forgotten when it was killed."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                said = path.read_bytes()
                if b"containerd-shim" in said and str(self.folder).encode() in said:
                    found.append(int(path.parent.name))
        return found

    def close(self) -> None:
        """End the engine and drop what it held."""
        self.events.close()
        (self.folder / "stop").touch()
        self.connect().close()
        os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)
        self._process.wait(_PATIENCE)
        for shim in self._shims():
            with contextlib.suppress(ProcessLookupError):
                os.kill(shim, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in listed]
