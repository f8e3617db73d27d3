"""What only the docker engine does: adoption, what an inspection shows, an engine that goes away."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from packets.errors import EngineLost, MachineLacks
from packets.limits import Limits
from packets.outcome import StopReason
from sandbox import image_files, image_store
from sandbox.docker import DockerSandbox
from sandbox.protocol import Job, Mount


@pytest.fixture
def make(docker_engine: DockerSandbox, docker_image: str, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    run_id = f"d{uuid4().hex[:10]}"

    def job(*argv: str, **about: object) -> Job:
        fields: dict[str, object] = {"cwd": "/", "image": docker_image}
        return Job(run_id=run_id, name=f"{run_id}-1", argv=argv, log=tmp_path / "log", **{**fields, **about})  # type: ignore[arg-type]

    yield job
    docker_engine.remove(f"{run_id}-1")
    assert docker_engine.remaining(run_id) == ()


def test_h3_a_running_container_is_adopted_with_its_own_deadline(
    docker_engine: DockerSandbox, make: Callable[..., Job]
) -> None:
    job = make("sh", "-c", "echo once; sleep 30", deadline=3)
    docker_engine.start(job)
    before = docker_engine.client.inspect_container(job.name)["Id"]
    time.sleep(1)
    second = DockerSandbox.connect()
    try:
        second.start(job)
        began = time.monotonic()
        ending = second.wait(job)
        assert time.monotonic() - began < 2.9, "the time before the crash counts"
        assert second.client.inspect_container(job.name)["Id"] == before
    finally:
        second.close()
    assert ending.reason is StopReason.DEADLINE
    assert job.log.read_text() == "once\n"


def test_h3_an_ended_container_is_adopted_with_its_result(
    docker_engine: DockerSandbox, make: Callable[..., Job]
) -> None:
    job = make("sh", "-c", "echo once; exit 5")
    docker_engine.start(job)
    assert docker_engine.wait(job).exit_code == 5
    job.log.unlink()
    second = DockerSandbox.connect()
    try:
        second.start(job)
        ending = second.wait(job)
    finally:
        second.close()
    assert (ending.exit_code, ending.reason, job.log.read_text()) == (5, StopReason.EXITED, "once\n")


def test_a_container_that_was_made_but_not_started_is_started(
    docker_engine: DockerSandbox, make: Callable[..., Job]
) -> None:
    job = make("sh", "-c", "exit 6")
    docker_engine._create(job, 0)
    docker_engine.start(job)
    assert docker_engine.wait(job).exit_code == 6


def test_disk_growth_is_counted_from_the_first_start_after_adoption(
    docker_engine: DockerSandbox, make: Callable[..., Job], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if docker_engine.owner is not None:
        os.chown(out, docker_engine.owner, docker_engine.owner)
    script = "head -c 3000000 /dev/zero > /out/a; sleep 1.5; head -c 3000000 /dev/zero > /out/b; sleep 60"
    job = make("sh", "-c", script, mounts=(Mount(out, "/out", writable=True),), limits=Limits(disk=5 << 20))
    docker_engine.start(job)
    time.sleep(0.5)
    second = DockerSandbox.connect()
    try:
        second.start(job)
        assert second.wait(job).reason is StopReason.DISK
    finally:
        second.close()


def test_f8_an_inspection_shows_no_secret_and_every_wall(
    docker_engine: DockerSandbox, make: Callable[..., Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    canary = f"canary-{uuid4().hex}"
    monkeypatch.setenv("GRACE_TEST_KEY", canary)
    config = tmp_path / "config" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"proxies": {"default": {"httpProxy": f"http://user:{canary}@proxy"}}}))
    monkeypatch.setenv("DOCKER_CONFIG", str(config.parent))
    second = DockerSandbox.connect()
    try:
        job = make("true", labels={"grace.module": "m"})
        second.start(job)
        second.wait(job)
        seen = second.client.inspect_container(job.name)
    finally:
        second.close()
    assert canary not in json.dumps(seen)
    host = seen["HostConfig"]
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert (host["Privileged"], host["Init"], host["CapAdd"]) == (False, True, None)
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["Memory"] == host["MemorySwap"] == job.limits.memory
    assert (host["PidsLimit"], host["NanoCpus"]) == (256, 1_000_000_000)
    assert host["LogConfig"]["Config"] == {"max-size": str(8 << 20), "max-file": "3"}
    assert seen["Config"]["User"] == docker_engine.user != "0:0"
    assert {"grace.run", "grace.module"} <= set(seen["Config"]["Labels"])


def test_a_container_that_somebody_removes_is_a_lost_engine_not_a_failure(
    docker_engine: DockerSandbox, make: Callable[..., Job]
) -> None:
    job = make("sleep", "60")
    docker_engine.start(job)
    docker_engine.remove(job.name)
    with pytest.raises(EngineLost):
        docker_engine.wait(job)


def test_more_processors_than_there_are_is_no_error(docker_engine: DockerSandbox, make: Callable[..., Job]) -> None:
    job = make("true", limits=Limits(cpus=512))
    docker_engine.start(job)
    assert docker_engine.wait(job).exit_code == 0


def test_f6_no_engine_is_one_line_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRACE_DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(MachineLacks, match="no Docker engine answers") as caught:
        DockerSandbox.connect()
    assert (caught.value.exit_code, str(tmp_path) in caught.value.message) == (3, True)
    assert "start Docker" in caught.value.hint
    assert "\n" not in caught.value.message


def test_an_engine_that_is_there_for_others_is_not_to_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sandbox.docker_socket._Connection.connect", refused)
    with pytest.raises(MachineLacks, match="Permission denied") as caught:
        DockerSandbox.connect()
    assert "start Docker" not in caught.value.hint
    assert "group `docker`" in caught.value.hint
    assert "sandbox: bubblewrap" in caught.value.hint


class Daemon:
    """An engine of our own in its own network and mount namespace; it comes back when it is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = f"unix://{folder}/d.sock"
        flags = f"-H {self.host} --data-root {folder}/data --exec-root {folder}/exec -p {folder}/pid --iptables=false"
        once = f"dockerd {flags} >>{folder}/log 2>&1; rm -f {folder}/pid"
        loop = f"ip link set lo up; while [ ! -e {folder}/stop ]; do {once}; done"
        self.process = subprocess.Popen(["unshare", "-n", "-m", "sh", "-c", loop], start_new_session=True)

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def connect(self) -> DockerSandbox:
        until = time.monotonic() + 60
        while True:
            try:
                return DockerSandbox.connect(timeout=5)
            except MachineLacks:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def connect_after(self, before: int) -> DockerSandbox:
        """Connect to the engine that came after the one of that process."""
        while Path(f"/proc/{before}").exists():
            time.sleep(0.05)
        return self.connect()

    def close(self) -> None:
        (self.folder / "stop").touch()
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture
def daemon(
    docker_engine: DockerSandbox, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Daemon]:
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("NOT TESTED: killing an engine needs one of our own, so root and dockerd")
    own = Daemon(tmp_path_factory.mktemp("engine"))
    monkeypatch.setenv("GRACE_DOCKER_HOST", own.host)
    yield own
    own.close()


def _tiny(engine: DockerSandbox, folder: Path) -> str:
    """An image of two programs: quick to load into an engine that is new."""
    root = folder / "root"
    for name in ("sh", "sleep"):
        program = Path(shutil.which(name) or name)
        for file in (program, *image_files._closure([program])):
            target = root / image_files._merged(file).relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    for link in ("bin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    if not (root / "usr/bin").is_dir():
        (root / "usr/bin").symlink_to("../bin")
    with (folder / "tar").open("w+b") as archive:
        image_store.pack(root, archive)
    engine.client.import_image(str(folder / "tar"), repository="tiny", changes=["ENV PATH=/usr/bin"])
    return "tiny"


def test_an_engine_that_is_killed_and_comes_back_is_no_failure_of_the_worker(daemon: Daemon, tmp_path: Path) -> None:
    engine = daemon.connect()
    image = _tiny(engine, tmp_path)
    job = Job(run_id="lost", name="lost-1", argv=("sleep", "100"), log=tmp_path / "log", cwd="/", image=image)
    engine.start(job)
    before = daemon.pid
    os.kill(before, signal.SIGKILL)
    with pytest.raises(EngineLost, match="went away"):
        engine.wait(job)
    engine.close()
    again = daemon.connect_after(before)
    try:
        with pytest.raises(EngineLost, match="restarted"):
            again.start(job)
        again.start(Job(**{**job.__dict__, "argv": ("sh", "-c", "exit 3")}))
        assert again.wait(job).exit_code == 3
        again.remove(job.name)
        assert again.remaining("lost") == ()
    finally:
        again.close()


def test_an_engine_that_is_restarted_in_order_is_no_failure_of_the_worker(daemon: Daemon, tmp_path: Path) -> None:
    engine = daemon.connect()
    image = _tiny(engine, tmp_path)
    about = {"run_id": "order", "log": tmp_path / "log", "cwd": "/", "image": image}
    jobs = [
        Job(name=f"order-{number}", argv=("sh", "-c", text), **about)
        for number, text in enumerate(("sleep 100", "trap 'exit 1' TERM; while :; do sleep 0.1; done"))
    ]
    for job in jobs:
        engine.start(job)
    heard: list[object] = []

    def wait(job: Job) -> None:
        try:
            heard.append(engine.wait(job))
        except EngineLost as lost:
            heard.append(lost)

    threads = [threading.Thread(target=wait, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    before = daemon.pid
    os.kill(before, signal.SIGTERM)
    for thread in threads:
        thread.join(60)
    assert [type(one) for one in heard] == [EngineLost, EngineLost], heard
    engine.close()
    again = daemon.connect_after(before)
    try:
        for job in jobs:
            with pytest.raises(EngineLost, match="restarted"):
                again.start(job)
            again.start(replace(job, argv=("sh", "-c", "exit 3")))
            assert again.wait(job).exit_code == 3
            again.remove(job.name)
        assert again.remaining("order") == ()
    finally:
        again.close()
