"""The real controller without its start-up time: a server that has everything imported forks one life at a time.

A life can be killed -9 at a chosen boundary.

A boundary lies after each effect that outlives us: a transaction of our tables, the work of a step and its record in
the engine's journal, a ref, a checkout of the user's. Before an effect the world is as it was after the one before it.
Each line read is {cwd, args, env, out, err, at, seconds}: `at` is a number (the n-th boundary), or a word (the first
effect that it names), or null; each line written is {code, seen}. A life that takes longer than `seconds` is ended.
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dbos

import controller.carry
import controller.cli.app
import controller.cli.run
import controller.graph
import controller.run
from controller.main import run as main
from controller.store.database import Database
from controller.store.records import Records
from sandbox import bubblewrap, choose, image
from sandbox.git import Git
from sandbox.memory import MemorySandbox


class Boundaries:
    """Counts boundaries, and dies at the chosen one."""

    def __init__(self, at, report):
        self.at, self.report, self.seen, self.lock = at, report, 0, threading.Lock()

    def __call__(self, name):
        with self.lock:
            self.seen += 1
            os.pwrite(self.report, b"%9d" % self.seen, 0)
            if self.seen == self.at or (isinstance(self.at, str) and self.at in name):
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner, method, said):
        before = getattr(owner, method)

        def wrapped(*args, **more):
            result = before(*args, **more)
            self(said(args))
            return result

        setattr(owner, method, wrapped)

    def everywhere(self):
        transaction, step = Database.transaction, dbos.DBOS.run_step

        @contextmanager
        def counted(database):
            with transaction(database) as db:
                yield db
            self("transaction")

        def run_step(options, work, *args, **more):
            def worked():
                result = work()
                self(f"work {options['name']}")
                return result

            result = step(options, worked, *args, **more)
            self(f"step {options['name']}")
            return result

        Database.transaction, dbos.DBOS.run_step = counted, run_step
        self.around(Records, "put_packet", lambda args: f"attempts {args[1].module_id} {args[1].attempt}")
        self.around(Git, "update_ref", lambda args: f"ref {args[1]} from {args[3]}" if args[3] else f"ref {args[1]}")
        self.around(Git, "delete_ref", lambda args: f"gone {args[1]}")
        self.around(Git, "update_worktree", lambda args: f"checkout {args[1]}")


def act(mounts, job):
    """Be a worker on the in-memory engine: leave a file that tells what the module was built on.

    What the module is called decides how it behaves: `Strays` leaves its scope in the first attempt, `Reddens` breaks
    the wave's check in it, `Breaks` has a fault of grace once, `Listens` is spoken to once while it works.
    """
    packet = json.loads((mounts["/grace"] / "packet.json").read_text())["execution_packet"]
    module, attempt, worked = packet["module_id"], packet["attempt"], Path(os.environ["GRACE_TEST_WORKED"])
    with worked.open("a") as file:
        file.write(f"{module} {attempt} {packet['packet_id']}\n")
    folder = mounts["/repo"] / "src"
    built_on = " ".join(sorted(path.name for path in folder.iterdir()))
    text = "red" if module == "Reddens" and attempt == 1 else f"{module} on {built_on}"
    (folder / f"{module.lower()}.txt").write_text(f"{text}\n")
    if module == "Strays" and attempt == 1:
        (folder / "stray.txt").write_text("stray\n")
    mark = worked.with_name(f"{module} was here")
    if module in {"Breaks", "Listens"} and not mark.exists():
        mark.touch()
        if module == "Breaks":
            raise RuntimeError("a fault of grace, for once")
        main(["say", packet["run_id"], module, "listen"])
        until = time.monotonic() + 60
        while not any((mounts["/grace"] / "in").glob("message-*")) and time.monotonic() < until:
            time.sleep(0.02)
    return 0


def green(mounts, job):
    """Be a check that is green where nothing is red."""
    return int(any(path.read_text() == "red\n" for path in (mounts["/repo"] / "src").iterdir()))


def live(*, cwd, args, env, out, err, at, seconds, report):
    os.chdir(cwd)
    os.environ.update(env)
    tempfile.tempdir = None
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    signal.alarm(seconds)
    if at is not None:
        Boundaries(at, report).everywhere()
    try:
        code = main(args)
    except SystemExit as ended:
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def serve():
    loaded = (
        controller.carry,
        controller.cli.app,
        controller.cli.run,
        controller.graph,
        controller.run,
        bubblewrap,
        image,
    )
    assert all(loaded)
    engine = MemorySandbox, {"act": act, "all is green": green}
    choose._CHOICES["memory"] = lambda: choose.Choice(engine[0](engine[1]), "memory: scripted")
    for line in sys.stdin:
        report = os.memfd_create("seen")
        if (child := os.fork()) == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            live(**json.loads(line), report=report)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        seen = int(os.pread(report, 9, 0) or b"0")
        os.close(report)
        sys.stdout.write(json.dumps({"code": code, "seen": seen}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
