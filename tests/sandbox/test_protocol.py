"""What every isolating engine promises, shown by breaking out or trying to: docker and bubblewrap alike."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from packets.errors import MachineLacks
from packets.limits import Limits
from packets.outcome import StopReason
from sandbox.protocol import Ending, Job, Mount, Sandbox

Run = Callable[..., tuple[Ending, str]]

_NETWORK = """
import json, socket
def tried(what):
    try:
        what(); return "connected"
    except OSError as error:
        return type(error).__name__
def tcp(host, port):
    return lambda: socket.create_connection((host, port), timeout=2).close()
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: s.sendto(b"x", ("1.1.1.1", 53))
def unix(path):
    def go():
        with socket.socket(socket.AF_UNIX) as s: s.connect(path)
    return go
print(json.dumps({
    "tcp": tried(tcp("1.1.1.1", 443)), "udp": tried(udp), "dns": tried(lambda: socket.getaddrinfo("pypi.org", 443)),
    "metadata": tried(tcp("169.254.169.254", 80)), "host": tried(tcp("127.0.0.1", PORT)),
    "gateway": tried(tcp("172.17.0.1", PORT)),
    "docker": tried(unix("/var/run/docker.sock")), "abstract": tried(unix("\\0grace-test-PORT")),
}))
"""

_WALLS = """
import ctypes, errno, json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
def written(path):
    try:
        open(path, "w").close(); return "written"
    except OSError as error:
        return errno.errorcode[error.errno]
def opened_kernel_files():
    found = ["/proc/sysrq-trigger"]
    for top in ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/sys"):
        found += [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
    opened = []
    for path in found:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        opened.append(path)
    return opened
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, MS_BIND = 0x10000000, 4096
print(json.dumps({
    "caps": [status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new_privs": status["NoNewPrivs"].strip(),
    "uid": os.getuid(),
    "written": {path: written(path) for path in ("/x", "/usr/bin/x", "/etc/passwd", "/repo/outside", "/repo/.git/x",
        "/grace/x", "/grace/packet.yaml", "/sys/x")},
    "kernel": opened_kernel_files(),
    "kept": {path: written(path) for path in ("/repo/src/x", "/grace/out/x", "/tmp/x", os.path.expanduser("~/x"))},
    "namespace": libc.unshare(CLONE_NEWUSER), "mount": libc.mount(b"/tmp", b"/repo", b"", MS_BIND, None),
    "processes": sorted(p for p in os.listdir("/proc") if p.isdigit()),
    "environment": dict(os.environ),
    "environments": [open(f"/proc/{p}/environ", errors="replace").read() for p in os.listdir("/proc") if p.isdigit()
        and os.access(f"/proc/{p}/environ", os.R_OK)],
    "lines": [open(f"/proc/{p}/cmdline", errors="replace").read() for p in os.listdir("/proc") if p.isdigit()],
}))
"""

_BOMB = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass\n"
_HOG = "held = []\nwhile True: held.append(bytearray(4 << 20))\n"
_FILLER = "import os\nfor n in range(10**6): open(f'/repo/src/{n}', 'wb').write(os.urandom(1 << 20))\n"
_INODES = (
    "import os\nos.chdir('/repo/src')\nfor n in range(10**6): os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))\n"
)


@pytest.fixture
def repo(tmp_path: Path, engine: Sandbox) -> Path:
    """A base that may be read and `src` that may be written, as a workspace shows them."""
    base = tmp_path / "repo"
    for folder in ("src", ".git"):
        (base / folder).mkdir(parents=True)
    (base / "README").write_text("base\n")
    (base / "src" / "a.py").write_text("a = 1\n")
    (tmp_path / "grace" / "out").mkdir(parents=True)
    (tmp_path / "grace" / "packet.yaml").write_text("packet\n")
    for path in (base / "src", base / "src" / "a.py", tmp_path / "grace" / "out"):
        if engine.owner is not None:
            os.chown(path, engine.owner, engine.owner)
    return base


@pytest.fixture
def mounts(repo: Path) -> tuple[Mount, ...]:
    grace = repo.parent / "grace"
    return (
        Mount(grace, "/grace"),
        Mount(grace / "out", "/grace/out", writable=True),
        Mount(repo, "/repo"),
        Mount(repo / "src", "/repo/src", writable=True),
    )


@pytest.fixture
def make(engine: Sandbox, engine_image: str, mounts: tuple[Mount, ...], tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Describe a job of a run of its own; whatever was started is removed, and nothing remains."""
    run_id = f"t{uuid4().hex[:10]}"
    names: list[str] = []

    def job(*argv: str, **about: object) -> Job:
        names.append(f"{run_id}-{len(names)}")
        fields: dict[str, object] = {"mounts": mounts, "image": engine_image, "run_id": run_id, "name": names[-1]}
        return Job(argv=argv, log=tmp_path / f"{names[-1]}.log", **{**fields, **about})  # type: ignore[arg-type]

    yield job
    for name in names:
        engine.remove(name)
    assert engine.remaining(run_id) == ()


@pytest.fixture
def run(engine: Sandbox, make: Callable[..., Job]) -> Run:
    def go(*argv: str, **about: object) -> tuple[Ending, str]:
        job = make(*argv, **about)
        engine.start(job)
        ending = engine.wait(job)
        return ending, job.log.read_text(errors="replace")

    return go


def test_exit_codes_and_both_outputs_come_back(run: Run) -> None:
    ending, log = run("sh", "-c", "echo one; echo two >&2; exit 7")
    assert (ending.exit_code, ending.reason) == (7, StopReason.EXITED)
    assert sorted(log.split()) == ["one", "two"]
    assert ending.duration < 30


def test_a_program_that_is_missing_ends_with_127(run: Run) -> None:
    ending, log = run("no-such-program")
    assert (ending.exit_code, ending.reason) == (127, StopReason.EXITED)
    assert "no-such-program" in log


def test_a_signal_is_128_and_its_number(run: Run) -> None:
    ending, _ = run("sh", "-c", "kill -TERM $$")
    assert (ending.exit_code, ending.reason) == (143, StopReason.EXITED)


def test_the_image_has_what_workers_and_checks_need(run: Run) -> None:
    words = (
        "python3 --version; pytest --version; pip --version; git --version; bash -c true; sed --version; tar --version"
    )
    ending, log = run(
        "sh",
        "-ec",
        words + "; date; python3 -c 'import ssl, sqlite3, ctypes, zoneinfo; "
        "zoneinfo.ZoneInfo(\"Europe/Berlin\")'; printf 'ä' | grep -q . ; locale | grep -i utf",
    )
    assert ending.exit_code == 0, log
    assert "pytest 8" in log or "pytest 9" in log


def test_f4_nothing_but_the_scope_can_be_written_and_nothing_raised(run: Run) -> None:
    ending, log = run("python3", "-c", _WALLS)
    assert ending.exit_code == 0, log
    seen = json.loads(log)
    assert set(seen["caps"]) == {"0" * 16}
    assert seen["no_new_privs"] == "1"
    assert seen["uid"] != 0
    assert set(seen["written"].values()) <= {"EROFS", "EACCES", "EPERM", "ENOENT"}, seen["written"]
    assert seen["written"]["/repo/outside"] == "EROFS"
    assert seen["written"]["/x"] == "EROFS"
    assert set(seen["kept"].values()) == {"written"}
    assert seen["kernel"] == [], "root's uid could change the kernel of the host"
    assert (seen["namespace"], seen["mount"]) == (-1, -1)
    assert len(seen["processes"]) <= 3


def test_f8_no_variable_of_the_host_is_inside(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    canary = f"canary-{uuid4().hex}"
    monkeypatch.setenv("GRACE_TEST_KEY", canary)
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:{canary}@proxy:1")
    ending, log = run("python3", "-c", _WALLS, env={"GRACE_RUN": "r1", "GRACE_TOKEN": "token-of-this-job"})
    assert ending.exit_code == 0, log
    assert canary not in log
    seen = json.loads(log)
    assert set(seen["environment"]) <= {
        "PATH",
        "HOME",
        "LANG",
        "USER",
        "PWD",
        "HOSTNAME",
        "GRACE_RUN",
        "GRACE_TOKEN",
        "LC_CTYPE",
    }
    assert seen["environment"]["GRACE_RUN"] == "r1"
    assert seen["environment"]["HOME"] == "/home/grace"
    others = [line for line in seen["lines"] if "import ctypes" not in line]
    assert not [line for line in others if str(tmp_path) in line], "host paths are nobody's business inside"


def test_f7_nothing_can_be_reached(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        port = server.getsockname()[1]
        abstract.bind(f"\0grace-test-{port}")
        abstract.listen()
        ending, log = run("python3", "-c", _NETWORK.replace("PORT", str(port)))
    assert ending.exit_code == 0, log
    assert "connected" not in json.loads(log).values(), log


def test_f1_rm_rf_of_everything_leaves_the_host_alone(run: Run, repo: Path) -> None:
    ending, _ = run("sh", "-c", "rm -rf --no-preserve-root / ../.. /repo/.. 2>/dev/null; exit 0")
    assert ending.exit_code == 0
    assert (repo / "README").read_text() == "base\n"
    assert (repo / ".git").is_dir()
    assert (repo.parent / "grace" / "packet.yaml").read_text() == "packet\n"
    assert list((repo / "src").iterdir()) == [], "what it may write it may delete"
    assert Path("/usr/bin/env").exists()
    assert run("true")[0].exit_code == 0, "the image is as it was"


def test_g1_files_belong_to_the_user_and_can_be_read(run: Run, repo: Path, engine: Sandbox) -> None:
    ending, log = run("sh", "-c", "umask 077; mkdir src/d && echo x > src/d/f && touch /grace/out/r")
    assert ending.exit_code == 0, log
    wanted = os.getuid() if engine.owner is None else engine.owner
    for path in (repo / "src/d", repo / "src/d/f", repo.parent / "grace/out/r"):
        assert path.stat().st_uid == wanted
    assert (repo / "src/d/f").read_text() == "x\n"


def test_the_deadline_kills_and_says_so(run: Run) -> None:
    began = time.monotonic()
    ending, log = run("sh", "-c", "trap '' TERM INT HUP; echo begun; while :; do sleep 1; done", deadline=1.0)
    assert (ending.exit_code, ending.reason) == (None, StopReason.DEADLINE)
    assert 1.0 <= ending.duration < 5
    assert time.monotonic() - began < 10
    assert log == "begun\n"


def test_g3_cancelling_one_leaves_the_other(engine: Sandbox, make: Callable[..., Job]) -> None:
    one, other = make("sleep", "60"), make("sh", "-c", "sleep 1; echo lived", run_id=f"o{uuid4().hex[:10]}")
    engine.start(one)
    engine.start(other)
    assert engine.remaining(one.run_id) == (one.name,)
    assert engine.remaining(other.run_id) == (other.name,)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    ending = engine.wait(one, cancel.is_set)
    assert (ending.exit_code, ending.reason) == (None, StopReason.CANCELLED)
    engine.remove(one.name)
    assert engine.wait(other).exit_code == 0
    engine.remove(other.name)
    assert engine.remaining(other.run_id) == ()


def test_g4_a_fork_bomb_is_bounded_and_named(run: Run) -> None:
    ending, _ = run("python3", "-c", _BOMB, limits=Limits(pids=40), deadline=60)
    assert ending.reason is StopReason.PIDS
    assert ending.duration < 30


def test_g4_a_job_that_fails_at_the_process_limit_names_it(run: Run) -> None:
    script = "import os\nfor _ in range(60):\n  if os.fork() == 0: import time; time.sleep(9)\n"
    ending, log = run(
        "python3",
        "-c",
        f"import time\ntry:\n {script.replace(chr(10), chr(10) + ' ')}\nexcept OSError: time.sleep(.4); raise",
        limits=Limits(pids=20),
    )
    assert (ending.exit_code, ending.reason) == (1, StopReason.PIDS), log


def test_g4_a_memory_hog_is_bounded_and_named(run: Run) -> None:
    ending, _ = run("python3", "-c", _HOG, limits=Limits(memory=96 << 20), deadline=60)
    assert ending.reason is StopReason.MEMORY
    assert ending.duration < 30


def test_g4_memory_disks_are_bounded_too(run: Run) -> None:
    for place in ("/tmp/x", "/home/grace/x", "/dev/shm/x"):
        ending, log = run("dd", "if=/dev/zero", f"of={place}", "bs=1M", "count=400", limits=Limits(memory=96 << 20))
        assert ending.exit_code != 0, f"{place}: {log}"


@pytest.mark.parametrize("filler", [_FILLER, _INODES], ids=["bytes", "inodes"])
def test_g4_a_disk_filler_is_bounded_and_named(run: Run, repo: Path, filler: str) -> None:
    ending, log = run("python3", "-c", filler, limits=Limits(disk=8 << 20), deadline=60)
    assert (ending.exit_code, ending.reason) == (None, StopReason.DISK), log
    assert ending.duration < 30


def test_g4_one_huge_file_meets_the_file_limit(run: Run, repo: Path) -> None:
    ending, _ = run("sh", "-c", "head -c 90000000 /dev/zero > src/big", limits=Limits(disk=16 << 20))
    assert ending.reason is StopReason.DISK
    assert (repo / "src" / "big").stat().st_size <= 16 << 20


def test_what_the_mounts_held_before_does_not_count(run: Run, repo: Path) -> None:
    (repo / "src" / "old").write_bytes(os.urandom(4 << 20))
    ending, _ = run("sh", "-c", "head -c 100000 /dev/zero > src/new; sleep 0.8", limits=Limits(disk=2 << 20))
    assert (ending.exit_code, ending.reason) == (0, StopReason.EXITED)


def test_c7_a_flood_a_huge_line_and_binary_are_kept_bounded(run: Run) -> None:
    script = "import sys; o = sys.stdout.buffer\nfor _ in range(24): o.write(b'l' * 999_999 + b'\\n')"
    script += "\no.write(b'x' * 10_000_000 + b'\\n' + bytes(range(256)) + b'\\nlast\\n')"
    ending, log = run("python3", "-c", script)
    assert ending.exit_code == 0
    assert len(log) <= (16 << 20) + 1000
    assert log.endswith("last\n")
    assert "x" * 9_000_000 in log
    assert "dropped" in log[:200]


def test_grandchildren_are_gone_at_the_end(run: Run) -> None:
    mark = f"31{uuid4().int % 10**6:06d}"
    ending, _ = run("sh", "-c", f"trap '' HUP; (setsid sleep {mark} &) ; (sleep {mark} &) ; sleep 0.2; exit 0")
    assert ending.exit_code == 0
    assert not _lives(mark)


def test_remove_kills_what_runs_and_twice_is_fine(engine: Sandbox, make: Callable[..., Job]) -> None:
    mark = f"32{uuid4().int % 10**6:06d}"
    job = make("sleep", mark)
    engine.start(job)
    assert _soon(lambda: _lives(mark))
    engine.remove(job.name)
    engine.remove(job.name)
    assert _soon(lambda: not _lives(mark))
    assert engine.remaining(job.run_id) == ()


def test_waiting_again_says_the_same(engine: Sandbox, make: Callable[..., Job]) -> None:
    job = make("sh", "-c", "echo hi; exit 4")
    engine.start(job)
    first = engine.wait(job)
    engine.start(job)
    assert engine.wait(job).exit_code == first.exit_code == 4
    assert job.log.read_text() == "hi\n"


def test_f6_an_image_that_is_missing_is_the_machines_fault(engine: Sandbox, make: Callable[..., Job]) -> None:
    with pytest.raises(MachineLacks, match="no-such-image") as caught:
        engine.start(make("true", image="no-such-image"))
    assert caught.value.exit_code == 3
    assert caught.value.hint


def test_many_at_once(engine: Sandbox, make: Callable[..., Job]) -> None:
    jobs = [make("sh", "-c", f"echo {n}; exit {n}", mounts=(), cwd="/") for n in range(6)]
    codes: dict[int, int | None] = {}

    def one(number: int, job: Job) -> None:
        engine.start(job)
        codes[number] = engine.wait(job).exit_code

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert codes == {n: n for n in range(6)}
    assert [job.log.read_text() for job in jobs] == [f"{n}\n" for n in range(6)]


def _lives(mark: str) -> bool:
    """Whether a `sleep MARK` runs anywhere on this machine."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and mark.encode() in words:
            return True
    return False


def _soon(what: Callable[[], bool], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return what()
