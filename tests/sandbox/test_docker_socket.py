"""An engine that dies at any byte of any answer leaves no socket open, and never a silence."""

import contextlib
import gc
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from packets.errors import EngineLost
from sandbox.docker import DockerSandbox
from sandbox.docker_wait import End
from sandbox.protocol import Job

_ENGINE = os.environ.get("GRACE_DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


class Frail:
    """Stands before the real engine; goes away, refusing all that comes later, when `left` bytes are handed back."""

    def __init__(self, path: Path) -> None:
        self.left = 1 << 40
        self.died = threading.Event()
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(path))
        self._door.listen()
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def _serve(self) -> None:
        while not self.died.is_set():
            try:
                near, _ = self._door.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(_ENGINE)
            with self._lock:
                self._open += [near, far]
                if self.died.is_set():
                    self._end()
            for give, take, counted in ((near, far, False), (far, near, True)):
                self._threads.append(
                    threading.Thread(target=self._copy, args=(give, take), kwargs={"counted": counted}, daemon=True)
                )
                self._threads[-1].start()

    def _copy(self, give: socket.socket, take: socket.socket, *, counted: bool) -> None:
        try:
            while data := give.recv(1 << 16):
                with self._lock:
                    data = data[: self.left] if counted else data
                    take.sendall(data)
                    self.left -= len(data) if counted else 0
                    if self.left <= 0:
                        return self._die()
            take.shutdown(socket.SHUT_WR)
        except OSError:
            return None

    def _die(self) -> None:
        self.died.set()
        self._end()

    def _end(self) -> None:
        for one in (self._door, *self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def close(self) -> None:
        with self._lock:
            self._die()
        for thread in self._threads:
            thread.join(60)
        for one in self._open:
            one.close()


@pytest.fixture
def frail(
    docker_engine: DockerSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Frail]]:
    made: list[Frail] = []

    def make() -> Frail:
        path = tmp_path / f"{len(made)}.sock"
        monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{path}")
        made.append(Frail(path))
        return made[-1]

    yield make
    for one in made:
        one.close()


def _both(engine: DockerSandbox, job: Job) -> None:
    engine.start(job)
    engine.wait(job)


def _sockets() -> set[str]:
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(link.readlink()))
        except OSError:
            continue
    return {name for name in found if name.startswith("socket:")}


def _none_left(before: set[str]) -> None:
    """Whatever is still open when all of it was collected was closed by nobody; collecting one is an error too."""
    gc.collect()
    assert _sockets() <= before


@pytest.mark.parametrize("left", [*range(1, 700, 45), 1_500, 9_000, 40_000])
def test_an_engine_that_dies_at_any_byte_leaves_no_socket(
    docker_engine: DockerSandbox, docker_image: str, frail: Callable[[], Frail], tmp_path: Path, left: int
) -> None:
    said = 60_000
    run_id = f"s{uuid4().hex[:10]}"
    words = ("sh", "-c", f"head -c {said} /dev/zero | tr '\\0' x")
    job = Job(run_id=run_id, name=f"{run_id}-1", argv=words, log=tmp_path / "log", cwd="/", image=docker_image)
    before = _sockets()
    proxy = frail()
    engine = DockerSandbox.connect()
    proxy.left = left
    try:
        with pytest.raises(EngineLost):
            _both(engine, job)
        with pytest.raises(EngineLost, match="refused"):
            engine.remaining(run_id)
        assert proxy.died.is_set()
        assert not job.log.exists() or job.log.stat().st_size < said, "a piece is not passed off as the whole"
    finally:
        engine.close()
        proxy.close()
        docker_engine.remove(job.name)
    _none_left(before)


def test_a_refused_connection_is_closed(frail: Callable[[], Frail]) -> None:
    before = _sockets()
    proxy = frail()
    engine = DockerSandbox.connect()
    proxy.close()
    for _ in range(3):
        with pytest.raises(EngineLost, match="refused"):
            engine.remaining("none")
    engine.close()
    _none_left(before)


def test_a_stream_that_nobody_reads_to_its_end_is_closed(docker_engine: DockerSandbox) -> None:
    before = _sockets()
    second = DockerSandbox.connect()
    response = second.client.get(f"{second.client.base_url}/events", stream=True)
    assert response.raw.closed is False
    del response
    gc.collect()
    second.close()
    _none_left(before)


def test_who_stops_waiting_leaves_no_request_behind(
    docker_engine: DockerSandbox, docker_image: str, tmp_path: Path
) -> None:
    run_id = f"s{uuid4().hex[:10]}"
    job = Job(
        run_id=run_id, name=f"{run_id}-1", argv=("sleep", "100"), log=tmp_path / "log", cwd="/", image=docker_image
    )
    docker_engine.start(job)
    before = _sockets()
    second = DockerSandbox.connect()
    try:

        def interrupted() -> bool:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            second.wait(job, interrupted)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("wait ")]
    finally:
        second.close()
        docker_engine.remove(job.name)
    _none_left(before)


def test_a_wait_that_hears_nothing_asks_again(docker_engine: DockerSandbox, docker_image: str, tmp_path: Path) -> None:
    run_id = f"s{uuid4().hex[:10]}"
    words = ("sh", "-c", "sleep 3; exit 4")
    job = Job(run_id=run_id, name=f"{run_id}-1", argv=words, log=tmp_path / "log", cwd="/", image=docker_image)
    second = DockerSandbox.connect()
    try:
        second.start(job)
        second.client.timeout = 1
        with End(second.client, job.name, job.name) as end:
            assert end.wait(60)
            assert end.result() == 4
    finally:
        second.close()
        docker_engine.remove(job.name)
