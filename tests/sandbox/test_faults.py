"""What is transient and what is final; each fault made for real where this machine can make it."""

import errno
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from packets.errors import Damaged, DiskFull, EngineLost, GraceError, MachineLacks, Transient
from sandbox.faults import git_failed, machine, transient
from sandbox.git import Git
from sandbox.git.process import scrubbed


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EMFILE, Transient), (errno.ENFILE, Transient),
        (errno.ENOMEM, Transient), (errno.EAGAIN, Transient), (errno.EIO, Transient), (errno.EROFS, MachineLacks),
        (errno.EACCES, MachineLacks), (errno.ENOENT, None), (errno.EINVAL, None),
    ],
)  # fmt: skip
def test_the_systems_words(number, kind):
    fault = OSError(number, os.strerror(number), "/tmp/x")
    known = machine(fault)
    assert (type(known) if known else None) is kind
    assert known is None or (os.strerror(number) in known.message and known.hint)
    assert (transient(fault) is not None) is (kind is not None and issubclass(kind, Transient))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, DiskFull), (sqlite3.SQLITE_BUSY, Transient), (sqlite3.SQLITE_BUSY_SNAPSHOT, Transient),
        (sqlite3.SQLITE_IOERR_WRITE, Transient), (sqlite3.SQLITE_CORRUPT, Damaged), (sqlite3.SQLITE_NOTADB, Damaged),
        (sqlite3.SQLITE_IOERR_SHORT_READ, Damaged), (sqlite3.SQLITE_READONLY, MachineLacks),
        (sqlite3.SQLITE_ERROR, None), (sqlite3.SQLITE_CONSTRAINT_UNIQUE, None),
    ],
)  # fmt: skip
def test_sqlites_words_also_wrapped_by_the_engine(code, kind, tmp_path):
    fault = sqlite3.OperationalError("x")
    fault.sqlite_errorcode = code
    wrapped = RuntimeError("wrapped")
    wrapped.orig = fault
    for one in (fault, wrapped):
        known = machine(one, tmp_path / "state.db")
        assert (type(known) if known else None) is kind
        assert known is None or (str(tmp_path) in known.message and known.hint)


def test_our_own_errors_stay_what_they_are():
    lost, lacks = EngineLost("gone"), MachineLacks("no docker")
    assert transient(lost) is lost
    assert machine(lacks) is lacks
    assert transient(lacks) is None
    assert transient(GraceError("x")) is None
    assert transient(ValueError("x")) is None
    assert isinstance(transient(MemoryError()), Transient)


@pytest.fixture
def git(tmp_path):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    for args in (["init", "-q", "-b", "main", "."], [*identity, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *args], cwd=tmp_path, env=env, check=True)
    with Git.discover(tmp_path) as found:
        yield found


def test_a_ref_that_another_git_holds_is_waited_for_and_named(git, monkeypatch):
    head = git.resolve("HEAD")
    monkeypatch.setitem(scrubbed(), "GIT_CONFIG_COUNT", "0")  # without our ten seconds of git's own patience
    lock = git.common / "refs/heads/taken.lock"
    lock.touch()
    with pytest.raises(Transient, match=r"taken\.lock") as caught:
        git.update_ref("refs/heads/taken", head, "")
    assert "remove the lock" in caught.value.hint
    lock.unlink()
    git.update_ref("refs/heads/taken", head, "")


def test_a_ref_that_stands_elsewhere_is_no_weakness_of_the_machine(git):
    with pytest.raises(GraceError) as caught:
        git.update_ref("refs/heads/main", git.resolve("HEAD"), "1" * 40)
    assert not isinstance(caught.value, Transient)


def test_a_git_that_was_killed_has_answered_nothing(git, tmp_path, monkeypatch):
    """A ref that could not be read is not a ref that is not there."""
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "git").write_text("#!/bin/sh\nkill -9 $$\n")
    (fake / "git").chmod(0o755)
    monkeypatch.setitem(scrubbed(), "PATH", str(fake))
    monkeypatch.setenv("PATH", str(fake))
    for ask in (lambda: git.find("HEAD"), lambda: git.refs("refs/heads/main"), lambda: git.blob("1" * 40)):
        with pytest.raises(Transient, match=r"killed by SIGKILL|ended while"):
            ask()


def test_a_machine_without_processes_is_waited_for():
    """As another user, with the kernel's own limit: fork itself is refused."""
    script = (
        "import os, resource; from pathlib import Path\n"
        "from sandbox.git.process import start, scrubbed; from packets.errors import Transient\n"
        "os.geteuid() or (os.setgid(65534), os.setuid(65534))\n"
        "resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))\n"
        "try: start(('version',), Path('/'), scrubbed())\n"
        "except Transient as fault: print('waits:', fault.message)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert told.stdout.startswith("waits: this machine is short of something"), told.stderr


def test_a_machine_without_descriptors_is_waited_for(git):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = [os.open("/", os.O_RDONLY)]
    git.close()
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened[0] + 1, before[1]))
        with pytest.raises(Transient, match="Too many open files"):
            git.blob("1" * 40)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        os.close(opened[0])


@pytest.mark.parametrize(
    ("code", "err", "kind"),
    [
        (128, b"error: unable to write file x: No space left on device", DiskFull),
        (128, b"fatal: write error: Disk quota exceeded", DiskFull),
        (128, b"error: cannot fork() for x: Resource temporarily unavailable", Transient),
        (-signal.SIGSEGV, b"", Transient),
        (128, b"error: unable to create file x: Read-only file system", MachineLacks),
        (128, b"error: insufficient permission for adding an object", MachineLacks),
        (128, b"fatal: not a tree object", GraceError),
    ],
)
def test_gits_words(code, err, kind, tmp_path):
    assert type(git_failed("git x failed", code, err, err.decode(), tmp_path)) is kind
