"""Processes for certain: a number alone is not one, and a zombie does nothing any more."""

import subprocess
import time

from sandbox.descendants import Process, below, dead


def test_one_that_lives_is_waited_for_and_one_that_is_dead_is_not() -> None:
    child = subprocess.Popen(["sleep", "100"])
    process = Process.of(child.pid)
    assert process
    assert process.lives
    assert not dead([process], 0.05)
    child.kill()
    assert dead([process], 60), "dead although nobody has buried it"
    assert Process.of(child.pid) is None
    child.wait()
    assert not process.lives


def test_a_number_that_was_given_again_is_another() -> None:
    child = subprocess.Popen(["sleep", "100"])
    process = Process.of(child.pid)
    assert process
    assert not process._replace(born=process.born - 1).lives
    child.kill()
    child.wait()


def test_process_1_of_a_namespace_outlives_all_others() -> None:
    """What the fence of bubblewrap rests on: once it is dead, so is the deaf one that it leaves behind."""
    script = "(trap '' TERM INT HUP; setsid sleep 99 &) ; echo ready; exec sleep 100"
    child = subprocess.Popen(
        ["unshare", "--user", "--pid", "--fork", "sh", "-c", script], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    assert child.stdout.readline() == "ready\n"
    until = time.monotonic() + 60
    found: list[Process] = []
    while len(found) < 3 and time.monotonic() < until:
        found = [one for pid in below(child.pid) if (one := Process.of(pid))]
    first = found[1]
    subprocess.run(["kill", "-9", str(first.pid)], check=True)
    assert dead([first], 60)
    assert not any(one.lives for one in found[2:])
    child.wait()
    child.stdout.close()
