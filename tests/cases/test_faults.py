"""Weak and broken machines: a disk that is really full, a medium that is read-only, state that somebody damaged."""

import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

PLAN = {
    "A": {"shell": "echo a > src/a.txt", "write_scope": ["src/a.txt"]},
    "B": {"shell": "echo b > src/b.txt", "write_scope": ["src/b.txt"], "depends_on": ["A"]},
}
CHECKS = ["test -f src/a.txt"]
READING = (("status",), ("status", "--json"), ("packets",), ("review",), ("events", "{run}"))
WRITING = (("run", "plan.yaml", "--yes"), ("resume", "{run}"), ("cancel", "{run}"), ("approve", "{run}"),
           ("rollback", "{run}", "--to", "start"))  # fmt: skip


ROOMS = (0, 192 << 10, 512 << 10, 1024 << 10)
"""Bytes left: nothing; no room for a ref; none for what the journal notes; none for the last of what a run stores."""


class Disk:
    """A file system of its own, small enough to be filled."""

    def __init__(self, path):
        self.path = path
        self._filling = threading.Event()

    def mount(self, *options):
        subprocess.run(["mount", *options, str(self.path)], check=True)

    def used(self):
        about = os.statvfs(self.path)
        return (about.f_blocks - about.f_bfree) * about.f_frsize

    @contextmanager
    def but(self, room):
        """Leave so many bytes."""
        ballast = self.path / "ballast"
        about = os.statvfs(self.path)
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, about.f_bavail * about.f_frsize - room))
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def full(self):
        """Fill it, and keep it full whatever is removed meanwhile."""
        self._filling.set()
        thread = threading.Thread(target=self._fill)
        thread.start()
        while os.statvfs(self.path).f_bfree:
            time.sleep(0.01)
        try:
            yield
        finally:
            self._filling.clear()
            thread.join()
            (self.path / "ballast").unlink()

    def _fill(self):
        descriptor = os.open(self.path / "ballast", os.O_WRONLY | os.O_CREAT)
        while self._filling.is_set():
            try:
                os.write(descriptor, b"x" * 65536)
            except OSError:
                time.sleep(0.005)
        os.close(descriptor)


@pytest.fixture
def disk(tmp_path):
    """Mount 32 MiB; where this user may not, say so aloud."""
    made = Disk(tmp_path / "disk")
    made.path.mkdir()
    try:
        made.mount("-t", "tmpfs", "-o", "size=32m", "tmpfs")
    except (OSError, subprocess.CalledProcessError) as fault:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI=true and no file system can be mounted: {fault}", pytrace=False)
        pytest.skip(f"NO FULL DISK, NOT TESTED: nothing can be mounted: {fault}")
    yield made
    subprocess.run(["umount", "-l", str(made.path)], check=True)


@pytest.fixture
def crowded(disk, new_repo):
    """A repository on the small disk."""
    repo = new_repo("../" + disk.path.parent.name + "/disk/repo")
    repo.plan(PLAN, checks=CHECKS)
    return repo


def one_line(result, code, *words):
    """The exit code, one line and a hint, and nothing of our insides."""
    result.exits(code)
    told = [line for line in result.err.splitlines() if line.startswith("grace: ")]
    assert any(line.startswith("  hint: ") for line in result.err.splitlines()), result.said
    for word in words:
        assert word in told[-1] + result.err, result.said
    return told[-1]


def whole(repo, run):
    """The run came to its end as if nothing had been."""
    assert [m["state"] for m in repo.status(run)["modules"]] == ["done", "done"]
    assert [m["attempt"] for m in repo.status(run)["modules"]] == [1, 1]
    for module in PLAN:
        merges = repo.git("log", "--format=%H", "--grep", f"Grace-Module: {module}", "main").split()
        assert len(merges) == 1, "merged once"
    assert (repo.show("src/a.txt"), repo.show("src/b.txt")) == ("a", "b")
    assert repo.leftovers() == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: f"{room >> 10} KiB")
def test_a_disk_that_fills_up_anywhere_stops_the_run_and_loses_nothing(crowded, disk, room):
    """With so much room the run comes to this point or that: it stops with exit 3 and says where, and goes on later."""
    with disk.but(room):
        said = one_line(crowded.grace("run", "plan.yaml", "--yes", GRACE_PATIENCE="0"), 3, "the disk is full at")
        assert str(disk.path) in said
    crowded.grace("run", "plan.yaml", "--yes").exits(0)
    whole(crowded, crowded.status()["run_id"])


def test_a_second_try_on_a_full_disk_stops_too(crowded, disk):
    """The journal cannot even begin what was cut off: it is done without, and meets the full disk itself."""
    with disk.but(ROOMS[2]):
        for _ in range(2):
            one_line(crowded.grace("run", "plan.yaml", "--yes", GRACE_PATIENCE="0"), 3, "the disk is full at")
    crowded.grace("run", "plan.yaml", "--yes").exits(0)
    whole(crowded, crowded.status()["run_id"])


def test_a_disk_that_is_full_for_a_moment_is_waited_for(crowded, disk, do):
    """The worker ends on a full disk; room is made while grace tries again: no attempt is lost, nobody is asked."""
    hold = "echo a > src/a.txt; touch src/hold; while test -e src/hold; do sleep 0.1; done"
    crowded.plan(PLAN | {"A": {"shell": hold, "write_scope": ["src/a.txt", "src/hold"]}}, checks=CHECKS)
    process = crowded.start("run", "plan.yaml", "--yes", "--json", GRACE_PATIENCE="120")
    held = wait_for(lambda: next(crowded.path.glob(".git/grace/runs/*/work/*/layers/**/hold"), None))
    with disk.full():
        held.unlink()
        told = do.seen(process, lambda event: "trying again in" in str(event["data"].get("message")))
        assert "the disk is full at" in told["data"]["message"]
        for command in READING:
            crowded.grace(*(word.format(run=told["run_id"]) for word in command)).exits(0)
        assert "no room at" in crowded.grace("doctor").exits(3).out
    process.stdout.read()
    assert process.wait() == 0, crowded.errors.read_text()
    whole(crowded, told["run_id"])


def wait_for(look, patience=90.0):
    until = time.monotonic() + patience
    while not (found := look()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)
    return found


# --- a medium that is read-only


def test_a_read_only_medium_can_be_read_and_says_why_not_written(crowded, disk):
    crowded.grace("run", "plan.yaml").exits(4)
    run = crowded.status()["run_id"]
    before = crowded.refs()
    disk.mount("-o", "remount,ro")
    for command in READING:
        crowded.grace(*(word.format(run=run) for word in command)).exits(0)
    for command in WRITING:
        said = one_line(crowded.grace(*(word.format(run=run) for word in command)), 3)
        assert str(crowded.path.resolve()) in said or "read-only" in said.lower(), said
    told = crowded.grace("doctor").exits(3).out
    assert "is mounted read-only" in told
    assert f"mount -o remount,rw {disk.path}" in told
    disk.mount("-o", "remount,rw")
    assert crowded.refs() == before
    crowded.grace("run", "plan.yaml").exits(4)
    crowded.grace("approve", run).exits(0)


# --- a state that somebody damaged


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path):
    """Turn bits in the middle of every page but the first."""
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        for at in range(page, page + 4096, 97):
            data[at] ^= 0x55
    path.write_bytes(data)


def misspelt(path):
    """Turn one bit in a stored text: no checksum of SQLite's sees it."""
    data = path.read_bytes()
    at = data.index(b'"shape"')
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def foreign(path):
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE runs (something TEXT)")
    db.close()


def newer(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=999")
    db.close()


def empty(path):
    path.write_bytes(b"")


def gone(path):
    path.unlink()


def garbage(path):
    path.write_bytes(os.urandom(20_000))


def is_folder(path):
    path.unlink()
    path.mkdir()


DAMAGE = {truncated: 3, flipped: 3, misspelt: 3, garbage: 3, foreign: 2, newer: 3, empty: 3, gone: 3, is_folder: 3}


@pytest.fixture(scope="session")
def begun(verbs, tmp_path_factory):
    """A repository whose run waits for a yes."""
    repo = verbs.Repo(tmp_path_factory.mktemp("begun") / "repo")
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.commit("the first", {"README.md": "a repository\n", "src/old.txt": "old\n"})
    repo.plan(PLAN, checks=CHECKS)
    verbs.grace("run", "plan.yaml", cwd=repo.path).exits(4)
    with sqlite3.connect(repo.path / ".git/grace/state.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return repo


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda one: one.__name__)
def test_a_damaged_state_is_one_line_for_every_command_and_the_doctor_knows_what_to_do(repo, begun, damage):
    shutil.rmtree(repo.path)
    shutil.copytree(begun.path, repo.path, symlinks=True)
    run, refs = repo.status()["run_id"], repo.refs()
    path = repo.path / ".git/grace/state.db"
    damage(path)
    told = repo.grace("doctor", "--json").exits(0 if damage in {empty, gone} else 3).json
    checks = {check["name"]: check for check in told["checks"]}
    assert not checks["database"]["ok"]
    assert str(path) in checks["database"]["detail"]
    assert str(path) in checks["database"]["hint"] or damage is newer
    assert not checks["strays"]["ok"]
    assert all(ref in checks["strays"]["hint"] for ref in refs if run in ref)
    others = (("packets",), ("review",), ("events", run), ("refresh", "--full"), ("clean",))
    for command in (*READING[:2], *others, *WRITING[1:]):
        said = repo.grace(*(word.format(run=run) for word in command))
        if damage is misspelt and said.code in {0, 1} and "Traceback" not in said.said:
            assert command[0] not in {"events", "resume"}, "the others do not read that row"
            continue
        one_line(said, DAMAGE[damage])
        assert "state.db" in said.err, (command, said.err)
    assert repo.refs() == refs, "nothing of the run was touched"
    assert list(repo.path.glob(f".grace/runs/{run}/packets/*")), "the packets can be read"


@pytest.mark.parametrize("damage", [truncated, gone])
def test_what_the_doctor_says_works(repo, begun, damage):
    """Its steps, taken word by word: the damaged file goes away, what was made is taken over, a run begins."""
    shutil.rmtree(repo.path)
    shutil.copytree(begun.path, repo.path, symlinks=True)
    run = repo.status()["run_id"]
    damage(repo.path / ".git/grace/state.db")
    checks = {check["name"]: check for check in repo.grace("doctor", "--json").json["checks"]}
    if damage is truncated:
        first = checks["database"]["hint"].splitlines()[0]
        subprocess.run(["sh", "-c", first], cwd=repo.path, check=True)
    steps = [line.partition(": ")[2] for line in checks["strays"]["hint"].splitlines() if line.startswith("  ")]
    assert len(steps) > 1
    for step in steps:
        if step.startswith("git "):
            subprocess.run(["sh", "-c", step], cwd=repo.path, check=True, stdout=subprocess.DEVNULL)
    assert not [ref for ref in repo.refs() if run in ref]
    repo.grace("run", "plan.yaml", "--yes").exits(0)
    assert repo.grace("doctor").out.count("wrong") == 0
    whole(repo, repo.status()["run_id"])


# --- a journal that somebody damaged


POINTS = {
    truncated: ["work work", "step merge"],
    flipped: ["step verdict"],
    garbage: ["work merge", "work land"],
    empty: ["work refresh"],
    gone: ["step work"],
}
"""Where the controller dies, for each damage: right after the work of a step, or after its record."""


@pytest.mark.parametrize("damage", POINTS, ids=lambda one: one.__name__)
def test_a_damaged_journal_repeats_no_work_wrongly(repo, lives, tmp_path, damage):
    """Killed anywhere, and the journal is spoiled before the resume: our own events are enough."""
    repo.plan(PLAN, checks=CHECKS)
    shutil.copytree(repo.path, tmp_path / "fresh", symlinks=True)
    for at in POINTS[damage]:
        shutil.rmtree(repo.path, ignore_errors=True)
        shutil.copytree(tmp_path / "fresh", repo.path, symlinks=True)
        code, said = lives(repo, "run", "plan.yaml", "--yes", at=at)[::2]
        assert code == -signal.SIGKILL, said
        for path in repo.path.glob(".git/grace/runs/*/engine.db"):
            path.with_name("engine.db-wal").unlink(missing_ok=True)
            damage(path)
        result = repo.grace("run", "plan.yaml", "--yes").exits(0)
        whole(repo, repo.status()["run_id"])
        spoiled = list(repo.path.glob(".git/grace/runs/*/engine.db.damaged-1"))
        assert not spoiled or "the run's journal was damaged" in result.out
