"""Late writers: whatever a job started, however it hides, is dead when its end is told, and writes nothing any more."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from packets.outcome import StopReason
from packets.plan import Image
from sandbox.choose import choose, close
from sandbox.image import ensure_image
from sandbox.protocol import Job, Mount, Sandbox

# Each writer is a daemon by the book: forked twice, in a session of its own, deaf to every signal that can be ignored,
# with closed descriptors; half of them have dropped their environment too. All write without a pause.
_DAEMONS = """
import os, signal, sys, time
WRITER = '''
import os, signal, sys
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
n = 0
while True:
    n += 1
    os.pwrite(file, b"%020d" % n, 0)
    if n % 50 == 0:
        os.close(os.open(sys.argv[1] + ".%d" % (n // 50 % 40), os.O_CREAT | os.O_WRONLY))
'''
mark, wanted, code = sys.argv[1], int(sys.argv[2]), sys.argv[3]
for n in range(wanted):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3): os.close(fd)
            for fd in range(3): os.open(os.devnull, os.O_RDWR)
            line = [sys.executable, "-c", WRITER, os.path.join(os.getcwd(), "late-%d" % n), mark]
            os.execve(sys.executable, line, {} if n % 2 else dict(os.environ))
        os._exit(0)
    os.wait()
while not all(os.path.exists("late-%d.1" % n) for n in range(wanted)):
    time.sleep(0.01)
print("all write", flush=True)
if code == "never":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)
os._exit(int(code))
"""


@pytest.fixture(scope="module", params=["docker", "bubblewrap", "host"])
def engine(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Give every engine that starts real processes."""
    if request.param == "docker":
        yield request.getfixturevalue("docker_engine")
        return
    sandbox = choose(request.param).sandbox
    yield sandbox
    close(sandbox)


@pytest.fixture(scope="module")
def image(engine: Sandbox) -> str:
    return "" if engine.name == "host" else ensure_image(Image(), engine, Path.cwd(), progress=print).ref


@pytest.fixture
def make(engine: Sandbox, image: str, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    repo = tmp_path / "repo"
    repo.mkdir()
    if engine.owner is not None:
        os.chown(repo, engine.owner, engine.owner)
    run_id, mark = f"f{uuid4().hex[:10]}", f"mark{uuid4().hex}"

    def job(code: str, writers: int = 4, **about: object) -> Job:
        python = sys.executable if engine.name == "host" else "python3"
        argv = (python, "-c", _DAEMONS, mark, str(writers), code)
        mounts = (Mount(repo, "/repo", writable=True),)
        return Job(
            run_id=run_id, name=f"{run_id}-1", argv=argv, log=tmp_path / "log", mounts=mounts, image=image, **about
        )  # type: ignore[arg-type]

    yield job
    engine.remove(f"{run_id}-1")
    assert engine.remaining(run_id) == ()
    assert not _alive(mark)


def _alive(mark: str) -> list[int]:
    """Number the processes that carry the mark in their command line; a dead one has none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(path.parent.name))
    return found


def _still(repo: Path) -> None:
    """Assert that nothing changes any more: the same names, bytes and times, again and again."""

    def seen() -> dict[str, tuple[int, bytes]]:
        return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in repo.iterdir()}

    first = seen()
    assert {f"late-{n}.1" for n in range(4)} <= set(first)
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        assert seen() == first


def _mark(job: Job) -> str:
    return job.argv[3]


def _writes(job: Job) -> bool:
    """Tell `wait` to cancel when all writers are at it."""
    repo = job.mounts[0].source
    return all((repo / f"late-{n}.1").exists() for n in range(4))


def _until_written(job: Job) -> None:
    until = time.monotonic() + 60
    while not _writes(job):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("code", ["0", "3"])
def test_what_outlives_its_worker_is_dead_when_the_end_is_told(
    engine: Sandbox, make: Callable[..., Job], code: str
) -> None:
    job = make(code)
    engine.start(job)
    ending = engine.wait(job)
    assert not _alive(_mark(job))
    _still(job.mounts[0].source)
    assert (ending.exit_code, ending.reason) == (int(code), StopReason.EXITED)


@pytest.mark.parametrize("why", [StopReason.DEADLINE, StopReason.CANCELLED])
def test_deadline_and_cancel_leave_nobody_who_writes(
    engine: Sandbox, make: Callable[..., Job], why: StopReason
) -> None:
    job = make("never", deadline=3 if why is StopReason.DEADLINE else 300)
    engine.start(job)
    ending = engine.wait(job, lambda: why is StopReason.CANCELLED and _writes(job))
    assert (ending.exit_code, ending.reason) == (None, why)
    assert not _alive(_mark(job))
    _still(job.mounts[0].source)


def test_remove_leaves_nobody_who_writes(engine: Sandbox, make: Callable[..., Job]) -> None:
    job = make("never")
    engine.start(job)
    _until_written(job)
    engine.remove(job.name)
    assert not _alive(_mark(job))
    _still(job.mounts[0].source)


_LIFE = """
import os, pickle, sys
from sandbox.choose import choose
job = pickle.loads(bytes.fromhex(sys.argv[2]))
engine = choose(sys.argv[1]).sandbox
engine.start(job)
engine.wait(job)
"""


def test_remove_in_the_next_life_leaves_nobody_who_writes(engine: Sandbox, make: Callable[..., Job]) -> None:
    """The one who started it is killed -9 while all write; what comes next to remove it may harvest at once."""
    job = make("never")
    life = subprocess.Popen([sys.executable, "-P", "-c", _LIFE, engine.name, pickle.dumps(job).hex()])
    _until_written(job)
    life.kill()
    life.wait()
    engine.remove(job.name)
    _still(job.mounts[0].source)
    assert not _alive(_mark(job))
